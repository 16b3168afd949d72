"""Counts of records in groups of which each record is in few: how far one record can move them."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.calibration import SMALLEST_SCALE
from dpmorse.privacy.events import Noise, release_event
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.privacy.mechanism import PlannedRelease
from dpmorse.privacy.sampler import LARGEST_SCALE
from dpmorse.privacy.steps import Step
from dpmorse.statistics import integers
from dpmorse.statistics.moments import UNIT_BITS
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class GroupCounts:
    """Counts of ``n_values`` groups of records.

    Parameters
    ----------
    n_values : int
        Number of groups, fixed by public or released values.
    n_groups_of_a_record : int
        In how many groups a record is at most; 1 if they are disjoint.
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
        self, step: Step, cost: float, neighboring: Neighboring, noise: Noise = Noise.GAUSSIAN
    ) -> PlannedRelease:
        """Return the release that costs at most ``cost``: rho, or epsilon for Laplace noise."""
        noise = Noise(noise)
        if noise is Noise.CHOICE:
            raise ValueError("counts are released with noise, not by a choice")
        if cost <= 0:
            raise InvalidParameterError("epsilon is too small: nothing is left for this release.")
        scale = max(self._scale(Fraction(cost), neighboring, noise), SMALLEST_SCALE)
        if scale > LARGEST_SCALE:
            raise InvalidParameterError("epsilon is too small: the noise does not fit in 64-bit integers.")
        event = release_event(
            step=step,
            cost=self._cost(scale, neighboring, noise),
            noise=noise,
            neighboring=neighboring,
            n_draws=self.n_values,
            smallest_scale=scale,
            scales={"count": scale * 2.0**-UNIT_BITS},
        )
        return PlannedRelease(np.full(self.n_values, scale, dtype=np.int64), event)

    def _cost(self, scale: int, neighboring: Neighboring, noise: Noise) -> Fraction:
        one = Fraction(1 << UNIT_BITS, scale)
        moved = self.moved(neighboring)
        return moved * one if noise is Noise.LAPLACE else moved * one**2 / 2

    def _scale(self, cost: Fraction, neighboring: Neighboring, noise: Noise) -> int:
        """Return a scale whose cost is no more, at most one step above the smallest."""
        exact = math.ceil(self._cost(1, neighboring, noise) / cost)
        return exact if noise is Noise.LAPLACE else math.isqrt(exact) + 1

    def to_units(self, exact: Exact[IntArray]) -> Exact[IntArray]:
        """Bring exact counts to the unit of the noise, as one vector."""
        return sealed(integers.shift(opened(exact).astype(np.int64).ravel(), UNIT_BITS))

    def from_units(self, released: IntArray) -> FloatArray:
        """Return released integers as counts."""
        return released.astype(np.float64) * 2.0**-UNIT_BITS
