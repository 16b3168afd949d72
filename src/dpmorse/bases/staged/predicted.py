"""What a released mixture lets one expect of the records that it labels: no data, no budget.

A record belongs to its most probable component alone. Where components overlap, the records of one are fewer,
more narrowly spread and elsewhere than the component says: its neighbours have the others. Labelling points
that are drawn from the mixture tells how many, and where they lie in every column.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, IntArray

_POINTS = (200, 4000)
"""Fewest and most points that are drawn from each component."""

_VALUES = 1 << 28
"""Products of points, components and squared columns: more points than the fewest are drawn up to this."""

_LEAST_LABELLED = 50
"""Points that a component must label; of one that labels fewer its own points are looked at."""

N_STEPS = 48
"""Steps of the curves: many numbers divide it, so that bins of equal parts end at points of a curve."""


@dataclass(frozen=True)
class Predicted:
    """What is expected of the records that each component labels.

    Attributes
    ----------
    shares : ndarray of shape (n_components,)
        Parts of all records.
    curves : ndarray of shape (n_components, n_numbers, N_STEPS + 1)
        Values of each number at equal steps of its distribution function.
    levels : ndarray of shape (n_components, n_all_levels)
        Parts of the records with each level.
    """

    shares: FloatArray
    curves: FloatArray
    levels: FloatArray


def predict_records(
    partition: GaussianMixture | ProductMixture, ball: Domain, rng: np.random.Generator
) -> Predicted:
    """Draw as many points from each component, label them as records are, and describe what each labels."""
    k, d = partition.means.shape
    per = int(np.clip(_VALUES // (k * k * max(d, 1) ** 2), *_POINTS))
    records, drawn = _equally(partition, per, rng)
    labels, numbers = partition.labels(ball.clip(records)), partition.numbers_of(records)
    levels = (
        records[:, partition.layout.level_part] if isinstance(partition, ProductMixture) else records[:, :0]
    )
    weights = partition.weights[drawn] / per
    shares, curves = np.zeros(k), np.zeros((k, d, N_STEPS + 1))
    of_levels = np.zeros((k, levels.shape[1]))
    for i in range(k):
        own = np.flatnonzero(labels == i)
        shares[i] = weights[own].sum()
        if len(own) < _LEAST_LABELLED or not shares[i]:
            own = np.flatnonzero(drawn == i)
        parts = weights[own] if weights[own].any() else np.ones(len(own))
        parts = parts / parts.sum()
        curves[i] = _curves(numbers[own], parts)
        of_levels[i] = parts @ levels[own]
    shares = np.maximum(shares, 1e-12)
    return Predicted(shares / shares.sum(), curves, of_levels)


def _equally(
    mixture: GaussianMixture | ProductMixture, per: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw about ``per`` points from each component, whatever its weight."""
    k = mixture.n_components
    equal: GaussianMixture | ProductMixture = replace(mixture, weights=np.full(k, 1 / k))
    return equal.sample(per * k, rng)


def _curves(values: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the quantiles of weighted values at equal steps, column by column."""
    steps = np.linspace(0, 1, N_STEPS + 1)
    found = np.empty((values.shape[1], N_STEPS + 1))
    for j, column in enumerate(values.T):
        order = np.argsort(column)
        below = np.cumsum(parts[order]) - parts[order] / 2
        found[j] = np.interp(steps, below, column[order])
    return found
