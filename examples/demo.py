"""From records to a released mixture, on synthetic people: what ``make demo`` runs.

Twenty thousand invented patients, described by age and systolic blood pressure, are summarised by a
differentially private mixture of Gaussians. Everything written to disk, apart from the left half of the
picture, is computed from the released model alone.
"""

import argparse
import csv
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from dpmorse import DPMoGHard, GaussianMixture, load

Array = npt.NDArray[np.float64]

COLUMNS = ["age (years)", "blood pressure (mmHg)"]
BOUNDS = ([0.0, 60.0], [110.0, 220.0])  # what anybody knows about ages and blood pressures


def invented_patients(n: int, rng: np.random.Generator) -> Array:
    """Four groups of invented people: young, middle-aged, older, and older with hypertension."""
    centres = np.array([[24.0, 115.0], [46.0, 124.0], [72.0, 132.0], [66.0, 172.0]])
    spreads = np.array([[5.0, 8.0], [7.0, 9.0], [8.0, 8.0], [9.0, 11.0]])
    group = rng.choice(4, size=n, p=[0.3, 0.35, 0.2, 0.15])
    return centres[group] + spreads[group] * rng.standard_normal((n, 2))


def draw_mixture(axes: Axes, mixture: GaussianMixture) -> None:
    """Draw each component as its 1- and 2-sigma ellipse, darker for heavier ones."""
    for weight, mean, covariance in zip(mixture.weights, mixture.means, mixture.covariances, strict=True):
        values, vectors = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        for sigmas in (1, 2):
            width, height = 2 * sigmas * np.sqrt(values[::-1])
            alpha = float(np.clip(0.15 + 2 * weight, 0, 0.9)) if weight > 0 else 0.0
            axes.add_patch(
                Ellipse(tuple(mean), width, height, angle=angle, fill=False, color="C3", alpha=alpha)
            )
        if weight > 0:
            axes.plot(*mean, "+", color="C3")


def draw(model: DPMoGHard, records: Array, synthetic: Array, path: Path) -> None:
    """Draw the records (invented, so they may be shown) beside what was released about them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True, sharey=True)
    left.scatter(*records[:4000].T, s=2, alpha=0.25, color="0.35")
    left.set_title("the records (never leave the house)")
    right.scatter(*synthetic[:4000].T, s=2, alpha=0.25, color="C0")
    draw_mixture(right, model.mixture_)
    right.set_title(f"released: a mixture, ε = {model.privacy_.epsilon:.3g}, δ = {model.privacy_.delta:g}")
    for axes in (left, right):
        axes.set(xlim=(0, 110), ylim=(80, 215), xlabel=COLUMNS[0])
    left.set_ylabel(COLUMNS[1])
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def summary(model: DPMoGHard) -> str:
    """Describe the released components in the units of the data."""
    lines = [f"{'share':>8}{'age':>16}{'pressure':>18}"]
    order = np.argsort(-model.mixture_.weights)
    for k in order[model.mixture_.weights[order] > 0]:
        mean, spread = model.mixture_.means[k], np.sqrt(np.diag(model.mixture_.covariances[k]))
        age, pressure = (f"{m:.0f} ± {s:.0f}" for m, s in zip(mean, spread, strict=True))
        lines.append(f"{model.mixture_.weights[k]:>8.1%}{age:>16}{pressure:>18}")
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

    records = invented_patients(20_000, np.random.default_rng(1))
    model = DPMoGHard(8, epsilon=options.epsilon, bounds=BOUNDS).fit(records)
    model.save(options.out / "model.json")
    model = load(options.out / "model.json")  # from here on the released model alone is used
    synthetic, component = model.sample(5000)

    rows: list[list[object]] = [
        [*point, int(k)] for point, k in zip(synthetic.round(1), component, strict=True)
    ]
    write_csv(options.out / "synthetic.csv", [*COLUMNS, "component"], rows)
    ledger = model.privacy_.to_dicts()
    write_csv(options.out / "ledger.csv", list(ledger[0]), [list(row.values()) for row in ledger])
    (options.out / "statement.txt").write_text(model.privacy_.statement + "\n", encoding="utf-8")
    draw(model, records, synthetic, options.out / "mixture.png")

    print("Released components, heaviest first (share, mean ± standard deviation):\n")
    print(summary(model))
    print(f"\n{model.privacy_.statement}\n\nFiles to open:")
    for name in ("mixture.png", "model.json", "synthetic.csv", "ledger.csv", "statement.txt"):
        print(f"  {options.out / name}")


if __name__ == "__main__":
    main()
