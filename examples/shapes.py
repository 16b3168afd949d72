"""Two moons and two rings, which k-means cannot find, from a private mixture: the picture of the docs."""

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from dpmorse import DPMorse
from dpmorse.datasets import make_moons, make_rings
from dpmorse.plots import DendrogramDisplay, LandscapeDisplay


def main() -> None:
    """Fit both shapes and draw records, landscape and dendrogram."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("shapes.png"))
    options = parser.parse_args()
    shapes = (
        make_moons(20_000, random_state=0)[0],
        make_rings(20_000, n_clusters=2, random_state=0)[0],
    )
    figure, rows = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    for X, (records, landscape, tree) in zip(shapes, rows, strict=True):
        model = DPMorse(n_clusters=2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
        records.scatter(*X[:4000].T, s=2, c=model.predict(X[:4000]), cmap="tab10", vmin=-0.5, vmax=9.5)
        records.set_title("records, labelled by the model")
        LandscapeDisplay.from_estimator(model).plot(ax=landscape)
        landscape.set_title("released density, modes, saddles")
        DendrogramDisplay.from_estimator(model).plot(ax=tree)
        tree.set(title="merge tree, cut at two", xlabel="component")
    figure.savefig(options.out, dpi=72)


if __name__ == "__main__":
    main()
