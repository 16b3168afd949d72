"""Fourth stage: soft expectation-maximisation that measures each component in its own coordinates.

A round releases, for each component, the count and the first two moments of the records' residuals in
its whitened coordinates ``u = L_k^-1 (z - m_k)``. The noise is therefore relative to the component's own
size. Where the estimates of the last round are right, the moments are (0, I); deviations from (0, I) that are
no larger than the noise are shrunk to zero.
"""

import math
from collections.abc import Sized
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import maximise
from dpmorse.bases.staged.units import Units
from dpmorse.statistics import (
    LARGEST_N_CELLS,
    WEIGHT_BITS,
    CellMoments,
    GaussianCells,
    MomentShares,
    NoiseScales,
    NoisyMoments,
)
from dpmorse.typing import FloatArray

N_ROUNDS = (2, 10)
"""The fewest and the most rounds. Rounds share the budget: more of them converge further, each with more
noise."""

_SHARES = MomentShares(count=0.10, sum=0.35, second_moment=0.55)
"""Shares of a round's cost. Covariances get the most, because they have the most entries; counts the least,
because a count is a single number."""

_RADIUS = 1.5
"""Residuals are shrunk to at most this length, times sqrt(D), the root mean square length of a standard
normal vector. A larger ball clips fewer residuals and needs more noise."""

_MARGIN = 1.5
"""Residuals are shrunk to at most sqrt(D) plus this length. The length of a standard normal vector varies by
0.7 in any dimension, so this is about two standard deviations. It is the smaller limit in ten columns or
more; in 64 columns it lowers the noise of covariances by a third (CHANGELOG.md)."""

_RELATIVE_NOISE = 0.2
"""Largest noise of a covariance entry relative to a variance, and of a level's probability, in one round. The
number of rounds, and the number of components, are the largest that keep it; docs/default.md says on which
data it was chosen."""

_ROUNDS_TO_AFFORD = 3
"""The number of components is limited so that this many rounds keep ``_RELATIVE_NOISE``: with fewer rounds
the estimates would stay near their start."""

_OVER_RELAXATION = 1.5
"""Factor by which all steps but the last are lengthened. Expectation-maximisation converges slowly where
components overlap, and every round costs budget. The last step is plain, so that its noise is not
amplified."""

SMALLEST_VARIANCE = 0.002
"""Smallest eigenvalue of a covariance, in units of z, in which the mean variance of a column is 1. It bounds
the precision of components in nearly constant directions; other values were tried and not
kept (docs/default.md)."""

Components = TypeVar("Components", bound=Sized)


def start_at(means: FloatArray, variance: float) -> Estimates:
    """Return components of equal weight whose covariances are multiples of the identity."""
    k, d = means.shape
    covariances = np.tile(max(variance, SMALLEST_VARIANCE) * np.eye(d), (k, 1, 1))
    return Estimates(np.full(k, 1 / k), means, covariances, np.ones(k, dtype=bool))


class Rounds(Protocol[Components]):
    """What rounds ask about some kind of components, and what they make of the answers."""

    @property
    def shares(self) -> MomentShares:
        """Shares of a round's cost."""

    def statistic(self, n_components: int) -> CellMoments:
        """Return what a round releases."""

    def noise_of_an_entry(self, one: CellMoments, scales: NoiseScales) -> float:
        """Return the noise of a covariance entry, or of a probability, if there is a single component."""

    def cells(self, components: Components) -> GaussianCells:
        """Return the rule by which records belong to components, and have residuals."""

    def maximise(self, previous: Components, noisy: NoisyMoments, relaxation: float) -> Components:
        """Return the components estimated from a release."""


def release_components(
    queries: Queries, rounds: Rounds[Components], start: Components, stage: Stage
) -> Components:
    """Spend the budget of a stage on rounds of expectation-maximisation."""
    k = len(start)
    # With R rounds and K equal components the noise of an entry is sqrt(R) K times that of one round with one
    # component; solved for R at the tolerated noise. The limit 1e6 keeps `round` away from infinity.
    affordable = (_RELATIVE_NOISE / noise_of_an_entry(queries, rounds, stage) / k) ** 2
    n_rounds = int(np.clip(round(min(affordable, 1e6)), *N_ROUNDS))
    statistic = rounds.statistic(k)
    scales = queries.calibrate(statistic, stage.cost / n_rounds, rounds.shares)
    components = start
    for i in queries.rounds(n_rounds):
        cells, step = rounds.cells(components), stage.step("round", i, n_rounds)
        noisy = queries.moments(step, statistic, cells, scales, n_repeats=n_rounds - i)
        components = rounds.maximise(components, noisy, _OVER_RELAXATION if i < n_rounds else 1.0)
    return components


def measurable_n_components(queries: Queries, rounds: Rounds[Components], stage: Stage) -> int:
    """Return how many components of equal size can be measured in a few rounds, given the noise."""
    noise = noise_of_an_entry(queries, rounds, stage) * math.sqrt(_ROUNDS_TO_AFFORD)
    return int(min(_RELATIVE_NOISE / noise, LARGEST_N_CELLS))


def noise_of_an_entry(queries: Queries, rounds: Rounds[Components], stage: Stage) -> float:
    """Return the noise of a covariance entry, or of a probability, for one round with one component."""
    one = rounds.statistic(1)
    return rounds.noise_of_an_entry(one, queries.calibrate(one, stage.cost, rounds.shares))


@dataclass(frozen=True)
class RoundsOfGaussians:
    """Rounds that measure Gaussians of numbers, in these units."""

    units: Units
    shares: ClassVar[MomentShares] = _SHARES

    def statistic(self, n_components: int) -> CellMoments:
        """Return counts and two moments of residuals."""
        return CellMoments(self.units.domain, n_components, WEIGHT_BITS, of_residuals=True)

    def noise_of_an_entry(self, one: CellMoments, scales: NoiseScales) -> float:
        """Return the noise of a covariance entry, relative to 1."""
        squared_radius = radius_of_residuals(self.units.n_features) ** 2
        return squared_radius * scales.diagonal * 2.0**-one.unit_bits / self.units.n_records

    def cells(self, components: Estimates) -> GaussianCells:
        """Return the cells of the mixture, whose residuals are shrunk to their radius."""
        unit, radius = self.units.radius, radius_of_residuals(self.units.n_features)
        means, covariances = components.means / unit, components.covariances / unit**2
        return GaussianCells.from_mixture(components.weights, means, covariances, radius)

    def maximise(self, previous: Estimates, noisy: NoisyMoments, relaxation: float) -> Estimates:
        """Return the components estimated from a release; means stay in the ball."""
        radius = radius_of_residuals(self.units.n_features)
        return maximise(previous, noisy, self.units.project, radius, SMALLEST_VARIANCE, relaxation=relaxation)


def radius_of_residuals(n_features: int) -> float:
    """Return the length that residuals are shrunk to. The noise of sums is proportional to it.

    The length of a standard normal vector in D dimensions has a mean near sqrt(D) and a standard deviation of
    about 0.7, in any dimension.
    """
    return min(_RADIUS * math.sqrt(n_features), math.sqrt(n_features) + _MARGIN)
