"""Tables without groups: a kind and an instance stand for size, columns and records."""

from typing import Any

import numpy as np

from benchmarks.generated.draws import Rng
from dpmorse import Nominal, Numeric
from dpmorse.datasets import widened_bounds
from dpmorse.typing import FloatArray

KINDS = ("gaussian", "uniform", "t", "gamma", "correlated", "wide", "mixed")
"""Distributions of columns; ``wide`` has 20 to 50 Gaussian ones, ``mixed`` categories beside skewed ones."""

_ROWS, _COLUMNS, _WIDE = (300, 30_000), (1, 12), (20, 50)


def make_structureless(kind: str, instance: int) -> tuple[Any, dict[str, Any]]:
    """Return records, and what the estimator is told of their columns."""
    rng = np.random.default_rng([instance, 38, *kind.encode()])
    n = int(_ROWS[0] * (_ROWS[1] / _ROWS[0]) ** rng.random())
    low, high = _WIDE if kind == "wide" else _COLUMNS
    X = _drawn(kind, n, int(rng.integers(low, high + 1)), rng)
    if kind != "mixed":
        return X, {"bounds": widened_bounds(X)}
    columns: dict[str, Any] = {f"number {j}": column for j, column in enumerate(X.T)}
    described: dict[str, Any] = {
        name: Numeric(*np.round([2 * x.min() - x.max(), 2 * x.max() - x.min()], 3).tolist(), missing="ignore")
        for name, x in columns.items()
    }
    for j in range(int(rng.integers(1, 8))):
        n_levels = int(rng.integers(2, 8))
        columns[f"code {j}"] = rng.choice(n_levels, n, p=rng.dirichlet(np.full(n_levels, 2.0)))
        described[f"code {j}"] = Nominal(list(range(n_levels)))
    return columns, {"columns": described}


def _drawn(kind: str, n: int, d: int, rng: Rng) -> FloatArray:
    """Draw one group of records."""
    if kind == "uniform":
        return rng.uniform(-1.0, 1.0, (n, d))
    if kind == "t":
        return np.asarray(rng.standard_t(4, (n, d)))
    if kind in {"gamma", "mixed"}:
        return rng.gamma(rng.uniform(1.0, 4.0), size=(n, d))
    turned = rng.standard_normal((d, d)) if kind == "correlated" else np.diag(rng.uniform(0.5, 2.0, d))
    return np.asarray(rng.standard_normal((n, d)) @ turned)
