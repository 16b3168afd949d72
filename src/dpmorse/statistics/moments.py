"""Exact counts, sums and second moments of cells, and how far one record can move them."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from fractions import Fraction

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import GAUSSIAN, Neighboring, Noise, Norm, PlannedRelease, Step, release_event
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics.domain import GRID_BITS, Domain, refuse_other_grids
from dpmorse.statistics.scales import MomentShares, NoiseScales, smallest_factor
from dpmorse.statistics.sensitivity import InverseScales, RecordBounds, SecondMoments
from dpmorse.statistics.sums import ROOM_BITS, UNIT_BITS, ExactMoments, NoisyMoments, add_columns, shift
from dpmorse.typing import FloatArray, IntArray

_SMALLEST_COST = 1e-30
"""Less than this is refused: the scales that it would need do not fit in 64-bit integers."""


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
        What of z z^T is released.
    of_residuals : bool
        False adds up the records themselves. True adds up their residuals instead: ``z`` is then the
        record in the cell's own whitened coordinates, shrunk to the ball of the cell's radius and divided
        by it, so that P = 1.
    exhaustive : bool
        Whether every record has a cell.
    """

    domain: Domain
    n_cells: int
    weight_bits: int = 0
    second_moments: SecondMoments = SecondMoments.FULL
    of_residuals: bool = False
    exhaustive: bool = True

    def __post_init__(self) -> None:
        """Normalise strings to enum members; refuse grids that the bounds |z_j| <= 1 are not in units of."""
        if not self.of_residuals:
            refuse_other_grids(self.domain)
        kind = _validate.choice(second_moments=self.second_moments, among=SecondMoments)
        object.__setattr__(self, "second_moments", SecondMoments(kind))

    @property
    def unit_bits(self) -> int:
        """Everything is counted in units of 2^-unit_bits."""
        return max(UNIT_BITS, 2 * GRID_BITS + self.weight_bits)

    @property
    def largest_n_rows(self) -> int:
        """How many records can be added up in 64 bits; sums over more are added as integers of any size."""
        return (1 << (ROOM_BITS - self.unit_bits)) - 1

    @property
    def n_values(self) -> int:
        """How many integers one release consists of."""
        d = self.domain.n_features
        return self.n_cells * (1 + d + self._n_second)

    @property
    def largest_squared_norm(self) -> Fraction:
        """The P of the proof: largest |z|^2 of what is added up."""
        if self.of_residuals:
            return Fraction(1)
        return Fraction(self.domain.largest_squared_norm, 1 << 2 * GRID_BITS)

    @property
    def measured(self) -> slice:
        """Which entries of a record have residuals and second moments: all."""
        return slice(0, self.domain.n_features)

    @property
    def _in_ball(self) -> bool:
        return self.of_residuals or self.domain.radius is not None

    @property
    def _n_second(self) -> int:
        """Entries of the second moment of one cell."""
        d = self.domain.n_features
        sizes = {
            SecondMoments.FULL: d * (d + 1) // 2,
            SecondMoments.DIAGONAL: d,
            SecondMoments.TRACE: 1,
            SecondMoments.NONE: 0,
        }
        return sizes[self.second_moments]

    @property
    def _bounds(self) -> RecordBounds:
        only_cell = self.n_cells == 1 and self.exhaustive
        return RecordBounds(self.domain.n_features, self.largest_squared_norm, self.second_moments, only_cell)

    def cost(self, scales: NoiseScales, neighboring: Neighboring, noise: Noise = GAUSSIAN) -> Fraction:
        """Return what a release costs, as proved in ``sensitivity.py``: rho, or epsilon for Laplace noise."""
        return noise.cost(self._bounds.sensitivity(self._inverse(scales), neighboring, noise.norm))

    def _inverse(self, scales: NoiseScales) -> InverseScales:
        one = 1 << self.unit_bits
        count, total, second = (Fraction(one, s) for s in (scales.count, scales.sum, scales.diagonal))
        return InverseScales(count, total, second, Fraction(scales.diagonal, scales.off_diagonal) ** 2)

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
        if cost < _SMALLEST_COST:
            raise InvalidParameterError("epsilon is too small for this delta and number of rounds.")

        norms, parts = self._norms_and_parts(shares, noise)

        def scales(factor: float) -> NoiseScales:
            return self._in_units(noise.scales_of_parts(factor * norms, parts), noise)

        def affordable(factor: float) -> bool:
            return self.cost(scales(factor), neighboring, noise) <= Fraction(cost)

        unscaled = float(self.cost(scales(1.0), neighboring, noise)) / cost
        return scales(smallest_factor(affordable, noise.widening(unscaled)))

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
            shift(exact.sums.ravel(), spare - GRID_BITS),
            shift(second.ravel(), spare - 2 * GRID_BITS),
        ]
        if self.second_moments is SecondMoments.FULL:
            lower = np.tril_indices(self.domain.n_features, -1)
            off_diagonal = exact.second_moments[:, lower[0], lower[1]].ravel()
            blocks.append(shift(off_diagonal, spare - 2 * GRID_BITS))
        return np.concatenate(blocks)

    def from_units(self, released: IntArray, planned: PlannedRelease) -> NoisyMoments:
        """Return released integers as moments in scaled units."""
        k, d = self.n_cells, self.domain.n_features
        values = released.astype(np.float64) * 2.0**-self.unit_bits
        counts, sums, second = np.split(values, np.cumsum([k, k * d]))
        if self.second_moments is SecondMoments.FULL:
            second = self._matrices(second)
        elif self.second_moments is SecondMoments.DIAGONAL:
            second = second.reshape(k, d)
        noise = planned.event.noise_stddev
        return NoisyMoments(
            counts, sums.reshape(k, d), second, noise["count"], noise["sum"], noise.get("second moment", 0.0)
        )

    def _matrices(self, values: FloatArray) -> FloatArray:
        """Put diagonals, then lower triangles, into symmetric matrices."""
        k, d = self.n_cells, self.domain.n_features
        diagonal, off = np.split(values, [k * d])
        second = np.zeros((k, d, d))
        lower = np.tril_indices(d, -1)
        second[:, lower[0], lower[1]] = off.reshape(k, -1)
        second += second.transpose(0, 2, 1)
        second[:, range(d), range(d)] = diagonal.reshape(k, d)
        return second

    def _norms_and_parts(self, shares: MomentShares | None, noise: Noise) -> tuple[FloatArray, FloatArray]:
        """Return the largest norm of each block, and its part of the cost: that of ``shares``, or the best.

        ``sigma_b^2 = A_b^2 / f_b`` for Gaussian noise, ``s_b = A_b / f_b`` for Laplace noise.
        """
        norms = self._bounds.largest_norms(Fraction(2 if self._wide(noise) else 1), noise.norm)
        entries = np.array([1, self.domain.n_features, self._n_second])
        parts = noise.best_parts(norms**2 * entries)
        if shares is not None:
            parts = np.array([shares.count, shares.sum, shares.second_moment])
        released = entries > 0
        return np.where(released, norms, 1.0), np.where(released, parts / parts[released].sum(), 1.0)

    def _wide(self, noise: Noise) -> bool:
        return noise.norm is Norm.L2 and self._in_ball  # w = sqrt 2 costs a ball nothing, see sensitivity.py

    def _in_units(self, scales: FloatArray, noise: Noise) -> NoiseScales:
        """Round scales up to integers."""
        count, total, diagonal = (math.ceil(scale) for scale in scales * 2.0**self.unit_bits)
        off_diagonal = math.isqrt(diagonal * diagonal // 2) + 1 if self._wide(noise) else diagonal
        return NoiseScales(count, total, diagonal, off_diagonal)

    def _vector(self, scales: NoiseScales) -> IntArray:
        """Lay out the scale of every entry like ``to_units`` does; read-only, as rounds share it."""
        k, d = self.n_cells, self.domain.n_features
        diagonal = min(self._n_second, 1 if self.second_moments is SecondMoments.TRACE else d)
        off_diagonal = self._n_second - diagonal
        lengths = [k, k * d, k * diagonal, k * off_diagonal]
        vector = np.repeat(np.array(astuple(scales), dtype=np.int64), lengths)
        vector.flags.writeable = False
        return vector
