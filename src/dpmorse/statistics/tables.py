"""Exact sums over records of a table with categories and holes, and how far one record can move them.

Records are encoded (``schema/layout.py``): ``[holes | numbers | levels]``. A record adds ``gamma_k`` times

* ``(1, u_k, vech u_k u_k^T)`` to cell k, with ``u_k`` the residual of its numbers in the cell's own whitened
  coordinates, shrunk to a ball (see ``CellMoments``);
* its holes and levels themselves, which are 0 or 1.

**Sensitivity.** What the first block costs is proved in ``sensitivity.py``. Let ``h`` be the holes and levels
of a record. Of each column of categories at most one level is 1, so ``|h|^2 <= C + H`` with C columns of
categories and H numbers that may be missing. With inverse noise ``e`` a record moves the second block by at
most ``e^2 (C + H)``, and a replaced one by twice that: in another cell the two are orthogonal, in the same
cell ``|h - h'|^2 <= 2 C + H``. Blocks are orthogonal, so squared sensitivities add up. Memberships
``gamma`` are those of the proof of soft cells: the squared distance is convex in them, and largest at the
cases above. ``ProfileCells`` are hard ones, whose rule sees the record in another box than the one in which
it is measured: either way a cell depends on the record and on released values only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import GAUSSIAN, Neighboring, Noise, Norm, PlannedRelease, Step, release_event
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.statistics.moments import CellMoments
from dpmorse.statistics.scales import MomentShares, NoiseScales
from dpmorse.statistics.sensitivity import SecondMoments
from dpmorse.statistics.sums import ExactMoments, NoisyMoments, shift
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class TableScales:
    """Integer noise scales: of the moments of the numbers, and of every hole and level."""

    numbers: NoiseScales
    levels: int


@dataclass(frozen=True)
class NoisyTable:
    """Released moments of the numbers, and sums of holes and levels, one row for each cell."""

    numbers: NoisyMoments
    holes: FloatArray
    levels: FloatArray
    level_stddev: float


@dataclass(frozen=True)
class TableMoments:
    """Moments of the numbers of each cell, and how many of its records have which hole and level.

    Parameters
    ----------
    domain : Domain
        Released domain of encoded records; holes and levels are 0 or 1 in its scaled units, on any grid.
    layout : Layout
        Where holes, numbers and levels are.
    n_cells : int
        Number of cells.
    weight_bits : int
        0 for hard cells; WEIGHT_BITS for soft memberships in units of 2^-weight_bits.
    """

    domain: Domain
    layout: Layout
    n_cells: int
    weight_bits: int = 0

    def __post_init__(self) -> None:
        """Refuse domains in which a level is not 1: the proof counts in these units."""
        ones = np.r_[self.layout.hole_part, self.layout.level_part]
        boxes = np.array([self.domain.lower, self.domain.upper])
        if self.domain.n_features != self.layout.width or np.any(boxes[:, ones] != [[-1.0], [1.0]]):
            raise ValueError("the domain must be one of encoded records, with holes and levels in [-1, 1]")
        if self.domain.radius is not None or self.domain.projection is not None:
            raise ValueError("encoded records must not be shrunk to a ball or projected: levels are counted")

    @cached_property
    def numbers(self) -> CellMoments:
        """The moments of the numbers alone; counts only where there are none."""
        part = self.layout.number_part
        # Residuals are on the usual grid, whatever that of the records is.
        domain = Domain(self.domain.lower[part], self.domain.upper[part], grid_bits=GRID_BITS)
        some = self.layout.n_numbers > 0
        second = SecondMoments.FULL if some else SecondMoments.NONE
        return CellMoments(domain, self.n_cells, self.weight_bits, second, of_residuals=some, exhaustive=True)

    @property
    def measured(self) -> slice:
        """Which entries of a record are whitened and squared."""
        return self.layout.number_part

    @property
    def of_residuals(self) -> bool:
        """Numbers are measured in whitened coordinates."""
        return True

    @property
    def second_moments(self) -> SecondMoments:
        """What of the numbers is released beside their sums."""
        return self.numbers.second_moments

    @property
    def unit_bits(self) -> int:
        """Everything is counted in units of 2^-unit_bits."""
        return self.numbers.unit_bits

    @property
    def largest_n_rows(self) -> int:
        """How many records can be added up in 64 bits."""
        return self.numbers.largest_n_rows

    @property
    def n_ones(self) -> int:
        """The C + H of the proof: how many holes and levels of one record can be 1."""
        return self.layout.n_categories + self.layout.n_holes

    @property
    def n_counted(self) -> int:
        """Holes and levels that are counted in each cell."""
        return self.layout.n_holes + self.layout.n_all_levels

    @property
    def n_values(self) -> int:
        """How many integers one release consists of."""
        return self.numbers.n_values + self.n_cells * self.n_counted

    def cost(self, scales: TableScales, neighboring: Neighboring, noise: Noise = GAUSSIAN) -> Fraction:
        """Return what a release costs: rho."""
        return self.numbers.cost(scales.numbers, neighboring, noise) + self._cost_of_levels(
            scales.levels, neighboring, noise
        )

    def _cost_of_levels(self, scale: int, neighboring: Neighboring, noise: Noise) -> Fraction:
        return noise.cost(self._largest_change(neighboring) * Fraction(1 << self.unit_bits, scale) ** 2)

    def _largest_change(self, neighboring: Neighboring) -> int:
        """Return the squared sensitivity of the counts of holes and levels, as proved above."""
        return self.n_ones * (1 if neighboring is Neighboring.ADD_REMOVE else 2)

    def calibrate(
        self, cost: float, neighboring: Neighboring, shares: MomentShares, for_levels: float, noise: Noise
    ) -> TableScales:
        """Return the smallest noise that costs at most ``cost``, of which levels get the part ``for_levels``.

        ``shares`` divide the rest among the moments of the numbers.
        """
        if noise.norm is not Norm.L2:
            raise InvalidParameterError("delta must be above 0 for tables with categories or holes.")
        numbers = self.numbers.calibrate((1 - for_levels) * cost, neighboring, shares, noise)
        changed = self._largest_change(neighboring)
        stddev = math.sqrt(changed / (2 * for_levels * cost)) if changed else 1.0
        scale = math.ceil(stddev * (1 + 1e-12) * 2.0**self.unit_bits)
        return TableScales(numbers, NoiseScales(scale, scale, scale, scale).count)

    def plan(
        self, steps: Sequence[Step], scales: TableScales, neighboring: Neighboring, noise: Noise = GAUSSIAN
    ) -> tuple[PlannedRelease, ...]:
        """Bind noise scales to the events, one for each step, that state their cost."""
        (numbers,) = self.numbers.plan([Step("")], scales.numbers, neighboring, noise)
        levels = np.full(self.n_cells * self.n_counted, scales.levels, dtype=np.int64)
        vector = np.concatenate([numbers.scales, levels])
        vector.flags.writeable = False
        event = release_event(
            cost=self.cost(scales, neighboring, noise),
            noise=noise,
            neighboring=neighboring,
            n_draws=self.n_values,
            smallest_scale=int(vector.min()),
            noise_stddev={
                **numbers.event.noise_stddev,
                "level": noise.unit_stddev * scales.levels * 2.0**-self.unit_bits,
            },
        )
        return tuple(PlannedRelease(vector, replace(event, step=step)) for step in steps)

    def to_units(self, exact: Exact[ExactMoments]) -> Exact[IntArray]:
        """Bring exact sums to the common unit, as one vector."""
        whole = opened(exact)
        part = replace(whole, sums=whole.sums[:, self.layout.number_part])
        counted = whole.sums[:, np.r_[self.layout.hole_part, self.layout.level_part]].ravel()
        spare = self.unit_bits - self.weight_bits - self.domain.grid_bits
        numbers = opened(self.numbers.to_units(sealed(part)))
        return sealed(np.concatenate([numbers, shift(counted, spare)]))

    def from_units(self, released: IntArray, planned: PlannedRelease) -> NoisyTable:
        """Return released integers as moments in scaled units, and as numbers of records."""
        n = self.numbers.n_values
        counted = released[n:].astype(np.float64) * 2.0**-self.unit_bits
        holes, levels = np.split(counted.reshape(self.n_cells, -1), [self.layout.n_holes], axis=1)
        moments = self.numbers.from_units(released[:n], planned)
        return NoisyTable(moments, holes, levels, planned.event.noise_stddev["level"])
