"""What is said of bounds, lists and missing values: noticed where it is true, not said where it is not."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from benchmarks._drawn import SHAPES, noise
from dpmorse import DPMorse, Nominal, Numeric

Row = dict[str, Any]

_EPSILONS = (0.1, 1.0)
_SIDES = ("below", "above", "on both sides")
_SAYS = {"bounds", "missing", "other"}


def missed_records(epsilon: float, seed: int) -> Row:
    """Fit with bounds of one column that miss all of its records; say whether a warning names the column."""
    rng = np.random.default_rng([seed, 13])
    n, d = int(rng.choice([2_000, 20_000])), int(rng.choice([1, 2, 5, 20]))
    X = rng.uniform(-3, 3, size=(4, d))[rng.integers(4, size=n)]
    X += noise(str(rng.choice(SHAPES)), (n, d), rng)
    side, j = _SIDES[seed % len(_SIDES)], int(rng.integers(d))
    lower, upper = np.full(d, -30.0), np.full(d, 30.0)
    if side == "below":
        lower[j] = X[:, j].max() + 1
        upper[j] = lower[j] + 60
    elif side == "above":
        upper[j] = X[:, j].min() - 1
        lower[j] = upper[j] - 60
    else:  # between two groups, of which each lies on one side
        X[:, j] += np.where(rng.random(n) < 0.5, 60.0, -60.0)
        lower[j], upper[j] = -1.0, 1.0
    said = _said(DPMorse(4, epsilon=epsilon, delta=1e-6, bounds=(lower, upper), random_state=seed), X)
    return {"missed": side, "epsilon": epsilon, "seed": seed, "noticed": ("bounds", j) in said}


def true_statements(epsilon: float, seed: int) -> Row:
    """Fit with bounds and lists that hold all values; return what a warning says against it."""
    rng = np.random.default_rng([seed, 17])
    n, d, n_categories = int(rng.choice([500, 5_000])), int(rng.choice([2, 6, 20])), int(rng.choice([0, 4]))
    groups = rng.integers(3, size=n)
    X = rng.uniform(-3, 3, size=(3, d))[groups] + noise(str(rng.choice(SHAPES)), (n, d), rng)
    table: dict[str, Any] = {f"x{j}": np.clip(X[:, j], -30, 30) for j in range(d)}
    columns: dict[str, Any] = {name: Numeric(-30, 30, missing="ignore") for name in table}
    for j in range(n_categories):
        n_levels = int(rng.integers(2, 12))
        table[f"c{j}"] = [f"level {level}" for level in rng.integers(n_levels, size=n)]
        columns[f"c{j}"] = Nominal([f"level {level}" for level in range(n_levels)])
    model = DPMorse(3, epsilon=epsilon, delta=1e-6, columns=columns, random_state=seed)
    said = _said(model, pd.DataFrame(table))
    return {"false": [kind for kind, _ in said], "epsilon": epsilon, "seed": seed}


def _said(model: DPMorse, X: Any) -> set[tuple[str, int | None]]:
    """Fit; return what is said of columns: its kind, and the column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cautions = model.fit(X).cautions()
    return {(caution.kind, caution.column) for caution in cautions if caution.kind in _SAYS}


def tasks(n_fits: int) -> list[tuple[Callable[..., Row], Any, int]]:
    """Return all fits of both."""
    both = (missed_records, true_statements)
    return [(function, epsilon, seed) for function in both for epsilon in _EPSILONS for seed in range(n_fits)]


def tables(rows: Sequence[Row]) -> str:
    """Return one table of both."""
    lines = ["| epsilon | bounds that miss all records: noticed | false statements |", "| --- | --- | --- |"]
    for epsilon in _EPSILONS:
        own = [row for row in rows if row["epsilon"] == epsilon]
        missed, others = [row for row in own if "missed" in row], [row for row in own if "false" in row]
        noticed, wrong = sum(row["noticed"] for row in missed), sum(bool(row["false"]) for row in others)
        lines.append(f"| {epsilon:g} | {noticed} of {len(missed)} fits | {wrong} of {len(others)} fits |")
    return "\n".join(lines)
