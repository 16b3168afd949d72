"""Exact counts, sums and second moments of cells, and how far one record can move them."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.events import ReleaseEvent, round_up
from dpmorse.privacy.mechanism import PlannedRelease
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.statistics.noise import MomentShares, NoiseScales
from dpmorse.statistics.sums import ExactMoments, NoisyMoments
from dpmorse.typing import FloatArray, IntArray

UNIT_BITS = 28
"""Noise is drawn in units of 2^-28: fine enough for Theorem 4, coarse enough for int64."""

_CAPACITY_BITS = 62
_SMALLEST_RHO = 1e-30


class SecondMoments(StrEnum):
    """What of ``z z^T`` is released: the matrix, its diagonal, or its trace ``|z|^2``."""

    FULL = "full"
    DIAGONAL = "diagonal"
    TRACE = "trace"


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
    residual_radius : float or None
        None adds up the records themselves. A number adds up their residuals instead: ``z`` is then the
        record in the cell's own whitened coordinates, shrunk to a ball of this radius (in standard
        deviations of the cell) and divided by it, so that P = 1.
    """

    domain: Domain
    n_cells: int
    weight_bits: int = 0
    second_moments: SecondMoments = SecondMoments.FULL
    residual_radius: float | None = None

    @property
    def unit_bits(self) -> int:
        """Everything is counted in units of 2^-unit_bits."""
        return max(UNIT_BITS, 2 * GRID_BITS + self.weight_bits)

    @property
    def n_values(self) -> int:
        """How many integers one release consists of."""
        d = self.domain.n_features
        return self.n_cells * (1 + d + self._n_second)

    @property
    def largest_squared_norm(self) -> Fraction:
        """The P of the proof: largest |z|^2 of what is added up."""
        if self.residual_radius is not None:
            return Fraction(1)
        return Fraction(self.domain.largest_squared_norm, 1 << 2 * GRID_BITS)

    @property
    def _in_ball(self) -> bool:
        return self.residual_radius is not None or self.domain.radius is not None

    @property
    def _n_second(self) -> int:
        """Entries of the second moment of one cell."""
        d = self.domain.n_features
        sizes = {SecondMoments.FULL: d * (d + 1) // 2, SecondMoments.DIAGONAL: d, SecondMoments.TRACE: 1}
        return sizes[self.second_moments]

    def squared_sensitivity(self, scales: NoiseScales, neighboring: Neighboring) -> Fraction:
        r"""Return the squared L2 sensitivity in units of the noise: twice the zCDP cost.

        Let ``phi(z) = (c, a z, b s(z))`` with c, a, b the inverse noise standard deviations of counts, sums
        and (diagonal) second moments, and ``s(z)`` the part of ``z z^T`` that is released: ``vech_w``,
        with ``w`` <= sqrt 2 the ratio of diagonal to off-diagonal noise; the diagonal; or the trace. A
        record adds ``phi(z)`` to the block of its cell. All of this is exact: the record, or its residual,
        is already on the grid, and the sums are integers.

        **Largest norm.** ``|phi|^2 = c^2 + a^2 |z|^2 + b^2 |s|^2``, and ``|s|^2`` is at most

        * full: ``sum_i z_i^4 + w^2 sum_{i<j} z_i^2 z_j^2 <= min(P^2, D + w^2 D (D-1)/2)``, by w^2 <= 2 and
          at a corner of the box;
        * diagonal: ``sum_i z_i^4 <= min(P^2, P)``, by |z_i| <= 1;
        * trace: ``|z|^4 <= P^2``.

        We call this bound ``M``, and ``N = c^2 + a^2 P + b^2 M``.

        **Add or remove one record**: exactly one term appears or disappears. Squared sensitivity N.

        **Replace one**, different cells: two orthogonal blocks change, 2 N.
        **Replace one**, same cell: the count stays, and with ``t = <z, z'>`` we have
        ``<s(z), s(z')> >= h t^2``: full, ``(w^2/2) t^2 + (1 - w^2/2) sum z_i^2 z'_i^2``, so h = w^2/2;
        diagonal, ``sum z_i^2 z'_i^2``, so h = 1/D by Cauchy and Schwarz; trace, ``|z|^2 |z'|^2``, so h = 1.
        Hence ``|phi - phi'|^2 <= 2 a^2 P + 2 b^2 M - 2 a^2 t - 2 b^2 h t^2``, largest over ``|t| <= P`` at
        ``t = -min(P, a^2 / (2 b^2 h))``. The sensitivity is the larger of the two cases; with one cell
        only the second exists.

        **Soft cells.** A record adds ``gamma_k phi(z_k)`` to every cell k, with gamma >= 0, sum gamma <= 1
        (= 1 for one cell) and, for residuals, another ``z_k`` in each cell. The squared distance of two
        such vectors is convex in (gamma, gamma'), so its maximum is at vertices: one-hot vectors, the
        cases above, or 0, which is no worse. Soft costs what hard costs.

        **Residuals.** ``z_k`` depends on the record and on released values only, and |z_k| <= 1 = P.
        """
        one = 1 << self.unit_bits
        c2, a2, b2 = (Fraction(one, s) ** 2 for s in (scales.count, scales.sum, scales.diagonal))
        w2 = Fraction(scales.diagonal, scales.off_diagonal) ** 2
        if w2 > 2:
            raise ValueError("off-diagonal noise must be at least 1/sqrt(2) of the diagonal noise")
        P = self.largest_squared_norm
        M, h = self._second_moment_bounds(w2)
        largest_norm = c2 + a2 * P + b2 * M
        if neighboring is Neighboring.ADD_REMOVE:
            return largest_norm
        t = -min(P, a2 / (2 * b2 * h))
        same_cell = 2 * a2 * P + 2 * b2 * M - 2 * a2 * t - 2 * b2 * h * t * t
        return same_cell if self.n_cells == 1 else max(2 * largest_norm, same_cell)

    def _second_moment_bounds(self, w2: Fraction) -> tuple[Fraction, Fraction]:
        """Return the M and h of the proof."""
        d, P = self.domain.n_features, self.largest_squared_norm
        if self.second_moments is SecondMoments.FULL:
            return min(P * P, d + w2 * d * (d - 1) / 2), w2 / 2
        if self.second_moments is SecondMoments.DIAGONAL:
            return min(P * P, P), Fraction(1, d)
        return P * P, Fraction(1)

    def calibrate(
        self, rho: float, neighboring: Neighboring, shares: MomentShares | None = None
    ) -> NoiseScales:
        """Return the smallest noise, in the proportions of ``shares``, whose cost is at most ``rho``.

        Without shares the total noise variance over all released entries is the least possible: block
        ``b`` with norm ``A_b`` and ``n_b`` entries gets a share proportional to ``A_b sqrt(n_b)``.
        """
        if rho < _SMALLEST_RHO:
            raise InvalidParameterError("epsilon is too small for this delta and number of rounds.")

        def affordable(factor: float) -> bool:
            cost = self.squared_sensitivity(self._shape(shares, factor), neighboring) / 2
            return cost <= Fraction(rho)

        unscaled = self.squared_sensitivity(self._shape(shares, 1.0), neighboring)
        high = 1.01 * math.sqrt(float(unscaled) / (2 * rho))
        while not affordable(high):
            high *= 2
        low = high / 1.05
        while low > 2.0**-60 and affordable(low):  # only where some scales are at their smallest
            low /= 2
        for _ in range(40):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if affordable(middle) else (middle, high)
        return self._shape(shares, high)

    def uniform(self, stddev: float) -> NoiseScales:
        """Return the same noise, ``stddev`` in scaled units, for every entry (as the papers do)."""
        scale = math.ceil(stddev * 2.0**self.unit_bits)
        return NoiseScales(scale, scale, scale, scale)

    def plan(
        self, names: Sequence[str], scales: NoiseScales, neighboring: Neighboring
    ) -> tuple[PlannedRelease, ...]:
        """Bind noise scales to the events, one for each name, that state their cost."""
        one = 2.0**self.unit_bits
        event = ReleaseEvent(
            name="",
            neighboring=neighboring,
            rho=round_up(self.squared_sensitivity(scales, neighboring) / 2),
            n_draws=self.n_values,
            smallest_scale=min(astuple(scales)),
            noise_stddev={
                "count": scales.count / one,
                "sum": scales.sum / one,
                "second moment": scales.diagonal / one,
            },
        )
        vector = self._vector(scales)
        return tuple(PlannedRelease(vector, replace(event, name=name)) for name in names)

    def check_capacity(self, n_records: int) -> None:
        """Refuse more records than 64-bit sums can hold."""
        largest = 1 << (_CAPACITY_BITS - self.unit_bits)
        if n_records >= largest:
            raise InvalidParameterError(f"X has too many rows: exact 64-bit sums hold fewer than {largest}.")

    def to_units(self, exact: ExactMoments) -> IntArray:
        """Bring exact sums to the common unit, as one vector."""
        spare = self.unit_bits - self.weight_bits
        second = np.diagonal(exact.second_moments, axis1=1, axis2=2)
        if self.second_moments is SecondMoments.TRACE:
            second = second.sum(axis=1)
        blocks = [
            exact.counts << spare,
            exact.sums.ravel() << (spare - GRID_BITS),
            second.ravel() << (spare - 2 * GRID_BITS),
        ]
        if self.second_moments is SecondMoments.FULL:
            lower = np.tril_indices(self.domain.n_features, -1)
            blocks.append(exact.second_moments[:, lower[0], lower[1]].ravel() << (spare - 2 * GRID_BITS))
        return np.concatenate(blocks)

    def from_units(self, released: IntArray, planned: PlannedRelease) -> NoisyMoments:
        """Return released integers as moments in scaled units."""
        k, d = self.n_cells, self.domain.n_features
        values = released * 2.0**-self.unit_bits
        counts, sums, second = np.split(values, np.cumsum([k, k * d]))
        if self.second_moments is SecondMoments.FULL:
            second = self._matrices(second)
        elif self.second_moments is SecondMoments.DIAGONAL:
            second = second.reshape(k, d)
        noise = planned.event.noise_stddev
        return NoisyMoments(
            counts, sums.reshape(k, d), second, noise["count"], noise["sum"], noise["second moment"]
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

    def _shape(self, shares: MomentShares | None, factor: float) -> NoiseScales:
        """Return scales in the proportions of ``shares``: sigma_b^2 = A_b^2 / f_b, times ``factor``^2."""
        d = self.domain.n_features
        norms, entries = self._block_norms(), np.array([1, d, self._n_second])
        parts = norms * np.sqrt(entries)
        if shares is not None:
            parts = np.array([shares.count, shares.sum, shares.second_moment])
        stddev = factor * norms / np.sqrt(parts / parts.sum()) * 2.0**self.unit_bits
        count, total, diagonal = (math.ceil(s) for s in stddev)
        off_diagonal = math.isqrt(diagonal * diagonal // 2) + 1 if self._in_ball else diagonal
        return NoiseScales(count, total, diagonal, off_diagonal)

    def _block_norms(self) -> FloatArray:
        """Return the largest norms of (1, z, s(z)), with w = 1 in the box and w = sqrt 2 in a ball."""
        w2 = Fraction(2 if self._in_ball else 1)
        largest = [1.0, float(self.largest_squared_norm), float(self._second_moment_bounds(w2)[0])]
        return np.sqrt(largest)

    def _vector(self, scales: NoiseScales) -> IntArray:
        """Lay out the scale of every entry like ``to_units`` does; read-only, as rounds share it."""
        k, d = self.n_cells, self.domain.n_features
        diagonal = 1 if self.second_moments is SecondMoments.TRACE else d
        off_diagonal = self._n_second - diagonal
        lengths = [k, k * d, k * diagonal, k * off_diagonal]
        vector = np.repeat(np.array(astuple(scales), dtype=np.int64), lengths)
        vector.flags.writeable = False
        return vector
