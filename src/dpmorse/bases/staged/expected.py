"""What a released mixture lets one expect of the records that it labels: no data, no budget.

A record belongs to its most probable component alone. Where components overlap, the records of one are fewer,
more narrowly spread and elsewhere than the component says: its neighbours have the others. Labelling points
that are drawn from the mixture tells how many, where and how wide.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture, ProductMixture, rows_of_each
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray

_POINTS = (50, 20_000)
"""Points for each component at least, and of all at most where that is more."""

_VALUES = 1 << 28
"""Products of points, components and squared columns: more points than the fewest are drawn up to this."""

_PRIOR = 2
"""Weight of the component's own mean and covariance, in points for each column, beside those of the points
that it labels: the covariance of few points is no coordinate system."""


@dataclass(frozen=True)
class Expected:
    """Share, mean and covariance of the records that each component labels."""

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray


def expected_records(
    partition: GaussianMixture | ProductMixture, ball: Domain, rng: np.random.Generator
) -> Expected:
    """Draw from a mixture, label the points as records are, and describe the numbers of each component."""
    k, d = partition.means.shape
    most = min(_POINTS[1], _VALUES // (k * d * d))
    records, drawn = partition.sample(max(_POINTS[0] * k, most), rng)
    labels, points = partition.labels(ball.clip(records)), partition.numbers_of(records)
    changed = np.bincount(labels, minlength=k) - np.bincount(drawn, minlength=k)
    shares = np.maximum(partition.weights + changed / len(points), 0.0)
    means, covariances = partition.means.copy(), partition.covariances.copy()
    all_labelled, all_drawn = rows_of_each(labels, k), rows_of_each(drawn, k)
    for i, (labelled, own_drawn) in enumerate(zip(all_labelled, all_drawn, strict=True)):
        gained = points[labelled[drawn[labelled] != i]] - partition.means[i]
        lost = points[own_drawn[labels[own_drawn] != i]] - partition.means[i]
        own = partition.weights[i] * len(points)
        # Where a component labels nearly all of its own points, and hardly others, gains and losses are added
        # to what is known of it: where components do not overlap there are none, and nothing is left to
        # chance. What is lost must be safely less than there is: the largest eigenvalue of the squares of n
        # normal points is about (sqrt n + sqrt d)^2.
        few_move = len(gained) + len(lost) < own / 10
        if not (few_move and (math.sqrt(len(lost)) + math.sqrt(d)) ** 2 < own / 2):
            own, gained, lost = _PRIOR * d, points[labelled] - partition.means[i], lost[:0]
        # The moments of ``own`` points with mean 0, others that are added and some taken away.
        n = own + len(gained) - len(lost)
        step = (gained.sum(axis=0) - lost.sum(axis=0)) / n
        squares = (own * covariances[i] + gained.T @ gained - lost.T @ lost) / n
        covariances[i] = squares - np.outer(step, step)
        means[i] += step
    return Expected(shares / shares.sum(), means, covariances)
