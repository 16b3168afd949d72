"""Last stage: what the records of each component look like, measured where no small ball has cut them.

The other stages find components in a ball, which keeps their noise small, and which moves far records to its
surface. Here a record finds its component as in ``predict`` and is measured where it is:

1. counts of the lengths of residuals say how far the records of a component reach;
2. if some reach far beyond what their component says, count, mean and covariance at that reach give them new
   coordinates, and lengths are counted again;
3. count, sum and second moment of the residuals, shrunk to that reach.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import james_stein, shrink_to_identity
from dpmorse.densities import GaussianMixture
from dpmorse.privacy import ReleaseEvent
from dpmorse.profiles import SUPPORT, Profile
from dpmorse.statistics import (
    FINE_GRID_BITS,
    N_RADII,
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    NoisyMoments,
    ProfileCells,
    RadiusHistograms,
)
from dpmorse.typing import BoolArray, FloatArray, IntArray

_FIRST_RADII, _ZOOM, _RADII, _MOMENTS = 0.15, 0.20, 0.15, 0.50
"""Shares of the stage's cost; where no component needs a zoom, the moments get what it would have cost."""

_ZOOM_SHARES = MomentShares(count=0.2, sum=0.5, second_moment=0.3)
"""Shares of the first moments: where a component is matters most, for the coordinates that follow."""

_SHARES = MomentShares(count=0.2, sum=0.4, second_moment=0.4)
"""Shares of the moments that are published: centres and spreads alike, sizes are single numbers."""

_NEAR = 1.0
"""Standard deviations of noise above which counts of lengths are believed where they go on from the bin
below."""

_FAR = {1: 4.0, 2: 4.5, 3: 4.5, 4: 4.5}
"""The same for bins, and for runs of two to four of them, that stand alone: noise reaches that in none of 480
bins, nor of their runs, in 98 of 100 fits."""

_DISTORTED = 2.0
"""A component is given new coordinates if its records reach this many times further than normal ones do."""


@dataclass(frozen=True)
class _Look:
    """Coordinates of the components, and how far their records reach in them."""

    origins: FloatArray
    factors: FloatArray
    tails: FloatArray
    tail_stddev: float
    edges: FloatArray
    radii: FloatArray


def n_draws(n_components: int, n_features: int) -> int:
    """Return the most noise values of the stage: two counts of lengths, two sets of moments."""
    moments = 1 + n_features + n_features * (n_features + 1) // 2
    return 2 * n_components * (N_RADII + moments)


def release_profile(
    queries: Queries,
    partition: GaussianMixture,
    stage: Stage,
    *,
    ball: Domain,
    box: Domain,
    piled: BoolArray,
) -> tuple[Profile, GaussianMixture]:
    """Spend a stage on the profile of a partition; return it with the mixture, mended where it was cut.

    ``piled`` says which columns pile up at their bounds, by an earlier release.
    """
    ask = _Ask(queries, partition, replace(ball, grid_bits=FINE_GRID_BITS), box, stage)
    factors = np.linalg.cholesky(partition.covariances).astype(np.float64)
    look = ask.lengths("first lengths", partition.means, factors, _FIRST_RADII)
    share, distorted = 1 - _FIRST_RADII, look.radii > _DISTORTED * look.edges[0]
    if distorted.any():
        origins, factors, distorted = _zoomed(look, ask.moments("zoom", look, _ZOOM, _ZOOM_SHARES), distorted)
        look = ask.lengths("lengths", origins, factors, _RADII)
        share -= _ZOOM + _RADII
    noisy = ask.moments("moments", look, share, _SHARES)
    profile = _profile(look, noisy, box, piled)
    return profile, _mended(partition, profile, distorted)


