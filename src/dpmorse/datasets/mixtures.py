"""Generators of classes made of Gaussians: easy and hard, equal and unequal, with noise around them."""

from typing import Any

import numpy as np

from dpmorse._validate import boolean, open_unit_interval, positive_int, positive_real
from dpmorse.datasets._draws import (
    Rng,
    check_sizes,
    draw_centres,
    draw_labels,
    draw_pieces,
    draw_shares,
    draw_stretches,
    generator,
)
from dpmorse.datasets.labelled import NOISE
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import FloatArray, IntArray

Labelled = tuple[FloatArray, IntArray]


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
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 4.0, rng), rng)
    spreads = positive_real(spread_ratio=spread_ratio) ** rng.uniform(-0.5, 0.5, k)
    return _round_gaussians(y, d, spreads, positive_real(separation=separation), rng), y


def make_elongated(
    n_samples: int = 10_000,
    *,
    n_features: int = 4,
    n_clusters: int = 5,
    separation: float = 4.0,
    stretch: float = 8.0,
    random_state: Any = None,
) -> Labelled:
    """Gaussians with covariances of their own, turned at random.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    separation : float
        Median distance of a centre to its nearest neighbour; a typical standard deviation is 1.
    stretch : float
        Longest axis of a class over its shortest, at most.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 4.0, rng), rng)
    centres = draw_centres(k, d, positive_real(separation=separation), rng)
    maps = draw_stretches(k, d, positive_real(stretch=stretch), rng)
    return draw_pieces(y, centres, maps, rng), y


def make_unbalanced(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    n_clusters: int = 7,
    n_heavy: int = 3,
    separation: float = 5.0,
    random_state: Any = None,
) -> Labelled:
    """A few heavy Gaussians and several rare ones, of 1 to 5 % each.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    n_heavy : int
        How many classes are heavy; the others, at most 15, are rare.
    separation : float
        Median distance of a centre to its nearest neighbour; every standard deviation is 1.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, the heavy ones first.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    heavy = positive_int(n_heavy=n_heavy, at_most=k, hint="No more classes are heavy than there are.")
    positive_int(n_clusters=k, at_most=heavy + 15, hint="More rare classes would leave none heavy.")
    rng = generator(random_state)
    rare_shares = rng.uniform(0.01, 0.05, k - heavy)
    shares = np.concatenate([(1 - rare_shares.sum()) * draw_shares(heavy, 8.0, rng), rare_shares])
    y = draw_labels(n, shares, rng)
    return _round_gaussians(y, d, np.ones(k), positive_real(separation=separation), rng), y


def make_dominant(
    n_samples: int = 10_000,
    *,
    n_features: int = 6,
    n_clusters: int = 6,
    share: float = 0.8,
    n_pieces: int = 4,
    separation: float = 4.0,
    random_state: Any = None,
) -> Labelled:
    """One class of most records in overlapping pieces, two medium classes, and tiny ones.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes; at least 3 classes.
    share : float
        Share of the dominant class. A tiny class has between 0.1 and 1 %.
    n_pieces : int
        Number of elongated Gaussians that make up the dominant class.
    separation : float
        Median distance of a centre to its nearest neighbour; a typical standard deviation is 1.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes: 0 dominates, 1 and 2 are medium, the others tiny.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    if k < 3:
        raise InvalidParameterError(f"n_clusters must be >= 3, got {k}. One dominates, two are medium.")
    pieces, rng = positive_int(n_pieces=n_pieces), generator(random_state)
    separation = positive_real(separation=separation)
    centres = draw_centres(k, d, separation, rng)
    # The pieces of class 0 are closer to each other than classes are, so that they overlap.
    around = centres[0] + draw_centres(pieces, d, separation / 2, rng)
    y = draw_labels(n, _dominant_shares(k, open_unit_interval(share=share), rng), rng)
    piece = np.where(y == 0, rng.integers(0, pieces, n), y + pieces - 1)
    maps = draw_stretches(pieces + k - 1, d, 3.0, rng)
    return draw_pieces(piece, np.vstack([around, centres[1:]]), maps, rng), y


def make_concentric(
    n_samples: int = 10_000,
    *,
    n_features: int = 6,
    n_clusters: int = 3,
    ratio: float = 3.0,
    random_state: Any = None,
) -> Labelled:
    """Gaussians with one centre and spreads that grow by a factor from class to class.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    ratio : float
        Factor between the standard deviations of a class and the one inside it.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, from the innermost.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    scales = positive_real(ratio=ratio) ** y
    return scales[:, None] * rng.standard_normal((n, d)), y


def make_multiscale(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    n_clusters: int = 4,
    n_subclusters: int = 4,
    ratio: float = 4.0,
    fine: bool = False,
    random_state: Any = None,
) -> Labelled:
    """Clusters of clusters, labelled at the coarse or at the fine level.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and coarse clusters.
    n_subclusters : int
        Number of fine clusters in each coarse one.
    ratio : float
        Distance of coarse neighbours over the distance of fine ones; the latter is 4 deviations.
    fine : bool
        Whether the classes are the fine clusters; otherwise the coarse ones.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    many, rng = positive_int(n_subclusters=n_subclusters), generator(random_state)
    coarse = draw_centres(k, d, 4.0 * positive_real(ratio=ratio), rng)
    centres = np.vstack([centre + draw_centres(many, d, 4.0, rng) for centre in coarse])
    check_sizes(n, d, k * many)
    piece = draw_labels(n, draw_shares(k * many, 6.0, rng), rng)
    X = centres[piece] + rng.standard_normal((n, d))
    return X, piece if boolean(fine=fine) else piece // many


def make_background(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    n_clusters: int = 5,
    share: float = 0.15,
    separation: float = 6.0,
    random_state: Any = None,
) -> Labelled:
    """Gaussian blobs in uniform noise, which is labelled -1.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    share : float
        Share of the noise.
    separation : float
        Median distance of a centre to its nearest neighbour, where a typical standard deviation is 1.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, and -1 for noise.
    """
    rng = generator(random_state)
    sizes = check_sizes(n_samples, n_features, n_clusters)
    X, y = make_blobs(
        sizes[0], n_features=sizes[1], n_clusters=sizes[2], separation=separation, random_state=rng
    )
    noise = rng.random(y.size) < open_unit_interval(share=share)
    noise[np.unique(y, return_index=True)[1]] = False  # every class keeps a record
    low, high = X.min(axis=0), X.max(axis=0)
    X[noise] = rng.uniform(low, high, (int(noise.sum()), sizes[1]))
    return X, np.where(noise, NOISE, y)


def _round_gaussians(y: IntArray, d: int, spreads: FloatArray, separation: float, rng: Rng) -> FloatArray:
    centres = draw_centres(spreads.size, d, separation, rng)
    return centres[y] + spreads[y, None] * rng.standard_normal((y.size, d))


def _dominant_shares(k: int, share: float, rng: Rng) -> FloatArray:
    tiny = rng.uniform(0.001, 0.01, k - 3)
    tiny *= min(1.0, 0.5 * (1 - share) / max(tiny.sum(), 1e-9))  # they never crowd out the medium ones
    medium = (1 - share - tiny.sum()) * draw_shares(2, 8.0, rng)
    return np.concatenate([[share], medium, tiny])
