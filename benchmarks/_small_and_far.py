"""Numbers and labels on small data with private bounds, and on small clusters far away."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks._drawn import SHAPES, noise
from dpmorse import DPMorse, PrivateGaussianMixture
from dpmorse.typing import FloatArray

Row = dict[str, Any]


def private_bounds(shape: str, seed: int) -> Row:
    """Fit 2,000 records in 5 columns without bounds; compare components with the records that they label."""
    rng = np.random.default_rng([seed, SHAPES.index(shape), 7])
    centres = rng.uniform(-3, 3, size=(3, 5))
    X = centres[rng.integers(3, size=2000)] + 0.5 * noise(shape, (2000, 5), rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = PrivateGaussianMixture(
            7, epsilon=1.0, delta=1e-5, bounds="private", min_components=3, random_state=seed
        ).fit(X)
        labels, quantiles = base.predict(X), base.table().quantiles
    X = np.clip(X, base.profile_.lower, base.profile_.upper)  # type: ignore[union-attr]  # it has one
    ratios, covered = [], []
    for k in range(base.mixture_.n_components):
        mine = X[labels == k]
        if len(mine) >= _FEWEST:
            true = mine.std(axis=0)
            own = np.sqrt(np.diag(base.mixture_.covariances[k]))
            ratios.append(float(np.median(own / np.maximum(true, 1e-12))))
            for p, found in quantiles.items():
                truth = np.quantile(mine, p, axis=0)
                known = ~np.isnan(found.low[k])
                covered += ((found.low[k] <= truth) & (truth <= found.high[k]))[known].tolist()
    return {"shape": shape, "seed": seed, "smallest_ratio": min(ratios), "covered": float(np.mean(covered))}


_FEWEST = 30
"""Fewest records of a component whose spread is compared: that of fewer is chance."""


def far_cluster(n_columns: int, seed: int) -> Row:
    """Fit 20,000 records, 2 % of them at distance 10; say whether these are a cluster of their own."""
    rng = np.random.default_rng([seed, n_columns, 11])
    directions = rng.standard_normal((4, n_columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.append(rng.uniform(0, 1.5, size=3), 10.0)
    y = np.where(rng.random(20_000) < 0.02, 3, rng.integers(3, size=20_000))
    X = (lengths[:, None] * directions)[y] + 0.5 * rng.standard_normal((20_000, n_columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPMorse(4, epsilon=1.0, delta=1e-5, bounds=(-15, 15), random_state=seed).fit(X)
        labels = model.predict(X)
    mine = np.bincount(labels[y == 3]).argmax()
    inside, pure = np.mean(labels[y == 3] == mine), np.mean(y[labels == mine] == 3)
    error = np.nanmax(np.abs(model.table().median.value[mine] - np.median(X[y == 3], axis=0))) / 0.5
    return {
        "columns": n_columns,
        "seed": seed,
        "isolated": bool(inside >= 0.9 and pure >= 0.9),
        "median_error": float(error),
    }


def tasks(n_seeds: int) -> list[tuple[Callable[..., Row], Any, int]]:
    """Return all fits of both."""
    seeds = range(n_seeds)
    small = [(private_bounds, shape, seed) for shape in SHAPES for seed in seeds]
    return small + [(far_cluster, d, seed) for d in (1, 2, 3, 5, 8) for seed in seeds]


def tables(rows: Sequence[Row]) -> str:
    """Return a table of each."""
    lines = [
        "| private bounds, 2,000 records x 5 | fits with a spread below half of its truth | covered |",
        "| --- | --- | --- |",
    ]
    for shape in SHAPES:
        some = [row for row in rows if row.get("shape") == shape]
        low = sum(row["smallest_ratio"] < 0.5 for row in some)
        lines.append(f"| {shape} | {low} of {len(some)} | {np.mean([row['covered'] for row in some]):.3f} |")
    lines += ["", "| 2 % at distance 10, columns | isolated | median off by, sds |", "| --- | --- | --- |"]
    for columns in sorted({row["columns"] for row in rows if "columns" in row}):
        some = [row for row in rows if row.get("columns") == columns]
        error: FloatArray = np.array([row["median_error"] for row in some])
        lines.append(
            f"| {columns} | {sum(row['isolated'] for row in some)} of {len(some)} | {np.median(error):.2f} |"
        )
    return "\n".join(lines)