@dataclass(frozen=True)
class _Ask:
    """The questions of this stage."""

    queries: Queries
    partition: GaussianMixture
    ball: Domain
    box: Domain
    stage: Stage

    def lengths(self, part: str, origins: FloatArray, factors: FloatArray, share: float) -> _Look:
        statistic = RadiusHistograms(self._cells(origins, factors, np.ones(len(origins))))
        counts, stddev = self.queries.histograms(self.stage.step(part), statistic, share * self.stage.cost)
        inner, tails, edges = counts[:, 0], counts[:, 1:], statistic.edges[1:]
        radii = np.maximum(_reach(tails, stddev, edges), _common_reach(tails, stddev, edges, self._noise()))
        missing = self.partition.weights * max(counts.sum(), 0.0) - inner
        radii = np.maximum(radii, _reach_of_missing(missing, inner, tails, stddev, edges))
        return _Look(origins, factors, tails, stddev, edges, radii)

    def moments(self, part: str, look: _Look, share: float, shares: MomentShares) -> NoisyMoments:
        statistic = CellMoments(self.box, len(look.origins), of_residuals=True)
        scales = self.queries.calibrate(statistic, share * self.stage.cost, shares)
        cells = self._cells(look.origins, look.factors, look.radii)
        return self.queries.moments(self.stage.step(part), statistic, cells, scales)

    def _noise(self) -> float:
        """Return the noise of a sum of squares where the radius is 1, over the columns."""
        statistic = CellMoments(self.box, self.partition.n_components, of_residuals=True)
        scales = self.queries.calibrate(statistic, _MOMENTS * self.stage.cost, _SHARES)
        return scales.diagonal * 2.0**-statistic.unit_bits * self.box.n_features

    def _cells(self, origins: FloatArray, factors: FloatArray, radii: FloatArray) -> ProfileCells:
        weights = np.maximum(self.partition.weights, 1e-12)  # a component that was kept may have weight 0
        units = np.full(len(origins), 1 / len(origins))
        covariances = factors @ factors.transpose(0, 2, 1)
        return ProfileCells(
            _cells_in(self.ball, weights, self.partition.means, self.partition.covariances),
            self.ball,
            _cells_in(self.box, units, origins, covariances, radii),
            self.box,
        )


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


def _reach(tails: FloatArray, stddev: float, edges: FloatArray) -> FloatArray:
    """Return the edge beyond which no count of lengths is believed."""
    ends: FloatArray = edges[np.minimum(_end_of_belief(tails, stddev), len(edges) - 1)]
    return ends


def _end_of_belief(tails: FloatArray, stddev: float) -> IntArray:
    """Return the number of bins after which counts may be noise, for each row."""
    end: IntArray = np.cumprod(tails > _NEAR * stddev, axis=1).sum(axis=1)
    for length, threshold in _FAR.items():
        far = _runs(tails, length) > threshold * stddev
        last = np.where(far.any(axis=1), far.shape[1] - far[:, ::-1].argmax(axis=1) + length - 1, 0)
        end = np.maximum(end, last)
    return end


def _runs(tails: FloatArray, length: int) -> FloatArray:
    """Return the sums of all runs of so many bins, in units of the noise of one bin."""
    before = np.concatenate([np.zeros((len(tails), 1)), np.cumsum(tails, axis=1)], axis=1)
    sums: FloatArray = (before[:, length:] - before[:, :-length]) / math.sqrt(length)
    return sums


def _reach_of_missing(
    missing: FloatArray, inner: FloatArray, tails: FloatArray, stddev: float, edges: FloatArray
) -> FloatArray:
    """Return how far to look for the records of components of which fewer than half are where they should be.

    Such records are somewhere, so that the run of one to three bins that stands out most is believed with
    less evidence than others need.
    """
    n_bins = tails.shape[1]
    best, end = np.zeros(len(tails)), np.zeros(len(tails), dtype=np.int64)
    for length in (1, 2, 3):
        runs = _runs(tails, length) / stddev
        first, highest = runs.argmax(axis=1), runs.max(axis=1)
        end = np.where(highest > best, first + length, end)
        best = np.maximum(best, highest)
    gone = (missing > SUPPORT * stddev) & (inner < missing) & (best > _LIKELY)
    reach: FloatArray = np.where(gone, edges[np.minimum(end, n_bins - 1)], 0.0)
    return reach


_LIKELY = 1.5
"""Standard deviations by which a run of bins must stand out where records are missing."""


