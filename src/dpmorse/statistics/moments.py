"""Exact counts, sums and second moments of cells, and how far one record can move them."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from fractions import Fraction

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.calibration import SMALLEST_SCALE
from dpmorse.privacy.discrete_gaussian import LARGEST_SCALE
from dpmorse.privacy.events import ReleaseEvent, round_up
from dpmorse.privacy.mechanism import PlannedRelease
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.typing import FloatArray, IntArray

_UNIT_BITS = 28  # noise is drawn in units of 2^-28: fine enough for Theorem 4, coarse enough for int64
_CAPACITY_BITS = 62
_SMALLEST_RHO = 1e-30


@dataclass(frozen=True, kw_only=True)
class MomentShares:
    """Which part of a release's zCDP cost goes to each block; the parts sum to 1."""

    count: float
    sum: float
    second_moment: float

    def __post_init__(self) -> None:
        """Check that the parts are positive and sum to 1."""
        for field in fields(self):
            value = getattr(self, field.name)
            _validate.open_unit_interval(**{f"shares.{field.name}": value})
        total = self.count + self.sum + self.second_moment
        if abs(total - 1) > 1e-9:
            raise InvalidParameterError(f"shares must sum to 1, got {total:.12g}.")


@dataclass(frozen=True)
class NoiseScales:
    """Integer noise scales of the blocks, in the common unit of the statistic."""

    count: int
    sum: int
    diagonal: int
    off_diagonal: int

    def __post_init__(self) -> None:
        """Keep every scale where the sampler and Theorem 4 want it."""
        for field in fields(self):
            scale = getattr(self, field.name)
            if scale > LARGEST_SCALE:
                raise InvalidParameterError(
                    f"epsilon is too small for this many columns and rounds: the noise of a {field.name} "
                    "does not fit in 64-bit integers. Raise epsilon, or lower n_iter."
                )
            object.__setattr__(self, field.name, max(scale, SMALLEST_SCALE))


@dataclass(frozen=True)
class ExactMoments:
    """Exact integer sums over cells. Never stored, printed or returned to a user.

    ``counts`` (n_cells,), ``sums`` (n_cells, n_features) and ``second_moments`` (n_cells, n_features,
    n_features; only the lower triangle is filled) of ``w``, ``w q`` and ``w q q^T``, where ``w`` is 1 or,
    for soft cells, an integer number of 2^-12.
    """

    counts: IntArray
    sums: IntArray
    second_moments: IntArray


@dataclass(frozen=True)
class NoisyMoments:
    """Released moments in scaled units, with the standard deviation of their noise."""

    counts: FloatArray
    sums: FloatArray
    second_moments: FloatArray
    count_stddev: float
    second_moment_stddev: float

    @classmethod
    def average(cls, releases: Sequence["NoisyMoments"]) -> "NoisyMoments":
        """Return the mean of independent releases of nearly the same cells: as much signal, less noise."""
        last, narrower = releases[-1], math.sqrt(len(releases))
        return cls(
            np.mean([release.counts for release in releases], axis=0),
            np.mean([release.sums for release in releases], axis=0),
            np.mean([release.second_moments for release in releases], axis=0),
            last.count_stddev / narrower,
            last.second_moment_stddev / narrower,
        )


