"""Generators of simple shapes: blobs that a straight cut separates, and moons and rings that none does.

In all of them ``n_samples``, ``n_features`` and ``n_clusters`` are the numbers of records, columns and
classes, and a record X[i] belongs to class y[i], one of 0, ..., n_clusters - 1. ``random_state`` is a seed, a
NumPy Generator, a RandomState, or None for a source that differs in every call.
"""

from typing import Any

import numpy as np

from dpmorse._validate import positive_real
from dpmorse.datasets.draws import (
    check_sizes,
    draw_centres,
    draw_labels,
    draw_shares,
    generator,
    plane_or_more,
    with_nuisance,
)
from dpmorse.typing import FloatArray, IntArray

Labelled = tuple[FloatArray, IntArray]
"""Records and their classes."""


def make_blobs(
    n_samples: int = 10_000,
    *,
    n_features: int = 4,
    n_clusters: int = 6,
    separation: float = 4.0,
    spread_ratio: float = 4.0,
    random_state: Any = None,
) -> Labelled:
    """Round Gaussians of unequal spread and weight.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    separation : float
        Median distance of a centre to its nearest neighbour, where a typical standard deviation is 1.
    spread_ratio : float
        Largest standard deviation over the smallest, at most.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X, y : ndarrays of shapes (n_samples, n_features) and (n_samples,)
        Records and their classes.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 4.0, rng), rng)
    spreads = positive_real(spread_ratio=spread_ratio) ** rng.uniform(-0.5, 0.5, k)
    centres = draw_centres(k, d, positive_real(separation=separation), rng)
    return centres[y] + spreads[y, None] * rng.standard_normal((n, d)), y


def make_moons(
    n_samples: int = 10_000, *, n_features: int = 2, noise: float = 0.1, random_state: Any = None
) -> Labelled:
    """Two interleaved half circles of radius 1 in the first two columns; the others tell nothing of them.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of records and columns; at least 2 columns.
    noise : float
        Standard deviation around the half circles.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0 and 1.
    """
    n, d, k = check_sizes(n_samples, plane_or_more(n_features, "Moons are flat."), 2)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 20.0, rng), rng)
    angle = np.pi * (rng.random(n) + y)
    X = np.column_stack([np.cos(angle) + y, np.sin(angle) + 0.5 * y])
    X += positive_real(noise=noise) * rng.standard_normal((n, 2))
    return with_nuisance(X, d - 2, rng), y


def make_rings(
    n_samples: int = 10_000,
    *,
    n_features: int = 2,
    n_clusters: int = 3,
    noise: float = 0.15,
    random_state: Any = None,
) -> Labelled:
    """Spheres of radius 1, 2, 3, ... around one centre: circles in two columns, shells in more.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns (at least 2) and classes.
    noise : float
        Standard deviation of every coordinate around the spheres.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X, y : ndarrays
        As those of ``make_blobs``; classes are counted from the innermost.
    """
    columns = plane_or_more(n_features, "A ring needs a plane.")
    n, d, k = check_sizes(n_samples, columns, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    direction = rng.standard_normal((n, d))
    X = (y + 1.0)[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return X + positive_real(noise=noise) * rng.standard_normal((n, d)), y