def _common_reach(tails: FloatArray, stddev: float, edges: FloatArray, noise: float) -> float:
    """Return the edge at which noise and what is cut off, over all components together, are least.

    Where components are many and small, each hides a tail that may be noise, and all together do not.
    """
    n, squares, total = len(tails), edges**2, tails.sum(axis=0)
    end = _end_of_belief(total[None], stddev * math.sqrt(n))
    believed = np.where(np.arange(len(edges)) < end, np.maximum(total, 0.0), 0.0)
    beyond = np.maximum(math.sqrt(2) * squares - squares[:, None], 0.0)  # at the middle of each bin
    lost = beyond @ believed
    # Both for a cluster, taken as a quarter of the components and of the records.
    return float(edges[np.argmin((lost / 4) ** 2 + (squares * noise) ** 2 * n / 4)])


def _zoomed(
    look: _Look, noisy: NoisyMoments, distorted: BoolArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return coordinates with the mean and covariance that were found, for components that reach far."""
    distorted = distorted & (noisy.counts > SUPPORT * noisy.count_stddev)
    counts, radii = np.where(distorted, noisy.counts, 1.0), look.radii
    d = noisy.sums.shape[1]
    steps = noisy.sums * (radii / counts)[:, None]
    spread = noisy.second_moments * (radii**2 / counts)[:, None, None] - steps[:, :, None] * steps[:, None]
    step_noise = radii * noisy.sum_stddev / counts
    entry_noise = radii**2 * noisy.second_moment_stddev / counts
    origins, factors = look.origins.copy(), look.factors.copy()
    for k in np.flatnonzero(distorted):
        origins[k] += look.factors[k] @ steps[k]
        size = np.trace(spread[k]) / d
        # Units at least as wide as what is not known of the centre.
        floor = max(step_noise[k] ** 2, 1.0)
        if size > 2 * entry_noise[k] / np.sqrt(d):
            shape = shrink_to_identity(spread[k : k + 1] / size, entry_noise[k : k + 1] / size)[0]
            factors[k] = look.factors[k] @ np.linalg.cholesky(shape) * np.sqrt(max(size, floor))
        else:
            factors[k] = look.factors[k] * np.sqrt(max(floor, 0.5 * entry_noise[k] / np.sqrt(d)))
    return origins, factors, distorted


def _profile(look: _Look, noisy: NoisyMoments, box: Domain, piled: BoolArray) -> Profile:
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
    """Say whether a profile states the noise of the last lengths and moments that were paid for."""
    stated = [
        {"count": profile.tail_stddev},
        {
            "count": profile.count_stddev,
            "sum": profile.sum_stddev,
            "second moment": profile.second_moment_stddev,
        },
    ]
    return [dict(event.noise_stddev) for event in events[-2:]] == stated


def _mended_weights(partition: GaussianMixture, profile: Profile) -> FloatArray:
    """Return weights by the counts of the profile, shrunk towards those of the ball by their noise."""
    total = max(float(profile.counts.sum()), 1.0)
    expected = partition.weights * total
    difference = profile.counts - expected
    counts = expected + difference * james_stein(difference**2, np.full(1, profile.count_stddev**2))
    # Every component keeps a weight: labels refer to it.
    weights = np.maximum(counts, np.minimum(expected, 1.0))
    shares: FloatArray = weights / weights.sum()
    return shares


def _mended(partition: GaussianMixture, profile: Profile, distorted: BoolArray) -> GaussianMixture:
    """Return the mixture with weights of the profile, and its means and covariances where the ball cut."""
    weights = _mended_weights(partition, profile)
    mend = distorted & profile.supported()
    if not mend.any():
        return GaussianMixture(weights, partition.means, partition.covariances)
    counts = np.where(mend, profile.counts, 1.0)
    steps = profile.sums / counts[:, None]
    noise = steps.shape[1] * (profile.radii * profile.sum_stddev / counts) ** 2
    steps *= james_stein(np.square(steps).sum(axis=1), noise)[:, None]
    spread = profile.second_moments / counts[:, None, None] - steps[:, :, None] * steps[:, None]
    spread = shrink_to_identity(spread, profile.radii**2 * profile.second_moment_stddev / counts)
    means = profile.origins + np.einsum("kij,kj->ki", profile.factors, steps)
    means = np.clip(means, profile.lower, profile.upper)
    covariances = profile.factors @ spread @ profile.factors.transpose(0, 2, 1)
    covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
    return GaussianMixture(
        weights,
        np.where(mend[:, None], means, partition.means),
        np.where(mend[:, None, None], covariances, partition.covariances),
    )