@dataclass(frozen=True)
class CellMoments:
    """The statistic ``sum_i e_{k(i)} (x) (1, z_i, z_i z_i^T)`` over records ``z`` of a domain.

    Parameters
    ----------
    domain : Domain
        Public domain; its records satisfy |z_j| <= 1 and |z|^2 <= P, with P = D for the box.
    n_cells : int
        Number of cells.
    weight_bits : int
        0 for hard cells; WEIGHT_BITS for soft memberships in units of 2^-weight_bits.
    """

    domain: Domain
    n_cells: int
    weight_bits: int = 0

    @property
    def unit_bits(self) -> int:
        """Everything is counted in units of 2^-unit_bits."""
        return max(_UNIT_BITS, 2 * GRID_BITS + self.weight_bits)

    @property
    def n_values(self) -> int:
        """How many integers one release consists of."""
        d = self.domain.n_features
        return self.n_cells * (1 + d + d * (d + 1) // 2)

    def squared_sensitivity(self, scales: NoiseScales, neighboring: Neighboring) -> Fraction:
        r"""Return the squared L2 sensitivity in units of the noise: twice the zCDP cost.

        Let ``phi(z) = (c, a z, b vech_w(z z^T))`` with c, a, b the inverse noise standard deviations of
        counts, sums and diagonal second moments, and ``w`` <= sqrt 2 the ratio of diagonal to
        off-diagonal noise. A record adds ``phi(z)`` to the block of its cell. All of this is exact: the
        record is already on the grid, and the sums are integers.

        **Largest norm.** ``|phi|^2 = c^2 + a^2 |z|^2 + b^2 (sum_i z_i^4 + w^2 sum_{i<j} z_i^2 z_j^2)``.
        In the box it is at most ``c^2 + a^2 D + b^2 (D + w^2 D (D-1)/2)``, reached at a corner; with
        |z|^2 <= P and w^2 <= 2 also ``c^2 + a^2 P + b^2 P^2``. We take ``M``, the smaller bound of the
        second-moment term, and ``N = c^2 + a^2 P + b^2 M``.

        **Add or remove one record**: exactly one term appears or disappears. Squared sensitivity N.

        **Replace one**, different cells: two orthogonal blocks change, 2 N.
        **Replace one**, same cell: the count stays, and with ``t = <z, z'>``,
        ``<vech_w(zz'), vech_w(z'z'')> = (w^2/2) t^2 + (1 - w^2/2) sum z_i^2 z'_i^2 >= (w^2/2) t^2``, so
        ``|phi - phi'|^2 <= 2 a^2 P + 2 b^2 M - 2 a^2 t - b^2 w^2 t^2``, largest over ``|t| <= P`` at
        ``t = -min(P, a^2 / (b^2 w^2))``. The sensitivity is the larger of the two cases; with one cell
        only the second exists.

        **Soft cells.** A record adds ``gamma (x) phi(z)`` with gamma >= 0, sum gamma <= 1 (= 1 for one
        cell). ``|gamma (x) phi - gamma' (x) phi'|^2`` is convex in (gamma, gamma'), so its maximum is at
        vertices: one-hot vectors, the cases above, or 0, which is no worse. Soft costs what hard costs.
        """
        one = 1 << self.unit_bits
        c2, a2, b2 = (Fraction(one, s) ** 2 for s in (scales.count, scales.sum, scales.diagonal))
        w2 = Fraction(scales.diagonal, scales.off_diagonal) ** 2
        if w2 > 2:
            raise ValueError("off-diagonal noise must be at least 1/sqrt(2) of the diagonal noise")
        d = self.domain.n_features
        P = Fraction(self.domain.largest_squared_norm, 1 << 2 * GRID_BITS)
        M = min(P * P, d + w2 * d * (d - 1) / 2)
        largest_norm = c2 + a2 * P + b2 * M
        if neighboring is Neighboring.ADD_REMOVE:
            return largest_norm
        t = -min(P, a2 / (b2 * w2))
        same_cell = 2 * a2 * P + 2 * b2 * M - 2 * a2 * t - b2 * w2 * t * t
        return same_cell if self.n_cells == 1 else max(2 * largest_norm, same_cell)

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
        lower = np.tril_indices(self.domain.n_features, -1)
        return np.concatenate(
            [
                exact.counts << spare,
                exact.sums.ravel() << (spare - GRID_BITS),
                np.diagonal(exact.second_moments, axis1=1, axis2=2).ravel() << (spare - 2 * GRID_BITS),
                exact.second_moments[:, lower[0], lower[1]].ravel() << (spare - 2 * GRID_BITS),
            ]
        )

    def from_units(self, released: IntArray, planned: PlannedRelease) -> NoisyMoments:
        """Return released integers as moments in scaled units."""
        k, d = self.n_cells, self.domain.n_features
        values = released * 2.0**-self.unit_bits
        counts, sums, diagonal, off = np.split(values, np.cumsum([k, k * d, k * d]))
        second = np.zeros((k, d, d))
        lower = np.tril_indices(d, -1)
        second[:, lower[0], lower[1]] = off.reshape(k, -1)
        second += second.transpose(0, 2, 1)
        second[:, range(d), range(d)] = diagonal.reshape(k, d)
        noise = planned.event.noise_stddev
        return NoisyMoments(counts, sums.reshape(k, d), second, noise["count"], noise["second moment"])

    def _shape(self, shares: MomentShares | None, factor: float) -> NoiseScales:
        """Return scales in the proportions of ``shares``: sigma_b^2 = A_b^2 / f_b, times ``factor``^2."""
        d = self.domain.n_features
        norms, entries = self._block_norms(), np.array([1, d, d * (d + 1) / 2])
        parts = norms * np.sqrt(entries)
        if shares is not None:
            parts = np.array([shares.count, shares.sum, shares.second_moment])
        stddev = factor * norms / np.sqrt(parts / parts.sum()) * 2.0**self.unit_bits
        count, total, diagonal = (math.ceil(s) for s in stddev)
        off_diagonal = diagonal if self.domain.radius is None else math.isqrt(diagonal * diagonal // 2) + 1
        return NoiseScales(count, total, diagonal, off_diagonal)

    def _block_norms(self) -> FloatArray:
        """Return the largest norms of (1, z, vech(z z^T)): box with w = 1, ball with w = sqrt 2."""
        d, P = self.domain.n_features, self.domain.largest_squared_norm * 4.0**-GRID_BITS
        second = P if self.domain.radius is not None else math.sqrt(d * (d + 1) / 2)
        return np.array([1.0, math.sqrt(P), second])

    def _vector(self, scales: NoiseScales) -> IntArray:
        """Lay out the scale of every entry like ``to_units`` does; read-only, as rounds share it."""
        k, d = self.n_cells, self.domain.n_features
        lengths = [k, k * d, k * d, k * d * (d - 1) // 2]
        vector = np.repeat(np.array(astuple(scales), dtype=np.int64), lengths)
        vector.flags.writeable = False
        return vector
