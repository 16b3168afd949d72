"""One histogram per column: where the records lie inside bounds that may be far too wide."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.calibration import SMALLEST_SCALE
from dpmorse.privacy.discrete_gaussian import LARGEST_SCALE
from dpmorse.privacy.events import ReleaseEvent, round_up
from dpmorse.privacy.mechanism import PlannedRelease
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.statistics.moments import UNIT_BITS
from dpmorse.typing import FloatArray, IntArray

BIN_BITS = 6
N_BINS = 1 << BIN_BITS


@dataclass(frozen=True)
class ColumnHistograms:
    """Counts of records in 64 equal bins of the box, for every column.

    Parameters
    ----------
    domain : Domain
        Public box.
    """

    domain: Domain

    @property
    def n_values(self) -> int:
        """How many integers one release consists of."""
        return self.domain.n_features * N_BINS

    def bins(self, q: IntArray) -> IntArray:
        """Return the bin of each coordinate of quantised records (plain form); the last bin is closed."""
        shift = GRID_BITS + 1 - BIN_BITS
        binned: IntArray = np.minimum((q + (1 << GRID_BITS)) >> shift, N_BINS - 1)
        return binned

    def squared_sensitivity(self, scale: int, neighboring: Neighboring) -> Fraction:
        """Return the squared L2 sensitivity in units of the noise: twice the zCDP cost.

        A record adds 1 to exactly one bin of each of the D columns, so adding or removing it moves the
        counts by ``sqrt(D)``. Replacing it takes 1 from a bin and adds 1 to another in at most D columns:
        ``sqrt(2 D)``.
        """
        moved = self.domain.n_features * (1 if neighboring is Neighboring.ADD_REMOVE else 2)
        return moved * Fraction(1 << UNIT_BITS, scale) ** 2

    def plan(self, name: str, rho: float, neighboring: Neighboring) -> PlannedRelease:
        """Return the release whose cost is at most ``rho``."""
        exact = self.squared_sensitivity(1, neighboring) / (2 * Fraction(rho))
        scale = max(math.isqrt(math.ceil(exact)) + 1, SMALLEST_SCALE)
        if scale > LARGEST_SCALE:
            raise InvalidParameterError("epsilon is too small: the noise does not fit in 64-bit integers.")
        event = ReleaseEvent(
            name=name,
            neighboring=neighboring,
            rho=round_up(self.squared_sensitivity(scale, neighboring) / 2),
            n_draws=self.n_values,
            smallest_scale=scale,
            noise_stddev={"count": scale * 2.0**-UNIT_BITS},
        )
        return PlannedRelease(np.full(self.n_values, scale, dtype=np.int64), event)

    def to_units(self, exact: IntArray) -> IntArray:
        """Bring exact counts to the unit of the noise, as one vector."""
        return exact.ravel() << UNIT_BITS

    def from_units(self, released: IntArray) -> FloatArray:
        """Return released integers as counts of shape (n_features, 64)."""
        return released.reshape(self.domain.n_features, N_BINS).astype(np.float64) * 2.0**-UNIT_BITS
