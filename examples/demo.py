"""From records to released clusters, on synthetic people: what ``make demo`` runs.

Twenty thousand invented patients, described by age and systolic blood pressure, are summarised by a
differentially private mixture of Gaussians, whose components are merged into clusters. Everything
written to disk, apart from the left part of the picture, is computed from the released model alone.
"""

import argparse
import csv
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

from dpmorse import DPMorse, load
from dpmorse.datasets import make_patients
from dpmorse.plots import DendrogramDisplay, LandscapeDisplay
from dpmorse.report import write_report

Array = npt.NDArray[np.float64]

COLUMNS = ["age (years)", "blood pressure (mmHg)"]
BOUNDS = ([0.0, 60.0], [110.0, 220.0])  # what anybody knows about ages and blood pressures


def draw(model: DPMorse, records: Array, path: Path) -> None:
    """Draw the records (invented, so they may be shown) beside what was released about them."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    left.scatter(*records[:4000].T, s=2, alpha=0.25, color="0.35")
    left.set_title("the records (never leave the house)")
    synthetic, cluster = model.sample(4000)
    middle.scatter(*synthetic.T, s=2, alpha=0.3, c=cluster, cmap="tab10", vmin=-0.5, vmax=9.5)
    LandscapeDisplay.from_estimator(model).plot(ax=middle)
    middle.set_title(f"released: ε = {model.privacy_.epsilon:.3g}, δ = {model.privacy_.delta:g}")
    for axes in (left, middle):
        axes.set(xlim=(0, 110), ylim=(80, 215), xlabel=COLUMNS[0])
    left.set_ylabel(COLUMNS[1])
    DendrogramDisplay.from_estimator(model).plot(ax=right)
    right.set(title="how its components merge", xlabel="component")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def summary(model: DPMorse) -> str:
    """Describe the released clusters in the units of the data: mean and deviation of their components."""
    lines = [f"{'cluster':>8}{'share':>8}{'age':>16}{'pressure':>18}"]
    mixture = model.mixture_
    for cluster in range(model.n_clusters_):
        mine = model.component_labels_ == cluster
        share = mixture.weights[mine].sum()
        weights = mixture.weights[mine] / share
        mean = weights @ mixture.means[mine]
        second = np.einsum("k,kii->ki", weights, mixture.covariances[mine]).sum(axis=0)
        spread = np.sqrt(second + weights @ (mixture.means[mine] - mean) ** 2)
        age, pressure = (f"{m:.0f} ± {s:.0f}" for m, s in zip(mean, spread, strict=True))
        lines.append(f"{cluster:>8}{share:>8.1%}{age:>16}{pressure:>18}")
    return "\n".join(lines)


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="folder to write to")
    parser.add_argument("--epsilon", type=float, default=1.0, help="privacy budget (default: 1)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    records, _ = make_patients(20_000, random_state=1)
    model = DPMorse(n_clusters=4, epsilon=options.epsilon, bounds=BOUNDS).fit(records)
    model.save(options.out / "model.json")
    model = load(options.out / "model.json")  # from here on the released model alone is used
    assert isinstance(model, DPMorse)
    synthetic, cluster = model.sample(5000)

    rows: list[list[object]] = [
        [*point, int(k)] for point, k in zip(synthetic.round(1), cluster, strict=True)
    ]
    write_csv(options.out / "synthetic.csv", [*COLUMNS, "cluster"], rows)
    ledger = model.privacy_.to_dicts()
    write_csv(options.out / "ledger.csv", list(ledger[0]), [list(row.values()) for row in ledger])
    (options.out / "statement.txt").write_text(model.privacy_.statement + "\n", encoding="utf-8")
    draw(model, records, options.out / "clusters.png")
    write_report(model, options.out / "report.html", force=True, columns=COLUMNS)

    print("Released clusters, heaviest first (share, mean ± standard deviation):\n")
    print(summary(model))
    print(f"\n{model.privacy_.statement}\n\nFiles to open:")
    for name in ("report.html", "clusters.png", "model.json", "synthetic.csv", "ledger.csv", "statement.txt"):
        print(f"  {options.out / name}")


if __name__ == "__main__":
    main()
