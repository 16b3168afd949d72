"""Sums over records: exact ones, which never leave a fit, and noisy ones, which may.

Exact sums are int64 where these are sure to hold them, and Python's own integers beyond. The type changes no
value, so that sums over billions of records stay exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpmorse.typing import FloatArray, IntArray

UNIT_BITS = 28
"""Noise is drawn in units of 2^-28: fine enough for Theorem 4, coarse enough for int64."""

ROOM_BITS = 62
"""Sums stay below 2^62 in int64: one bit is that of the sign, and noise needs room as well."""


@dataclass(frozen=True)
class ExactMoments:
    """Exact integer sums over cells. Never stored, printed or returned to a user.

    ``counts`` (n_cells,), ``sums`` (n_cells, n_features) and ``second_moments`` (n_cells, n_features,
    n_features; only the lower triangle is filled; without columns where they are not released) of ``w``,
    ``w q`` and ``w q q^T``, where ``q`` is a record or its residual and ``w`` is 1 or, for soft cells, an
    integer number of 2^-12.
    """

    counts: IntArray
    sums: IntArray
    second_moments: IntArray

    def __add__(self, other: "ExactMoments") -> "ExactMoments":
        """Return the sums over the records of both: exact, in whatever order parts are added."""
        return ExactMoments(
            add(self.counts, other.counts),
            add(self.sums, other.sums),
            add(self.second_moments, other.second_moments),
        )


@dataclass(frozen=True)
class NoisyMoments:
    """Released moments in scaled units, with the standard deviation of their noise.

    ``second_moments`` are matrices, diagonals or traces: one of them for each cell, by what was released.
    ``holes`` and ``levels`` are the numbers of records with each missing value and level, where records of
    tables are added up.
    """

    counts: FloatArray
    sums: FloatArray
    second_moments: FloatArray
    count_stddev: float
    sum_stddev: float
    second_moment_stddev: float
    holes: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    levels: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    level_stddev: float = 0.0

    @classmethod
    def average(cls, releases: Sequence["NoisyMoments"]) -> "NoisyMoments":
        """Return the mean of independent releases of nearly the same cells: as much signal, less noise."""
        last, narrower = releases[-1], math.sqrt(len(releases))
        return cls(
            np.mean([release.counts for release in releases], axis=0),
            np.mean([release.sums for release in releases], axis=0),
            np.mean([release.second_moments for release in releases], axis=0),
            last.count_stddev / narrower,
            last.sum_stddev / narrower,
            last.second_moment_stddev / narrower,
        )


def add(a: IntArray, b: IntArray) -> IntArray:
    """Return a + b."""
    fits = _largest(a) + _largest(b) < 1 << ROOM_BITS
    total: IntArray = a + b if fits else a.astype(object) + b.astype(object)
    return total


def shift(values: IntArray, bits: int) -> IntArray:
    """Return values * 2^bits."""
    fits = _largest(values) < 1 << (ROOM_BITS - bits)
    shifted: IntArray = (values if fits else values.astype(object)) << bits
    return shifted


def add_columns(values: IntArray) -> IntArray:
    """Return the sum of every row."""
    fits = _largest(values) * values.shape[1] < 1 << ROOM_BITS
    total: IntArray = (values if fits else values.astype(object)).sum(axis=1)
    return total


def _largest(values: IntArray) -> int:
    return int(np.abs(values).max(initial=0))
