"""Exact counts, sums and second moments of cells, counts of levels, and their sensitivities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import GAUSSIAN, Neighboring, Noise, Norm, PlannedRelease, Step, release_event
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics.domain import GRID_BITS, Domain, refuse_other_grids
from dpmorse.statistics.levels import LevelCounts
from dpmorse.statistics.scales import MomentShares, NoiseScales, smallest_factor
from dpmorse.statistics.sensitivity import InverseScales, RecordBounds, SecondMoments
from dpmorse.statistics.sums import ROOM_BITS, UNIT_BITS, ExactMoments, NoisyMoments, add_columns, shift
from dpmorse.typing import FloatArray, IntArray

_SMALLEST_COST = 1e-30
"""Smallest cost that is accepted: the scales for less do not fit in 64-bit integers."""


@dataclass(frozen=True)
class CellMoments:
    """The statistic ``sum_i e_{k(i)} (x) (1, z_i, z_i z_i^T)`` over records or residuals ``z``.

    Parameters
    ----------
    domain : Domain
        Public or released domain of the records; they satisfy |z_j| <= 1 and |z|^2 <= P, P = D for the box.
    n_cells : int
        Number of cells.
    weight_bits : int
        0 for hard cells; WEIGHT_BITS for soft memberships in units of 2^-weight_bits.
    second_moments : SecondMoments
        The part of z z^T that is released.
    of_residuals : bool
        False adds up the records themselves. True adds up their residuals instead: ``z`` is then the
        record in the cell's own whitened coordinates, shrunk to the ball of the cell's radius and divided
        by it, so that P = 1.
    exhaustive : bool
        Whether every record has a cell.
    layout : Layout or None
        Positions of numbers, missing values and levels in records of a table. Then ``z`` holds the numbers
        alone, of which there may be none, and missing values and levels, which are 0 or 1 in scaled units of
        the domain, are counted beside it (``levels.py``).
    """

    domain: Domain
    n_cells: int
    weight_bits: int = 0
    second_moments: SecondMoments = SecondMoments.FULL
    of_residuals: bool = False
    exhaustive: bool = True
    layout: Layout | None = None

    def __post_init__(self) -> None:
        """Normalise strings to enum members; refuse grids that the bounds |z_j| <= 1 are not in units of."""
        if not self.of_residuals:
            refuse_other_grids(self.domain)
        kind = _validate.choice(second_moments=self.second_moments, among=SecondMoments)
        if self._levels is not None:
            self._levels.check(self.domain)
            kind = kind if self.n_measured else SecondMoments.NONE
        object.__setattr__(self, "second_moments", SecondMoments(kind))

    @cached_property
    def _levels(self) -> LevelCounts | None:
        return None if self.layout is None else LevelCounts(self.layout)

    @cached_property
    def unit_bits(self) -> int:
        """Everything is counted in units of 2^-unit_bits."""
        return max(UNIT_BITS, 2 * GRID_BITS + self.weight_bits)

    @property
    def largest_n_rows(self) -> int:
        """Most records whose sums fit in 64 bits; sums over more are integers of any size."""
        return (1 << (ROOM_BITS - self.unit_bits)) - 1

    @property
    def n_values(self) -> int:
        """Number of integers in one release."""
        n_counted = 0 if self._levels is None else self._levels.places.size
        return self.n_cells * (1 + self.n_measured + self._n_second + n_counted)

    @cached_property
    def largest_squared_norm(self) -> Fraction:
        """The P of the proof: the largest |z|^2."""
        if self.of_residuals:
            return Fraction(1 if self.n_measured else 0)
        return Fraction(self.domain.largest_squared_norm, 1 << 2 * GRID_BITS)

    @cached_property
    def measured(self) -> slice:
        """Entries of a record that have residuals and second moments: all, or the numbers of a table."""
        return slice(0, self.domain.n_features) if self.layout is None else self.layout.number_part

    @cached_property
    def n_measured(self) -> int:
        """The D of the proof."""
        return int(self.measured.stop - self.measured.start)

    @cached_property
    def _n_second(self) -> int:
        """Entries of the second moment of one cell."""
        d = self.n_measured
        sizes = {
            SecondMoments.FULL: d * (d + 1) // 2,
            SecondMoments.DIAGONAL: d,
            SecondMoments.TRACE: 1,
            SecondMoments.NONE: 0,
        }
        return sizes[self.second_moments]

    @cached_property
    def _bounds(self) -> RecordBounds:
        only_cell = self.n_cells == 1 and self.exhaustive
        return RecordBounds(self.n_measured, self.largest_squared_norm, self.second_moments, only_cell)

    def cost(self, scales: NoiseScales, neighboring: Neighboring, noise: Noise = GAUSSIAN) -> Fraction:
        """Return the cost of a release, proved in ``sensitivity.py``: rho, or epsilon for Laplace noise."""
        of_moments = self._cost_of_moments(scales, neighboring, noise)
        if self._levels is None:
            return of_moments
        inverse = Fraction(1 << self.unit_bits, scales.level)
        return of_moments + self._levels.cost(inverse, neighboring, noise)

    def _cost_of_moments(self, scales: NoiseScales, neighboring: Neighboring, noise: Noise) -> Fraction:
        one = 1 << self.unit_bits
        count, total, second = (Fraction(one, s) for s in (scales.count, scales.sum, scales.diagonal))
        inverse = InverseScales(count, total, second, Fraction(scales.diagonal, scales.off_diagonal) ** 2)
        return noise.cost(self._bounds.sensitivity(inverse, neighboring, noise.norm))

    def calibrate(
        self,
        cost: float,
        neighboring: Neighboring,
        shares: MomentShares | None = None,
        noise: Noise = GAUSSIAN,
    ) -> NoiseScales:
        """Return the smallest noise, in the proportions of ``shares``, that costs at most ``cost``.

        Without shares the total noise variance over all released entries is the least possible
        (``Noise.best_parts``): block ``b`` with norm ``A_b`` and ``n_b`` entries gets a share proportional to
        ``A_b sqrt(n_b)``, or to ``(A_b^2 n_b)^(1/3)`` for Laplace noise.
        """
        for_levels = 0.0 if self._levels is None or shares is None else shares.levels
        for_moments = (1 - for_levels) * cost
        if for_moments < _SMALLEST_COST:
            raise InvalidParameterError("epsilon is too small for this delta and number of rounds.")
        in_ball = (self.of_residuals and self.n_measured > 0) or self.domain.radius is not None
        wide = noise.norm is Norm.L2 and in_ball  # w = sqrt 2 costs a ball nothing, see sensitivity.py
        norms, parts = self._norms_and_parts(shares, noise, Fraction(2 if wide else 1))

        def scales(factor: float) -> NoiseScales:
            real = noise.scales_of_parts(factor * norms, parts) * 2.0**self.unit_bits
            count, total, diagonal = (math.ceil(scale) for scale in real)
            off_diagonal = math.isqrt(diagonal * diagonal // 2) + 1 if wide else diagonal
            return NoiseScales(count, total, diagonal, off_diagonal)

        def affordable(factor: float) -> bool:
            return self._cost_of_moments(scales(factor), neighboring, noise) <= Fraction(for_moments)

        unscaled = float(self._cost_of_moments(scales(1.0), neighboring, noise)) / for_moments
        found = scales(smallest_factor(affordable, noise.widening(unscaled)))
        if self._levels is None:
            return found
        level = self._levels.smallest_scale(for_levels * cost, neighboring, noise)
        return replace(found, level=math.ceil(level * 2.0**self.unit_bits))

    def uniform(self, stddev: float) -> NoiseScales:
        """Return the same noise, ``stddev`` in scaled units, for every entry (as the papers do)."""
        scale = math.ceil(stddev * 2.0**self.unit_bits)
        return NoiseScales(scale, scale, scale, scale)

    def plan(
        self,
        steps: Sequence[Step],
        scales: NoiseScales,
        neighboring: Neighboring,
        noise: Noise = GAUSSIAN,
    ) -> tuple[PlannedRelease, ...]:
        """Bind noise scales to the events, one for each step, that state their cost."""
        vector = self._vector(scales)
        blocks = {"count": scales.count, "sum": scales.sum, "second moment": scales.diagonal}
        if self.second_moments is SecondMoments.NONE:
            del blocks["second moment"]
        if self._levels is not None:
            blocks["level"] = scales.level
        event = release_event(
            cost=self.cost(scales, neighboring, noise),
            noise=noise,
            neighboring=neighboring,
            n_draws=self.n_values,
            smallest_scale=int(vector.min()),
            noise_stddev={
                block: noise.unit_stddev * scale * 2.0**-self.unit_bits for block, scale in blocks.items()
            },
        )
        return tuple(PlannedRelease(vector, replace(event, step=step)) for step in steps)

    def to_units(self, exact: Exact[ExactMoments]) -> Exact[IntArray]:
        """Bring exact sums to the common unit, as one vector."""
        return sealed(self._vector_of(opened(exact)))

    def _vector_of(self, exact: ExactMoments) -> IntArray:
        spare = self.unit_bits - self.weight_bits
        second = np.diagonal(exact.second_moments, axis1=1, axis2=2)
        if self.second_moments is SecondMoments.TRACE:
            second = add_columns(second)
        elif self.second_moments is SecondMoments.NONE:
            second = second[:, :0]
        blocks = [
            shift(exact.counts, spare),
            shift(exact.sums[:, self.measured].ravel(), spare - GRID_BITS),
            shift(second.ravel(), spare - 2 * GRID_BITS),
        ]
        if self.second_moments is SecondMoments.FULL:
            lower = np.tril_indices(self.n_measured, -1)
            off_diagonal = exact.second_moments[:, lower[0], lower[1]].ravel()
            blocks.append(shift(off_diagonal, spare - 2 * GRID_BITS))
        if self._levels is not None:
            counted = exact.sums[:, self._levels.places].ravel()
            blocks.append(shift(counted, spare - self.domain.grid_bits))
        return np.concatenate(blocks)

    def from_units(self, released: IntArray, planned: PlannedRelease) -> NoisyMoments:
        """Return released integers as moments in scaled units."""
        k, d = self.n_cells, self.n_measured
        values = released.astype(np.float64) * 2.0**-self.unit_bits
        counts, sums, second, counted = np.split(values, np.cumsum([k, k * d, k * self._n_second]))
        if self.second_moments is SecondMoments.FULL:
            second = self._matrices(second)
        elif self.second_moments is SecondMoments.DIAGONAL:
            second = second.reshape(k, d)
        noise = planned.event.noise_stddev
        moments = NoisyMoments(
            counts, sums.reshape(k, d), second, noise["count"], noise["sum"], noise.get("second moment", 0.0)
        )
        if self.layout is None:
            return moments
        holes, levels = np.split(counted.reshape(k, -1), [self.layout.n_holes], axis=1)
        return replace(moments, holes=holes, levels=levels, level_stddev=noise["level"])

    def _matrices(self, values: FloatArray) -> FloatArray:
        """Put diagonals, then lower triangles, into symmetric matrices."""
        k, d = self.n_cells, self.n_measured
        diagonal, off = np.split(values, [k * d])
        second = np.zeros((k, d, d))
        lower = np.tril_indices(d, -1)
        second[:, lower[0], lower[1]] = off.reshape(k, -1)
        second += second.transpose(0, 2, 1)
        second[:, range(d), range(d)] = diagonal.reshape(k, d)
        return second

    def _norms_and_parts(
        self, shares: MomentShares | None, noise: Noise, w2: Fraction
    ) -> tuple[FloatArray, FloatArray]:
        """Return the largest norm of each block, and its part of the cost: that of ``shares``, or the best.

        ``sigma_b^2 = A_b^2 / f_b`` for Gaussian noise, ``s_b = A_b / f_b`` for Laplace noise.
        """
        norms = self._bounds.largest_norms(w2, noise.norm)
        entries = np.array([1, self.n_measured, self._n_second])
        parts = noise.best_parts(norms**2 * entries)
        if shares is not None:
            parts = np.array([shares.count, shares.sum, shares.second_moment])
        released = entries > 0
        return np.where(released, norms, 1.0), np.where(released, parts / parts[released].sum(), 1.0)

    def _vector(self, scales: NoiseScales) -> IntArray:
        """Lay out the scale of every entry like ``to_units`` does; read-only, as rounds share it."""
        k, d = self.n_cells, self.n_measured
        diagonal = min(self._n_second, 1 if self.second_moments is SecondMoments.TRACE else d)
        blocks = [
            (scales.count, 1),
            (scales.sum, d),
            (scales.diagonal, diagonal),
            (scales.off_diagonal, self._n_second - diagonal),
            (scales.level, 0 if self._levels is None else self._levels.places.size),
        ]
        each, lengths = zip(*blocks, strict=True)
        vector = np.repeat(np.array(each, dtype=np.int64), k * np.array(lengths))
        vector.flags.writeable = False
        return vector
