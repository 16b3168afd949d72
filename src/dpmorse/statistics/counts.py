"""Counts of groups of records, where each record is in few groups, and their sensitivity."""

from dataclasses import dataclass
from fractions import Fraction

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
from dpmorse.statistics.sums import UNIT_BITS, shift
from dpmorse.typing import FloatArray, IntArray


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
