"""Many columns: the directions that records differ in, and components measured in these alone.

The noise of a covariance grows with the number of columns, and components in all of them drown in it. One
release of all second moments ("Analyze Gauss", Dwork, Talwar, Thakurta and Zhang 2014) shows the leading
directions. A start is found in the few that stand out from the noise, components are measured in as many as
their noise allows, and in all others they share one variance, so that those decide nothing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.components import (
    SMALLEST_VARIANCE,
    RoundsOfGaussians,
    noise_of_an_entry,
    radius_of_residuals,
)
from dpmorse.bases.staged.coreset import Start
from dpmorse.bases.staged.profile import Labelling
from dpmorse.bases.staged.units import OUTER, Units, radius_of_ball
from dpmorse.densities import GaussianMixture
from dpmorse.statistics import (
    FINE_GRID_BITS,
    MATRIX_BITS,
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    NoisyMoments,
    Projection,
)
from dpmorse.typing import FloatArray

_SHARES = MomentShares(count=0.01, sum=0.04, second_moment=0.95)
"""Shares of the stage's cost: it is about second moments, and their centre was released before."""

_RADIUS = 1.0
"""Records are shrunk to this length, times sqrt(D), the root mean square. About half of them are: they lose
length, not direction."""

_FOR_START = (8, 20)
"""The fewest and the most directions that the start is found in, of those that stand out from the noise."""

_LEAST_DIRECTIONS = 12
"""Smallest number of directions that components are measured in."""

_RELATIVE_NOISE = 0.35
"""Largest noise of a covariance entry, relative to a variance, with a component for each cluster and three
rounds: it says in how many directions components are measured."""

_ROUNDS = 3
"""Rounds that this noise is for."""

_BEYOND = 1.1
"""A direction stands out if its variance is this many times the edge of the noise above the others: that of
the noise itself varies by a few hundredths."""

_LEAST_BULK = 0.05
"""Smallest variance of the directions that do not stand out, as a part of the mean variance."""


@dataclass(frozen=True)
class Directions:
    """Directions in units of z, leading ones first, and how records spread along them."""

    whole: Units
    """Units of all columns."""

    vectors: FloatArray
    """Directions that components are measured in, one a row; orthonormal but for rounding."""

    variances: FloatArray
    """Variance of the records along each."""

    residual: float
    """Variance along every other direction."""

    n_seen: int
    """How many stand out from the noise."""

    @property
    def n_for_start(self) -> int:
        """Leading directions that the start is found in."""
        return min(int(np.clip(self.n_seen, *_FOR_START)), len(self.vectors))

    def units(self, n: int | None = None) -> Units:
        """Return the units of records that are projected on the first n directions: mean variance 1."""
        variances, outer = self.variances[:n], self.whole.widened(OUTER)
        scale, radius = self._scale(n), radius_of_ball(len(variances))
        domain = replace(self._projected(outer, radius * scale, n), radius=1.0)
        return Units(domain, radius, variances / scale**2, self.whole.n_records)

    def labelling(self, components: Estimates, units: Units) -> Labelling:
        """Return the rule of ``lift`` for records in the ball of some units, in these directions alone."""
        domain = replace(self._projected(units, units.radius), grid_bits=FINE_GRID_BITS)
        size = self._scale() / units.radius
        weights = np.maximum(components.weights, 1e-12)  # a component that was kept may have weight 0
        means, covariances = size * components.means, size**2 * components.covariances
        return Labelling(GaussianCells.from_mixture(weights, means, covariances, 1.0, FINE_GRID_BITS), domain)

    def _projected(self, units: Units, reach: float, n: int | None = None) -> Domain:
        """Return the box up to ``reach``, in units of z, around records in a ball that are projected."""
        projection = Projection(
            replace(units.domain, grid_bits=FINE_GRID_BITS), self.vectors[:n] * 2.0**MATRIX_BITS
        )
        # A record as long as the ball's radius has 2^20 steps before it is multiplied by 2^16.
        steps = reach * 2.0 ** (FINE_GRID_BITS + MATRIX_BITS) / units.radius
        half_width = np.full(len(projection.matrix), steps)
        return Domain(-half_width, half_width, projection=projection)

    def start(self, found: Start) -> Estimates:
        """Return components in all directions: where the start was not looked for, as wide as all records."""
        k, few = found.means.shape
        ratio = self._scale(few) / self._scale()
        means = np.zeros((k, len(self.vectors)))
        means[:, :few] = ratio * found.means
        variances = self.variances / self._scale() ** 2
        variances[:few] = max(ratio**2 * found.variance, SMALLEST_VARIANCE)
        covariances = np.tile(np.diag(variances), (k, 1, 1))
        return Estimates(np.full(k, 1 / k), means, covariances, np.ones(k, dtype=bool))

    def lift(self, components: Estimates) -> GaussianMixture:
        """Return the density in all columns, in the caller's units.

        With V the directions: means V^T m, covariances s^2 I + V^T (S - s^2 I) V, s^2 the residual variance.
        """
        scale, (q, d) = self._scale(), self.vectors.shape
        own = scale**2 * components.covariances - self.residual * np.eye(q)
        covariances = self.residual * np.eye(d) + self.vectors.T @ own @ self.vectors
        radius, domain = self.whole.radius, self.whole.domain
        means = scale * components.means @ self.vectors / radius
        covariances = (covariances + covariances.transpose(0, 2, 1)) / 2 / radius**2
        return GaussianMixture(components.weights, means, covariances).affine(domain.unit, domain.centre)

    def _scale(self, n: int | None = None) -> float:
        """Return what 1 in the units of the first n directions is in units of z."""
        return math.sqrt(float(self.variances[:n].mean()))


