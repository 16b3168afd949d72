"""Last stage: what the records of each component look like, measured where no small ball has cut them.

The other stages find components in a ball, which keeps their noise small and moves far records to its
surface. Here a record finds its component as in ``predict`` and is measured where it is, in coordinates in
which the records of its component are expected to have mean 0 and covariance I:

1. counts of the lengths of residuals say how far the records of a component reach;
2. count, sum and second moment of the residuals, shrunk to that reach.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.expected import Expected, expected_records
from dpmorse.densities import GaussianMixture, james_stein
from dpmorse.privacy import ReleaseEvent
from dpmorse.profiles import Guess, Profile
from dpmorse.statistics import (
    FINE_GRID_BITS,
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    NoiseScales,
    NoisyMoments,
    ProfileCells,
    RadiusHistograms,
)
from dpmorse.typing import BoolArray, FloatArray, IntArray

LENGTHS, MOMENTS = 0.2, 0.8
"""Shares of the stage's cost."""

SHARES = MomentShares(count=0.2, sum=0.4, second_moment=0.4)
"""Shares of the moments that are published: centres and spreads alike, sizes are single numbers."""

_NEAR = 1.0
"""Standard deviations of noise above which counts of lengths are believed where they go on from the bin
below."""

_FAR = {1: 4.0, 2: 4.5, 3: 4.5, 4: 4.5}
"""The same for bins, and for runs of two to four of them, that stand alone: noise reaches that in none of 480
bins, nor of their runs, in 98 of 100 fits."""


@dataclass(frozen=True)
class Look:
    """Coordinates of the components, and how far their records reach in them."""

    origins: FloatArray
    factors: FloatArray
    tails: FloatArray
    tail_stddev: float
    edges: FloatArray
    radii: FloatArray


@dataclass(frozen=True)
class Labelling:
    """How a record finds its component: a rule, and the domain that it is clipped to for it."""

    cells: GaussianCells
    domain: Domain

    @classmethod
    def of(cls, partition: GaussianMixture, ball: Domain) -> "Labelling":
        """Label as ``predict`` does, by a mixture in the caller's units."""
        fine = replace(ball, grid_bits=FINE_GRID_BITS)
        weights = np.maximum(partition.weights, 1e-12)  # a component that was kept may have weight 0
        return cls(_cells_in(fine, weights, partition.means, partition.covariances), fine)


def release_profile(
    queries: Queries,
    partition: GaussianMixture,
    labelling: Labelling,
    stage: Stage,
    rng: np.random.Generator,
    *,
    ball: Domain,
    box: Domain,
    piled: BoolArray,
) -> tuple[Profile, GaussianMixture]:
    """Spend a stage on the profile of a partition; return it with the mixture that it describes.

    ``labelling`` is that of the partition for records clipped to ``ball``; ``piled`` says which columns pile
    up at their bounds, by an earlier release.
    """
    expected = expected_records(partition, ball, rng)
    fine, n_components = replace(box, grid_bits=FINE_GRID_BITS), len(expected.means)

    def cells(radii: FloatArray) -> ProfileCells:
        equal = np.full(n_components, 1 / n_components)
        units = _cells_in(fine, equal, expected.means, expected.covariances, radii)
        return ProfileCells(labelling.cells, labelling.domain, units, fine)

    statistic = CellMoments(fine, n_components, of_residuals=True)
    ask = Questions(queries, stage, expected, statistic, SHARES, cells)
    look = ask.lengths()
    profile = profile_of(look, ask.moments(look), box, piled)
    return profile, _mended(partition, expected, profile)


@dataclass(frozen=True)
class Questions:
    """The two questions of this stage, about numbers alone or about all columns of a table."""

    queries: Queries
    stage: Stage
    expected: Expected
    statistic: CellMoments
    shares: MomentShares
    cells: Callable[[FloatArray], ProfileCells]
    """What labels and measures a record, for given radii of the components."""

    @property
    def scales(self) -> NoiseScales:
        """The noise of the moments."""
        return self.queries.calibrate(self.statistic, MOMENTS * self.stage.cost, self.shares)

    def lengths(self) -> Look:
        """Count lengths of residuals; return how far the records of each component reach."""
        factors = np.linalg.cholesky(self.expected.covariances).astype(np.float64)
        # The noise of a sum of squares, over the numbers, where the radius is 1.
        noise = self.scales.diagonal * 2.0**-self.statistic.unit_bits * factors.shape[1]
        statistic = RadiusHistograms(self.cells(np.ones(len(factors))), n_coordinates=factors.shape[1])
        step, cost = self.stage.step("lengths"), LENGTHS * self.stage.cost
        counts, stddev = self.queries.histograms(step, statistic, cost)
        tails, edges = counts[:, 1:], statistic.edges[1:]
        own = edges[np.minimum(_end_of_belief(tails, stddev), len(edges) - 1)]
        radii = np.maximum(own, _common_reach(tails, stddev, edges, own, noise))
        return Look(self.expected.means, factors, tails, stddev, edges, radii)

    def moments(self, look: Look) -> NoisyMoments:
        """Release the moments of residuals, shrunk to that reach."""
        step, cells = self.stage.step("moments"), self.cells(look.radii)
        return self.queries.moments(step, self.statistic, cells, self.scales)


