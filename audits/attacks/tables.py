"""Encoded records of tables with categories, dates and missing values, for attacks on the base of tables.

Encoding is attacked elsewhere; here the releases are.
"""

from typing import Any

import numpy as np

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, PrivateGaussianMixture, Schema
from dpmorse.bases import Plan
from dpmorse.typing import FloatArray

MIXED = {
    "age": Numeric(0, 120, missing="ignore"),
    "ward": Nominal(["north", "south", "east"], missing="ignore"),
    "smoker": Boolean(missing="level"),
    "income": Numeric(0, 1e5, missing="level"),
    "grade": Ordinal(["low", "mid", "high"]),
    "joined": Date("2000-01-01", "2030-01-01", missing="ignore"),
}
TABLES: dict[str, dict[str, Any]] = {
    "numbers, categories, missing values": MIXED,
    "categories": {name: MIXED[name] for name in ("ward", "smoker")},
    "numbers with missing values": {name: MIXED[name] for name in ("age", "joined", "grade")},
    "numbers": {"height": Numeric(0, 2.5), "grade": MIXED["grade"], "weight": Numeric(0, 250)},
}
"""Columns of tables that go through different stages, by their kinds."""

N_RECORDS = 2000
_HOLES = 0.15
"""Part of the values that is missing, where they may be."""


class OfEncoded(PrivateGaussianMixture):
    """The base of tables for records that are encoded already: they are wider than the table."""

    def plan(self, n_features: int, names: Any = None) -> Plan[Any]:
        """Plan for the columns that are stated."""
        del n_features
        return super().plan(len(self.columns), names)


def invented_table(columns: dict[str, Any], n: int = N_RECORDS, seed: int = 0) -> FloatArray:
    """Return encoded records in two groups that differ in every column, with missing values."""
    layout, rng = Schema.of(columns).layout, np.random.default_rng(seed)
    encoded, second = np.zeros((n, layout.width)), rng.random(n) < 0.4
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    places = np.where(second[:, None], 0.7, 0.3) + 0.07 * rng.standard_normal((n, layout.n_numbers))
    encoded[:, layout.number_part] = lower + (upper - lower) * np.clip(places, 0, 1)
    for own in layout.levels:
        size = own.stop - own.start
        drawn = np.where(rng.random(n) < 0.8, second % size, rng.integers(size, size=n))
        encoded[np.arange(n), layout.level_part.start + own.start + drawn] = 1.0
    return with_holes(columns, encoded, rng.random((n, layout.n_holes)) < _HOLES)


def with_holes(columns: dict[str, Any], encoded: FloatArray, missing: Any) -> FloatArray:
    """Return encoded records in which some numbers are missing; a level says so where one is kept for it."""
    schema, found = Schema.of(columns), encoded.copy()
    layout = schema.layout
    numbers = found[:, layout.number_part]
    for i, j in enumerate(layout.holes):
        found[:, i] = missing[:, i]
        numbers[missing[:, i], j] = layout.middle[j]
    for own, j in zip(layout.levels[len(schema.categories) :], schema.tracked, strict=True):
        gone = missing[:, layout.holes.index(j)]
        found[:, layout.level_part.start + own.start] = ~gone
        found[:, layout.level_part.start + own.start + 1] = gone
    return found


def far_encoded(columns: dict[str, Any]) -> FloatArray:
    """Return records easy to notice: at bounds, with rare levels, with and without missing values."""
    layout = Schema.of(columns).layout
    bounds = np.array([layout.lower, layout.upper])
    found = []
    for side, level in ((1, -1), (0, 0), (1, 0), (0, -1)):
        record = np.zeros((1, layout.width))
        record[:, layout.number_part] = bounds[side]
        ends = [(own.start if level == 0 else own.stop - 1) for own in layout.levels]
        record[:, [layout.level_part.start + end for end in ends]] = 1.0
        found.append(with_holes(columns, record, np.zeros((1, layout.n_holes), dtype=bool)))
    all_gone = with_holes(columns, found[0], np.ones((1, layout.n_holes), dtype=bool))
    one_gone = with_holes(columns, found[1], np.arange(layout.n_holes)[None] == 0)
    is_level = np.arange(layout.width) >= layout.level_part.start
    return np.vstack([*found, all_gone, one_gone, np.where(is_level, 0.0, all_gone)])
