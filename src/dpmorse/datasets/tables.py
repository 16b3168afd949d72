"""Generators that look like tables and sensors: skewed, discrete, heavy-tailed, boxed, autocorrelated."""

from typing import Any

import numpy as np
from scipy.signal import lfilter

from dpmorse._validate import open_unit_interval, positive_int, positive_real
from dpmorse.datasets._draws import (
    Rng,
    check_sizes,
    draw_centres,
    draw_labels,
    draw_pieces,
    draw_rotation,
    draw_shares,
    draw_stretches,
    generator,
    with_nuisance,
)
from dpmorse.datasets.mixtures import Labelled
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import FloatArray


def make_subclasses(
    n_samples: int = 10_000,
    *,
    n_features: int = 8,
    n_clusters: int = 3,
    n_subclasses: int = 3,
    n_nuisance: int = 2,
    separation: float = 4.0,
    tail: float = 4.0,
    random_state: Any = None,
) -> Labelled:
    """Classes of several stretched Student pieces each, scattered among each other, and nuisance.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    n_subclasses : int
        Number of pieces of a class.
    n_nuisance : int
        How many of the columns say nothing; fewer than n_features.
    separation : float
        Median distance of a piece to its nearest neighbour, of the same class or not.
    tail : float
        Degrees of freedom of the Student pieces.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    if not 0 <= n_nuisance < d:
        raise InvalidParameterError(f"n_nuisance must be between 0 and {d - 1}, got {n_nuisance}.")
    pieces, rng = k * positive_int(n_subclasses=n_subclasses), generator(random_state)
    check_sizes(n, d, pieces)
    centres = draw_centres(pieces, d - n_nuisance, positive_real(separation=separation), rng)
    maps = draw_stretches(pieces, d - n_nuisance, 3.0, rng)
    piece = draw_labels(n, draw_shares(pieces, 3.0, rng), rng)
    X = draw_pieces(piece, centres, maps, rng, tail=positive_real(tail=tail))
    return with_nuisance(X, n_nuisance, rng), piece % k


def make_skewed(
    n_samples: int = 10_000,
    *,
    n_features: int = 6,
    n_clusters: int = 3,
    separation: float = 3.0,
    skewness: float = 0.6,
    random_state: Any = None,
) -> Labelled:
    """Log-normal and gamma columns in turn, of scales from 1 to 1000.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    separation : float
        Median distance of a class to its nearest neighbour in standard deviations of the logarithms.
    skewness : float
        Standard deviation of the logarithm of a column within a class.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Positive.
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng, width = generator(random_state), positive_real(skewness=skewness)
    y = draw_labels(n, draw_shares(k, 4.0, rng), rng)
    medians = np.exp(width * draw_centres(k, d, positive_real(separation=separation), rng))[y]
    # A gamma variable of shape 1 / s^2 has a logarithm of deviation about s, as the log-normal one.
    X = medians * np.exp(width * rng.standard_normal((n, d)))
    X[:, 1::2] = medians[:, 1::2] * rng.gamma(width**-2, width**2, (n, d // 2))
    return X * rng.permutation(np.geomspace(1.0, 1000.0, d)), y


def make_discrete(
    n_samples: int = 10_000,
    *,
    n_features: int = 8,
    n_clusters: int = 3,
    contrast: float = 1.0,
    random_state: Any = None,
) -> Labelled:
    """Counts, yes-or-no columns, rounded columns and continuous ones, in turn.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    contrast : float
        Standard deviation, among classes, of the logarithm of a rate, the logit of a yes and the
        location of the other columns, which have a deviation of 1 within a class.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Columns 0, 4, ... are counts, 1, 5, ... are 0 or 1, 2, 6, ... are multiples of 0.5.
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 6.0, rng), rng)
    location = (positive_real(contrast=contrast) * rng.standard_normal((k, d)))[y]
    X = location + rng.standard_normal((n, d))
    X[:, 0::4] = rng.poisson(3.0 * np.exp(location[:, 0::4]))
    X[:, 1::4] = rng.random(X[:, 1::4].shape) < 1 / (1 + np.exp(-2 * location[:, 1::4]))
    X[:, 2::4] = np.rint(2 * X[:, 2::4]) / 2
    return X, y


def make_slab(
    n_samples: int = 10_000,
    *,
    n_features: int = 6,
    n_clusters: int = 2,
    separation: float = 5.0,
    width: float = 10.0,
    tail: float = 3.0,
    random_state: Any = None,
) -> Labelled:
    """Classes that differ along one thin, heavy-tailed column among wide ones that say nothing.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    separation : float
        Distance of neighbouring classes in the thin column, in scales of its Student noise.
    width : float
        Standard deviation of the other columns.
    tail : float
        Degrees of freedom of the Student noise.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, in the order of the thin column.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    X = positive_real(width=width) * rng.standard_normal((n, d))
    noise = rng.standard_t(positive_real(tail=tail), n)
    X[:, rng.integers(d)] = positive_real(separation=separation) * y + noise
    return X, y


def make_boxes(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    n_clusters: int = 6,
    gap: float = 0.05,
    random_state: Any = None,
) -> Labelled:
    """Uniform cuboids of different sizes and densities that together fill the unit cube.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    gap : float
        Share of every side of a cuboid that is left empty; near 0 the cuboids touch.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        In the unit cube.
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    low, high = _split_cube(k, d, rng)
    y = draw_labels(n, draw_shares(k, 3.0, rng), rng)
    empty = 0.5 * open_unit_interval(gap=gap)
    return low[y] + (high - low)[y] * rng.uniform(empty, 1 - empty, (n, d)), y


def make_trajectory(
    n_samples: int = 10_000,
    *,
    n_features: int = 8,
    n_clusters: int = 5,
    contrast: float = 4.0,
    memory: float = 0.9,
    random_state: Any = None,
) -> Labelled:
    """Autocorrelated sensors: classes differ in covariance, hardly in mean, and follow each other.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    contrast : float
        Factor by which standard deviations differ among classes and directions, at most.
    memory : float
        Correlation of consecutive records of a class.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        In the order of time: class after class.
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng, contrast = generator(random_state), positive_real(contrast=contrast)
    memory = open_unit_interval(memory=memory)
    y = np.sort(draw_labels(n, draw_shares(k, 20.0, rng), rng))
    loudness = contrast ** rng.uniform(-0.5, 0.5, k)
    parts = []
    for label in range(k):
        axes = loudness[label] * contrast ** rng.uniform(-0.5, 0.5, d)
        walk = _stationary_walk(int(np.sum(y == label)), d, memory, rng)
        parts.append(0.1 * rng.standard_normal(d) + (walk * axes) @ draw_rotation(d, rng))
    return np.vstack(parts), y


def _split_cube(k: int, d: int, rng: Rng) -> tuple[FloatArray, FloatArray]:
    """Cut the unit cube into k cuboids: each cut halves, more or less, the largest along a random side."""
    low, high = np.zeros((1, d)), np.ones((1, d))
    while len(low) < k:
        largest, side = int(np.argmax(np.prod(high - low, axis=1))), rng.integers(d)
        cut = low[largest, side] + rng.uniform(0.3, 0.7) * (high - low)[largest, side]
        low, high = np.vstack([low, low[largest]]), np.vstack([high, high[largest]])
        high[largest, side] = low[-1, side] = cut
    return low, high


def _stationary_walk(n: int, d: int, memory: float, rng: Rng) -> FloatArray:
    """An autoregressive series of shape (n, d) whose every entry is standard Gaussian."""
    innovations = rng.standard_normal((n, d))
    innovations[1:] *= np.sqrt(1 - memory**2)
    return np.asarray(lfilter([1.0], [1.0, -memory], innovations, axis=0))
