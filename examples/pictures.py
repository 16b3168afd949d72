"""The pictures of README.md and docs/morse.md, made anew: ``python examples/pictures.py --out docs/images``.

Seeds are fixed, so that two runs of the same code give the same pictures.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

from dpmorse import DPMorse
from dpmorse.datasets import make_moons, make_patients, make_rings
from dpmorse.plots import COLOURS, DendrogramDisplay, LandscapeDisplay
from dpmorse.typing import FloatArray

_BOUNDS = ([0, 60], [110, 220])  # what anybody knows about ages and blood pressures
_COLUMNS = ["age (years)", "blood pressure (mmHg)"]


def demo(path: Path) -> None:
    """Draw invented patients beside what the default estimator releases about them."""
    X, _ = make_patients(20_000, random_state=1)
    model = DPMorse(n_clusters=4, epsilon=1.0, bounds=_BOUNDS, random_state=0).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    _scatter(axes[0], X[:3000], ["0.35"], "the records (not published)")
    points, clusters = model.sample(3000)
    _scatter(axes[1], points, [COLOURS[cluster] for cluster in clusters], "published: density and clusters")
    LandscapeDisplay.from_estimator(model).plot(ax=axes[1])
    axes[1].set(xlabel=_COLUMNS[0], ylabel=_COLUMNS[1], title="published: density and clusters")
    DendrogramDisplay.from_estimator(model).plot(ax=axes[2])
    axes[2].set_title("published: how its components merge")
    _save(figure, path, dpi=90)


def _scatter(axes: Any, points: FloatArray, colours: Any, title: str) -> None:
    axes.scatter(*points.T, s=2, alpha=0.4, c=colours)
    axes.set(xlim=(0, 110), ylim=(80, 215), xlabel=_COLUMNS[0], ylabel=_COLUMNS[1], title=title)


def shapes(path: Path) -> None:
    """Draw two moons and two rings, which k-means cannot find, and their merge trees."""
    figure, rows = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    data = (make_moons(20_000, random_state=0)[0], make_rings(20_000, n_clusters=2, random_state=0)[0])
    for X, (records, landscape, tree) in zip(data, rows, strict=True):
        model = DPMorse(n_clusters=2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
        records.scatter(*X[:4000].T, s=2, c=[COLOURS[label] for label in model.predict(X[:4000])])
        records.set_title("records, labelled by the model")
        LandscapeDisplay.from_estimator(model).plot(ax=landscape)
        landscape.set_title("released density, modes, saddles")
        DendrogramDisplay.from_estimator(model).plot(ax=tree)
        tree.set_title("merge tree, cut at two")
    _save(figure, path, dpi=72)


def _save(figure: Any, path: Path, dpi: int) -> None:
    figure.savefig(path, dpi=dpi)
    _shrink(path)


def _shrink(path: Path) -> None:
    """Keep 128 colours: a third of the bytes, and no difference to the eye."""
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main() -> None:
    """Write both pictures to one folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    demo(out / "demo.png")
    shapes(out / "shapes.png")


if __name__ == "__main__":
    main()
