"""Directions in which the components of a table with categories differ, with categories turned into numbers.

Valleys and saddles exist in a space of numbers only. Each level of a category becomes a vector of that space,
and a component then has a mean and a covariance in all columns, of numbers and categories alike.
"""

import numpy as np
from scipy.linalg import eigh

from dpmorse.schema import Layout
from dpmorse.typing import FloatArray

SMALLEST_GINI = 0.02
"""Bound of the weight of a category that hardly varies: its rare levels would outweigh all other columns."""

_WITHIN_FLOOR = 1e-3
"""Added to the variance within components, which is 0 for a level that a component never has."""


def record_means(means: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return the mean record ``[numbers | levels]`` of each component."""
    return np.hstack([means, probabilities])


def record_covariances(covariances: FloatArray, probabilities: FloatArray, layout: Layout) -> FloatArray:
    """Return the covariance of the record ``[numbers | levels]`` of each component."""
    k, d = covariances.shape[:2]
    records = np.zeros((k, d + layout.n_all_levels, d + layout.n_all_levels))
    records[:, :d, :d] = covariances
    for own in layout.levels:
        p, place = probabilities[:, own], slice(d + own.start, d + own.stop)
        # One level of a category excludes all others of it.
        records[:, place, place] = p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]
    return records


def record_units(scale: FloatArray, marginals: FloatArray, layout: Layout) -> FloatArray:
    """Return factors of the entries of ``[numbers | levels]`` that make columns weigh alike.

    The levels of a category get its Gini index ``1 - sum p^2`` to the power -1/2: its total variance is 1.
    """
    ginis = [max(1 - np.square(marginals[own]).sum(), SMALLEST_GINI) for own in layout.levels]
    return np.concatenate([1 / scale, np.repeat(np.power(ginis, -0.5), layout.n_levels)])


def discriminants(weights: FloatArray, means: FloatArray, covariances: FloatArray, most: int) -> FloatArray:
    """Return the directions, one a row, that best tell components apart.

    In them, the variance between components is largest where that within them is 1. K components lie in K - 1
    directions; the first is returned in any case, since a density needs a space.
    """
    centred = means - weights @ means
    between = (centred.T * weights) @ centred
    within = np.einsum("k,kij->ij", weights, covariances) + _WITHIN_FLOOR * np.eye(means.shape[1])
    n = max(1, min(most, len(weights) - 1, means.shape[1]))
    _, vectors = eigh(between, within, subset_by_index=(means.shape[1] - n, means.shape[1] - 1))
    directions: FloatArray = vectors[:, ::-1].T  # eigenvalues come in ascending order
    return directions
