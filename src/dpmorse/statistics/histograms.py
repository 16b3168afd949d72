"""One histogram per column, which shows where records lie inside bounds that are too wide or unknown."""

from dataclasses import dataclass

import numpy as np

from dpmorse.statistics.counts import GroupCounts
from dpmorse.statistics.domain import GRID_BITS, Domain, refuse_other_grids
from dpmorse.typing import FloatArray, IntArray

BIN_BITS = 6
"""A bin is found by a shift: its number is the first 6 bits of a coordinate on the grid."""

N_BINS = 1 << BIN_BITS
"""Bins of one column."""

SMALLEST_EXPONENT = -32
"""Values closer to zero than 2^-32 are in one bin."""

LARGEST_EXPONENT = 63
"""Values of 2^63 and more, the range of 64-bit integers, are in one bin for each sign."""

N_MAGNITUDES = LARGEST_EXPONENT - SMALLEST_EXPONENT + 1
"""Powers of two that are told apart, for each sign."""


@dataclass(frozen=True)
class ColumnHistograms:
    """Counts of records in 64 equal bins of the box, for every column.

    Parameters
    ----------
    domain : Domain
        Public box.
    """

    domain: Domain

    def __post_init__(self) -> None:
        """Refuse other grids: a bin is found by a shift, and compiled code would write beside its arrays."""
        refuse_other_grids(self.domain)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.domain.n_features

    @property
    def counts(self) -> GroupCounts:
        """The counts that are released: a record is in exactly one bin of each of the D columns."""
        return GroupCounts(self.domain.n_features * N_BINS, self.domain.n_features)

    def bins(self, q: IntArray) -> IntArray:
        """Return the bin of each coordinate of quantised records (plain form); the last bin is closed."""
        shift = GRID_BITS + 1 - BIN_BITS
        binned: IntArray = np.minimum((q + (1 << GRID_BITS)) >> shift, N_BINS - 1)
        return binned


@dataclass(frozen=True)
class MagnitudeHistograms:
    """Counts of records by sign and power of two, for every column: needs no bounds at all.

    Bin 0 is for values of at least 2^63 below zero, the one in the middle for those closer to 0 than 2^-32.
    """

    n_features: int

    @property
    def n_bins(self) -> int:
        """Bins of one column: magnitudes below zero, zero, magnitudes above."""
        return 2 * N_MAGNITUDES + 1

    @property
    def counts(self) -> GroupCounts:
        """The counts that are released: a record is in exactly one bin of each of the D columns."""
        return GroupCounts(self.n_features * self.n_bins, self.n_features)

    @property
    def edges(self) -> FloatArray:
        """Edges of the bins: bin i lies between edge i and edge i + 1."""
        powers = 2.0 ** np.arange(SMALLEST_EXPONENT, LARGEST_EXPONENT + 2)
        return np.concatenate([-powers[::-1], powers])

    def bins(self, X: FloatArray) -> IntArray:
        """Return the bin of each value; ``frexp`` is exact, so a bin depends on its value alone."""
        values = np.asarray(X, dtype=np.float64)
        exponents = np.frexp(values)[1] - 1  # |x| is in [2^e, 2^(e+1))
        steps = np.clip(exponents - SMALLEST_EXPONENT + 1, 0, N_MAGNITUDES)
        signs = (values > 0).astype(np.int64) - (values < 0)  # 0 also for NaN, which is no integer
        bins: IntArray = N_MAGNITUDES + signs * steps
        return bins
