"""Classes that look like tables and sensors: skewed, discrete, heavy-tailed, boxed, autocorrelated."""

import numpy as np
from scipy.signal import lfilter

from benchmarks.generated.draws import Labelled, Rng, draw_pieces, draw_rotation, draw_stretches
from dpmorse.datasets.draws import draw_centres, draw_labels, draw_shares, with_nuisance
from dpmorse.typing import FloatArray


def make_subclasses(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    n_subclasses: int,
    n_nuisance: int,
    separation: float,
    tail: float,
    random_state: Rng,
) -> Labelled:
    """Classes of ``n_subclasses`` stretched Student pieces each, scattered among each other.

    ``tail`` is the degrees of freedom of the pieces. The last ``n_nuisance`` columns tell nothing of the
    class.
    """
    rng, d, pieces = random_state, n_features - n_nuisance, n_clusters * n_subclasses
    centres = draw_centres(pieces, d, separation, rng)
    maps = draw_stretches(pieces, d, 3.0, rng)
    piece = draw_labels(n_samples, draw_shares(pieces, 3.0, rng), rng)
    X = draw_pieces(piece, centres, maps, rng, tail=tail)
    return with_nuisance(X, n_nuisance, rng), piece % n_clusters


def make_skewed(
    n_samples: int, *, n_features: int, n_clusters: int, separation: float, skewness: float, random_state: Rng
) -> Labelled:
    """Positive columns, log-normal and gamma in turn, of scales from 1 to 1000.

    ``skewness`` is the standard deviation of the logarithm of a column within a class; ``separation`` is
    measured in it.
    """
    rng, size = random_state, (n_samples, n_features)
    y = draw_labels(n_samples, draw_shares(n_clusters, 4.0, rng), rng)
    medians = np.exp(skewness * draw_centres(n_clusters, n_features, separation, rng))[y]
    # A gamma variable of shape 1 / s^2 has a logarithm of deviation about s, as the log-normal one.
    X = medians * np.exp(skewness * rng.standard_normal(size))
    X[:, 1::2] = medians[:, 1::2] * rng.gamma(skewness**-2, skewness**2, (n_samples, n_features // 2))
    return X * rng.permutation(np.geomspace(1.0, 1000.0, n_features)), y


def make_discrete(
    n_samples: int, *, n_features: int, n_clusters: int, contrast: float, random_state: Rng
) -> Labelled:
    """Counts, yes-or-no columns, multiples of 0.5 and continuous columns, in turn.

    ``contrast`` is the standard deviation, among classes, of the logarithm of a rate, the logit of a yes and
    the location of the other columns, which have a deviation of 1 within a class.
    """
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 6.0, rng), rng)
    location = (contrast * rng.standard_normal((n_clusters, n_features)))[y]
    X = location + rng.standard_normal((n_samples, n_features))
    X[:, 0::4] = rng.poisson(3.0 * np.exp(location[:, 0::4]))
    X[:, 1::4] = rng.random(X[:, 1::4].shape) < 1 / (1 + np.exp(-2 * location[:, 1::4]))
    X[:, 2::4] = np.rint(2 * X[:, 2::4]) / 2
    return X, y


def make_slab(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    separation: float,
    width: float,
    tail: float,
    random_state: Rng,
) -> Labelled:
    """Classes that differ along one thin, heavy-tailed column among wide ones that tell nothing of them.

    ``separation`` is the distance of neighbours in the thin column in scales of its Student noise, which has
    ``tail`` degrees of freedom; ``width`` is the standard deviation of the other columns.
    """
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 8.0, rng), rng)
    X = width * rng.standard_normal((n_samples, n_features))
    noise = rng.standard_t(tail, n_samples)
    X[:, rng.integers(n_features)] = separation * y + noise
    return X, y


def make_boxes(
    n_samples: int, *, n_features: int, n_clusters: int, gap: float, random_state: Rng
) -> Labelled:
    """Uniform cuboids of different sizes and densities that together fill the unit cube.

    ``gap`` is the share of every side of a cuboid that is left empty; near 0 the cuboids touch.
    """
    rng = random_state
    low, high = _split_cube(n_clusters, n_features, rng)
    y = draw_labels(n_samples, draw_shares(n_clusters, 3.0, rng), rng)
    empty = 0.5 * gap
    return low[y] + (high - low)[y] * rng.uniform(empty, 1 - empty, (n_samples, n_features)), y


def make_trajectory(
    n_samples: int, *, n_features: int, n_clusters: int, contrast: float, memory: float, random_state: Rng
) -> Labelled:
    """Autocorrelated sensors, class after class: they differ in covariance, hardly in mean.

    ``contrast`` is the factor by which standard deviations differ among classes and directions, at most;
    ``memory`` the correlation of consecutive records of a class.
    """
    rng, d = random_state, n_features
    y = np.sort(draw_labels(n_samples, draw_shares(n_clusters, 20.0, rng), rng))
    loudness = contrast ** rng.uniform(-0.5, 0.5, n_clusters)
    parts = []
    for label in range(n_clusters):
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
