"""Quality of the default in many columns, beside methods that see the exact records.

``python -m benchmarks.columns --data DIR`` takes generated sets of 33 to 96 columns, images of the USPS
digits in 64 and 256 columns (``DIR`` holds ``usps256.parquet``) and scikit-learn's digits. Every method is
told K and nothing else. Prints a table, in Markdown.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from benchmarks._clusterings import DEFAULT, cluster
from benchmarks.generated import make_family
from dpmorse.datasets import NOISE, LabelledData
from dpmorse.typing import FloatArray

FAMILIES = (
    "blobs",
    "elongated",
    "unbalanced",
    "dominant",
    "concentric",
    "moons",
    "worms_high",
    "subclasses",
    "skewed",
    "multiscale",
    "background",
    "discrete",
    "manifold",
    "slab",
    "trajectory",
)
"""Families that can be drawn in any number of columns."""

METHODS = (DEFAULT, "KMeans", "GaussianMixture")
INSTANCES = (610, 611, 612)
"""Instances on which no constant was set."""


def images(folder: Path) -> Iterator[LabelledData]:
    """Yield digits of post offices, whole and averaged over four pixels, and scikit-learn's."""
    from pyarrow import parquet

    table = parquet.read_table(folder / "usps256.parquet")
    y, pixels_of = table["label"].to_numpy(), table.drop_columns(["label"])
    X = np.column_stack([column.to_numpy() for column in pixels_of.columns])
    small = X.reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4)).reshape(len(X), -1)
    for name, pixels in (("USPS, 64 columns", small), ("USPS, 256 columns", X)):
        yield LabelledData(name, pixels, y, _same_bounds(pixels, -1.0, 1.0))
    digits = load_digits()
    yield LabelledData("digits, 64 columns", digits.data, digits.target, _same_bounds(digits.data, 0.0, 16.0))


def _same_bounds(X: FloatArray, lower: float, upper: float) -> tuple[FloatArray, FloatArray]:
    return np.full(X.shape[1], lower), np.full(X.shape[1], upper)


def row_of(data: LabelledData, n_seeds: int) -> dict[str, Any]:
    """Return the mean score of each method over seeds, and the seconds of the default."""
    start, known = time.perf_counter(), data.y != NOISE
    row: dict[str, Any] = {"name": data.name, "shape": data.X.shape}
    for method in METHODS:
        found = [cluster(method, data, None, 1.0, seed) for seed in range(n_seeds)]
        if method == DEFAULT:
            row["seconds"] = (time.perf_counter() - start) / n_seeds
        row[method] = np.mean([adjusted_rand_score(data.y[known], each.labels[known]) for each in found])
    return row


def main() -> None:
    """Print one row for each image set and family, and the mean of all sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with usps256.parquet")
    parser.add_argument("--columns", type=int, nargs=2, default=(33, 96), help="fewest and most")
    parser.add_argument("--instances", type=int, nargs="+", default=INSTANCES)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # at this budget many clusters may be noise
    print("| | " + " | ".join((*METHODS, "seconds")) + " |\n" + "|---" * (len(METHODS) + 2) + "|")
    rows = [row_of(data, options.seeds) for data in (images(options.data) if options.data else ())]
    for row in rows:
        _show(row["name"], [row])
    for family in FAMILIES:
        drawn = (make_family(family, i, tuple(options.columns)) for i in options.instances)
        mine = [row_of(data, options.seeds) for data in drawn]
        _show(family, mine)
        rows += mine
    _show(f"all {len(rows)}", rows)


def _show(name: str, rows: list[dict[str, Any]]) -> None:
    means = [f"{np.mean([row[method] for row in rows]):.3f}" for method in METHODS]
    seconds = np.mean([row["seconds"] for row in rows])
    print(f"| {name} | {' | '.join(means)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
