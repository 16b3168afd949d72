"""What a released mixture lets one expect of the records that it labels: no data, no budget.

A record belongs to its most probable component alone. Where components overlap, the records of one are fewer,
more narrowly spread and elsewhere than the component says: its neighbours have the others. Labelling points
that are drawn from the mixture tells how many, where and how wide.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray

_POINTS = (50, 20_000)
"""The fewest points for each component, and the most of all where the fewest are not more."""

_VALUES = 1 << 28
"""Products of points, components and squared columns that may be spent: a second of work."""

_PRIOR = 2
"""Weight of the component's own mean and covariance, in points for each column, beside those of the points
that it labels: the covariance of few points is no coordinate system."""


@dataclass(frozen=True)
class Expected:
    """Share, mean and covariance of the records that each component labels."""

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray


def expected_records(partition: GaussianMixture, ball: Domain, rng: np.random.Generator) -> Expected:
    """Draw from a mixture, label the points as records are, and describe those of each component."""
    k, d = partition.n_components, partition.n_features
    most = min(_POINTS[1], _VALUES // (k * d * d))
    points, _ = partition.sample(max(_POINTS[0] * k, most), rng)
    labels = partition.labels(ball.clip(points))
    counts = np.bincount(labels, minlength=k).astype(np.float64)
    means, covariances = partition.means.copy(), partition.covariances.copy()
    for i in range(k):
        own = _PRIOR * d / (_PRIOR * d + counts[i])
        mine = points[labels == i] - partition.means[i]
        step = mine.sum(axis=0) / (_PRIOR * d + counts[i])
        squares = mine.T @ mine / (_PRIOR * d + counts[i])
        means[i] += step
        covariances[i] = own * covariances[i] + squares - np.outer(step, step)
    return Expected(counts / counts.sum(), means, covariances)
