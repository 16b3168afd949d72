"""Counts of groups of records, where each record is in few groups, and their sensitivity.

Histograms of columns are such counts: they show where records lie inside bounds that are too wide or unknown.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import (
    GAUSSIAN,
    LARGEST_SCALE,
    SMALLEST_SCALE,
    Neighboring,
    Noise,
    PlannedRelease,
    Step,
    release_event,
)
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.statistics.sums import UNIT_BITS, shift
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
class GroupCounts:
    """Counts of ``n_values`` groups of records.

    Parameters
    ----------
    n_values : int
        Number of groups, fixed by public or released values.
    n_groups_of_a_record : int
        Largest number of groups that hold one record; 1 if they are disjoint.
    """

    n_values: int
    n_groups_of_a_record: int = 1

    def moved(self, neighboring: Neighboring) -> int:
        """Return the L1 and the squared L2 sensitivity, which are the same number.

        Adding or removing a record changes ``n_groups_of_a_record`` counts by 1. Replacing it takes 1 from
        as many and adds 1 to as many others.
        """
        return self.n_groups_of_a_record * (1 if neighboring is Neighboring.ADD_REMOVE else 2)

    def plan(
        self, step: Step, cost: float, neighboring: Neighboring, noise: Noise = GAUSSIAN
    ) -> PlannedRelease:
        """Return the release that costs at most ``cost``: rho, or epsilon for Laplace noise."""
        if cost <= 0:
            raise InvalidParameterError("epsilon is too small: nothing is left for this release.")
        smallest = noise.scale_for(self._cost(1, neighboring, noise), Fraction(cost))
        scale = max(smallest, SMALLEST_SCALE)
        if scale > LARGEST_SCALE:
            raise InvalidParameterError("epsilon is too small: the noise does not fit in 64-bit integers.")
        event = release_event(
            step=step,
            cost=self._cost(scale, neighboring, noise),
            noise=noise,
            neighboring=neighboring,
            n_draws=self.n_values,
            smallest_scale=scale,
            noise_stddev={"count": noise.unit_stddev * scale * 2.0**-UNIT_BITS},
        )
        return PlannedRelease(np.full(self.n_values, scale, dtype=np.int64), event)

    def _cost(self, scale: int, neighboring: Neighboring, noise: Noise) -> Fraction:
        """Return the cost: the sensitivity is the same number of units in both norms."""
        one = Fraction(1 << UNIT_BITS, scale)
        return noise.cost(self.moved(neighboring) * one**noise.degree)

    def to_units(self, exact: Exact[IntArray]) -> Exact[IntArray]:
        """Bring exact counts to the unit of the noise, as one vector."""
        return sealed(shift(opened(exact).astype(np.int64).ravel(), UNIT_BITS))

    def from_units(self, released: IntArray) -> FloatArray:
        """Return released integers as counts."""
        return released.astype(np.float64) * 2.0**-UNIT_BITS


@dataclass(frozen=True)
class ColumnHistograms:
    """Counts of values in 64 equal bins of the bounds, then below and above them, for every number.

    Parameters
    ----------
    layout : Layout
        Public bounds, and where the numbers are in an encoded record. A missing number is in no bin.
    """

    layout: Layout
    n_bins: ClassVar[int] = N_BINS + 2

    @property
    def n_columns(self) -> int:
        """Number of columns of the records."""
        return self.layout.width

    @property
    def n_features(self) -> int:
        """Number of rows of the table of counts: the numbers."""
        return self.layout.n_numbers

    @property
    def counts(self) -> GroupCounts:
        """The counts that are released: a record is in at most one bin of each of the D numbers."""
        return GroupCounts(self.n_features * self.n_bins, self.n_features)

    @cached_property
    def box(self) -> Domain:
        """The bounds of the numbers."""
        return Domain(np.array(self.layout.lower), np.array(self.layout.upper))

    @cached_property
    def holes(self) -> IntArray:
        """Where it is told that each number is missing, -1 for one that never is."""
        places = np.full(self.n_features, -1)
        places[list(self.layout.holes)] = np.arange(self.layout.n_holes)
        return places

    def bins(self, X: FloatArray) -> IntArray:
        """Return the bin of each number, -1 where it is missing (plain form); the last bin is closed."""
        values, box = X[:, self.layout.number_part], self.box
        q = box.quantise(values)
        shift = GRID_BITS + 1 - BIN_BITS
        binned = np.minimum((q + (1 << GRID_BITS)) >> shift, N_BINS - 1)
        inside = np.where(values <= box.upper, binned, N_BINS + 1)
        found = np.where(values >= box.lower, inside, N_BINS)
        missing = (self.holes >= 0) & (X[:, self.holes] > 0)
        return np.where(missing, -1, found)


@dataclass(frozen=True)
class MagnitudeHistograms:
    """Counts of records by sign and power of two, for every column: needs no bounds at all.

    Bin 0 is for values of at least 2^63 below zero, the one in the middle for those closer to 0 than 2^-32.
    """

    n_features: int
    n_bins: ClassVar[int] = 2 * N_MAGNITUDES + 1

    @property
    def n_columns(self) -> int:
        """Number of columns of the records."""
        return self.n_features

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
