"""All ways to make a base, for the suites that every base must pass.

A way is a base, what it is told of the columns, and the table that numbers in a box become for it. One that is
in the library's list of bases and not here fails ``tests/bases/test_bases.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPTree,
    Nominal,
    Numeric,
    PrivateGaussianMixture,
)
from toy_base import GridKMeans


def within(n_features: int, width: float) -> dict[str, Any]:
    """Bounds of numbers."""
    return {"bounds": (-width, width)}


def numbers(n_features: int, width: float) -> dict[str, Any]:
    """Columns of numbers, each of which is described."""
    return {"columns": {f"x{j}": Numeric(-width, width) for j in range(n_features)}}


def with_missing(n_features: int, width: float) -> dict[str, Any]:
    """Columns of numbers that may be missing."""
    return {"columns": {f"x{j}": Numeric(-width, width, missing="ignore") for j in range(n_features)}}


def with_categories(n_features: int, width: float) -> dict[str, Any]:
    """Columns of numbers that may be missing, and one of categories."""
    described = with_missing(n_features, width)["columns"]
    return {"columns": {**described, "side": Nominal(["left", "right"], missing="level")}}


def some_missing(X: Any) -> Any:
    """Leave out one value in ten, by a rule that looks at this value alone."""
    return np.where(np.sin(1e4 * X) > np.cos(0.1 * np.pi), np.nan, X)


def beside_categories(X: Any) -> Any:
    """Leave out some values, and add a column that says on which side a record lies; sometimes it says nothing."""
    X = np.asarray(X)
    side = np.where(X[:, 0] < 0, "left", "right").astype(object)
    side[np.isnan(some_missing(X[:, -1] / 2))] = None
    return np.column_stack([some_missing(X).astype(object), side])


@dataclass(frozen=True)
class Way:
    """A base, what it is told of columns, and what numbers in a box become for it."""

    kind: type
    described: Callable[[int, float], dict[str, Any]] = within
    table: Callable[[Any], Any] = np.asarray
    few: dict[str, Any] = field(default_factory=dict, hash=False)
    """What makes its fits short, in tests that look at no cluster."""

    def make(self, *args: Any, n_features: int = 2, width: float = 1.0, **options: Any) -> Any:
        """Return the base, for this number of columns between ``-width`` and ``width``."""
        return self.kind(*args, **{"epsilon": 1.0, **self.described(n_features, width), **options})

    def short(self, *args: Any, **options: Any) -> Any:
        """Return the base with few rounds."""
        return self.make(*args, **{**self.few, **options})

    def n_columns(self, n_features: int) -> int:
        """Return the number of columns of the table that these numbers become."""
        return self.table(np.zeros((1, n_features))).shape[1]


WAYS = {
    "DPMoGHard": Way(DPMoGHard, few={"n_iter": 3}),
    "DPMoG": Way(DPMoG, few={"n_iter": 3}),
    "DPLloyd": Way(DPLloyd, few={"n_iter": 3}),
    "DPCube": Way(DPCube),
    "DPTree": Way(DPTree),
    "another package's": Way(GridKMeans),
    "PrivateGaussianMixture": Way(PrivateGaussianMixture),
    "described numbers": Way(PrivateGaussianMixture, numbers),
    "missing numbers": Way(PrivateGaussianMixture, with_missing, some_missing),
    "categories": Way(PrivateGaussianMixture, with_categories, beside_categories),
}
"""By name: how tests call them."""

OF_NUMBERS = {name: way for name, way in WAYS.items() if way.described is within}
"""Those that are told bounds, which may be private; others are told what the columns are."""

every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
every_way_of_numbers = pytest.mark.parametrize("way", OF_NUMBERS.values(), ids=OF_NUMBERS)