def release_directions(
    queries: Queries, units: Units, n_components: int, stage: Stage, for_components: Stage
) -> Directions:
    """Spend a stage on second moments of all records; choose directions by what it shows.

    ``n_components`` and the stage that pays for them say in how many directions they can be measured.
    """
    varying = units.variances > 0
    radius = _RADIUS * math.sqrt(int(varying.sum()))
    statistic = CellMoments(units.domain, 1, of_residuals=True)
    ball = GaussianCells.nearest(np.zeros((1, units.n_features)), radius / units.radius)
    scales = queries.calibrate(statistic, stage.cost, _SHARES)
    noisy = queries.moments(stage.step(), statistic, ball, scales)
    values, vectors, n_seen = _spectrum(noisy, radius, units)
    q = _n_measurable(queries, units, n_components, for_components, len(values))
    residual = float(values[q:].mean()) if q < len(values) else 1.0
    return Directions(
        units,
        np.rint(vectors[:, :q].T * 2.0**MATRIX_BITS) * 2.0**-MATRIX_BITS,
        values[:q],
        max(residual, SMALLEST_VARIANCE),
        n_seen,
    )


def _spectrum(noisy: NoisyMoments, radius: float, units: Units) -> tuple[FloatArray, FloatArray, int]:
    """Return variances and directions of the columns that vary, and how many stand out from the noise."""
    varying, n = units.variances > 0, units.n_records
    mean = noisy.sums[0] * radius / n
    scatter = noisy.second_moments[0] * radius**2 / n - np.outer(mean, mean)
    values, inner = np.linalg.eigh(scatter[np.ix_(varying, varying)])
    vectors = np.zeros((len(varying), len(values)))
    vectors[varying] = inner[:, ::-1]
    # Symmetric noise of this size off the diagonal has eigenvalues up to 2 sqrt(D) times it (Wigner).
    off_diagonal = noisy.second_moment_stddev / math.sqrt(2) * radius**2 / n
    denoised, n_seen = denoise(values[::-1], 2 * math.sqrt(len(values)) * off_diagonal)
    # Shrinking records to a ball took length from them: the released variances say how much there is.
    return denoised * float(units.variances.sum()) / denoised.sum(), vectors, n_seen


def denoise(values: FloatArray, edge: float) -> tuple[FloatArray, int]:
    """Return eigenvalues without the effect of symmetric noise, and how many stand out from it.

    Symmetric noise spreads a common eigenvalue b over [b - edge, b + edge] (Wigner's semicircle law), and
    moves a larger one, b + s with s > edge / 2, to b + s + edge^2 / (4 s) (Benaych-Georges and Nadakuditi,
    Advances in Mathematics 227, 2011). Eigenvalues above the semicircle are moved back by the inverse of this
    map; all others are replaced by their mean b. Which are above depends on b, so that both are computed in
    turn.
    """
    d = len(values)
    total = max(float(values.sum()), 1e-3 * d)
    bulk, excess = total / d, np.zeros(d)
    for _ in range(20):
        x = values - bulk
        excess = np.where(x > edge, (x + np.sqrt(np.maximum(x**2 - edge**2, 0.0))) / 2, 0.0)
        seen = excess > 0
        left = total - float((bulk + excess)[seen].sum())
        bulk = max(left / max(d - int(seen.sum()), 1), _LEAST_BULK * total / d)
    return bulk + excess, int((values - bulk > _BEYOND * edge).sum())


def _n_measurable(queries: Queries, units: Units, n_components: int, stage: Stage, n_columns: int) -> int:
    """Return in how many directions ``n_components`` can be measured, given the noise."""
    in_all = (
        noise_of_an_entry(queries, RoundsOfGaussians(units), stage)
        / radius_of_residuals(units.n_features) ** 2
    )
    noise = in_all * np.array([radius_of_residuals(q) ** 2 for q in range(1, n_columns + 1)])
    enough = int((noise * n_components * math.sqrt(_ROUNDS) <= _RELATIVE_NOISE).sum())
    return min(n_columns, max(_LEAST_DIRECTIONS, enough))