def _cells_in(
    domain: Domain,
    weights: FloatArray,
    means: FloatArray,
    covariances: FloatArray,
    radii: FloatArray | float = 1.0,
) -> GaussianCells:
    """Return cells of a mixture in the caller's units, for records on the fine grid of a domain."""
    scaled = covariances / domain.unit[:, None] / domain.unit
    means = (means - domain.centre) / domain.unit
    return GaussianCells.from_mixture(weights, means, scaled, radii, FINE_GRID_BITS)


def _end_of_belief(tails: FloatArray, stddev: float) -> IntArray:
    """Return the number of bins after which counts may be noise, for each row."""
    end: IntArray = np.cumprod(tails > _NEAR * stddev, axis=1).sum(axis=1)
    before = np.concatenate([np.zeros((len(tails), 1)), np.cumsum(tails, axis=1)], axis=1)
    for length, threshold in _FAR.items():
        # Sums of all runs of this many bins, in units of the noise of one bin.
        runs = (before[:, length:] - before[:, :-length]) / math.sqrt(length)
        far = runs > threshold * stddev
        last = np.where(far.any(axis=1), far.shape[1] - far[:, ::-1].argmax(axis=1) + length - 1, 0)
        end = np.maximum(end, last)
    return end


def _common_reach(
    tails: FloatArray, stddev: float, edges: FloatArray, own: FloatArray, noise: float
) -> float:
    """Return the edge at which noise and what is cut off, over all components together, are least.

    Where components are many and small, each hides a tail that may be noise, and all together do not. Only
    what lies beyond each component's own reach is looked at, and it is believed where it stands out.
    """
    n, squares, hidden = len(tails), edges**2, edges >= own[:, None]
    total = np.where(hidden, tails, 0.0).sum(axis=0)
    end = _end_of_belief((total / np.sqrt(np.maximum(hidden.sum(axis=0), 1)))[None], stddev)
    believed = np.where(np.arange(len(edges)) < end, np.maximum(total, 0.0), 0.0)
    beyond = np.maximum(math.sqrt(2) * squares - squares[:, None], 0.0)  # at the middle of each bin
    lost = beyond @ believed
    # Both for a cluster, taken as a quarter of the components and of the records.
    return float(edges[np.argmin((lost / 4) ** 2 + (squares * noise) ** 2 * n / 4)])


def profile_of(look: Look, noisy: NoisyMoments, box: Domain, piled: BoolArray) -> Profile:
    """Return released moments in the units of the coordinates, with what was known before them."""
    return Profile(
        counts=noisy.counts,
        sums=noisy.sums * look.radii[:, None],
        second_moments=noisy.second_moments * look.radii[:, None, None] ** 2,
        tails=look.tails,
        edges=look.edges,
        origins=look.origins,
        factors=look.factors,
        radii=look.radii,
        lower=box.lower,
        upper=box.upper,
        piled=piled.astype(np.float64),
        count_stddev=noisy.count_stddev,
        sum_stddev=noisy.sum_stddev,
        second_moment_stddev=noisy.second_moment_stddev,
        tail_stddev=look.tail_stddev,
    )


def has_noise_of(profile: Profile, events: Sequence[ReleaseEvent]) -> bool:
    """Say whether a profile states the noise of the lengths and moments that were paid for."""
    stated = [
        {"count": profile.tail_stddev},
        {
            "count": profile.count_stddev,
            "sum": profile.sum_stddev,
            "second moment": profile.second_moment_stddev,
        },
    ]
    return [dict(event.noise_stddev) for event in events] == stated


def _mended(partition: GaussianMixture, expected: Expected, profile: Profile) -> GaussianMixture:
    """Return the partition changed by what the profile found to differ from what was expected.

    A component keeps its covariance L L^T where its records spread as expected; where they spread by S in
    these units, it has L S L^T.
    """
    guess = Guess.of(profile)
    factors = np.linalg.cholesky(partition.covariances)
    steps = np.einsum("kij,kj->ki", profile.factors, guess.steps)
    means = np.clip(partition.means + steps, profile.lower, profile.upper)
    covariances = factors @ guess.spreads @ factors.transpose(0, 2, 1)
    covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
    # Weights differ as the counts of the profile do, shrunk by their noise.
    total = max(float(profile.counts.sum()), 1.0)
    difference = profile.counts - expected.shares * total
    difference *= james_stein(difference**2, np.full(1, profile.count_stddev**2))
    before = partition.weights * total
    # Every component keeps a weight: labels refer to it.
    weights = np.maximum(before + difference, np.minimum(before, 1.0))
    return GaussianMixture(weights / weights.sum(), means, covariances)
