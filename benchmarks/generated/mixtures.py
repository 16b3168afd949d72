"""Classes made of Gaussians: easy and hard, equal and unequal, with noise around them."""

import numpy as np

from benchmarks.generated.draws import Labelled, Rng, draw_pieces, draw_stretches
from dpmorse.datasets import NOISE, make_blobs
from dpmorse.datasets.draws import draw_centres, draw_labels, draw_shares
from dpmorse.typing import FloatArray


def make_elongated(
    n_samples: int, *, n_features: int, n_clusters: int, separation: float, stretch: float, random_state: Rng
) -> Labelled:
    """Gaussians with covariances of their own, whose axes differ by factors up to ``stretch``."""
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 4.0, rng), rng)
    centres = draw_centres(n_clusters, n_features, separation, rng)
    maps = draw_stretches(n_clusters, n_features, stretch, rng)
    return draw_pieces(y, centres, maps, rng), y


def make_unbalanced(
    n_samples: int, *, n_features: int, n_clusters: int, n_heavy: int, separation: float, random_state: Rng
) -> Labelled:
    """Round Gaussians: ``n_heavy`` heavy ones first, and several rare ones, of 1 to 5 % each."""
    rng = random_state
    rare_shares = rng.uniform(0.01, 0.05, n_clusters - n_heavy)
    shares = np.concatenate([(1 - rare_shares.sum()) * draw_shares(n_heavy, 8.0, rng), rare_shares])
    y = draw_labels(n_samples, shares, rng)
    centres = draw_centres(n_clusters, n_features, separation, rng)
    return centres[y] + rng.standard_normal((n_samples, n_features)), y


def make_dominant(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    share: float,
    n_pieces: int,
    separation: float,
    random_state: Rng,
) -> Labelled:
    """Class 0 has most records in overlapping pieces, two classes are medium, and the others tiny.

    ``share`` is that of class 0, which ``n_pieces`` elongated Gaussians make up. A tiny class has between
    0.1 and 1 %.
    """
    rng, d, k = random_state, n_features, n_clusters
    centres = draw_centres(k, d, separation, rng)
    # The pieces of class 0 are closer to each other than classes are, so that they overlap.
    around = centres[0] + draw_centres(n_pieces, d, separation / 2, rng)
    y = draw_labels(n_samples, _dominant_shares(k, share, rng), rng)
    piece = np.where(y == 0, rng.integers(0, n_pieces, n_samples), y + n_pieces - 1)
    maps = draw_stretches(n_pieces + k - 1, d, 3.0, rng)
    return draw_pieces(piece, np.vstack([around, centres[1:]]), maps, rng), y


def make_concentric(
    n_samples: int, *, n_features: int, n_clusters: int, ratio: float, random_state: Rng
) -> Labelled:
    """Gaussians with one centre; standard deviations grow by the factor ``ratio`` from class to class."""
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 8.0, rng), rng)
    return (ratio**y)[:, None] * rng.standard_normal((n_samples, n_features)), y


def make_multiscale(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    n_subclusters: int,
    ratio: float,
    fine: bool,
    random_state: Rng,
) -> Labelled:
    """Clusters of ``n_subclusters`` clusters each; the classes are the inner ones if ``fine``.

    ``ratio`` is the distance of outer neighbours over the distance of inner ones, which is 4 deviations.
    """
    rng, d, k = random_state, n_features, n_clusters
    coarse = draw_centres(k, d, 4.0 * ratio, rng)
    centres = np.vstack([centre + draw_centres(n_subclusters, d, 4.0, rng) for centre in coarse])
    piece = draw_labels(n_samples, draw_shares(k * n_subclusters, 6.0, rng), rng)
    X = centres[piece] + rng.standard_normal((n_samples, d))
    return X, piece if fine else piece // n_subclusters


def make_background(
    n_samples: int, *, n_features: int, n_clusters: int, share: float, separation: float, random_state: Rng
) -> Labelled:
    """Gaussian blobs in uniform noise, a ``share`` of the records that is labelled -1."""
    rng = random_state
    X, y = make_blobs(
        n_samples, n_features=n_features, n_clusters=n_clusters, separation=separation, random_state=rng
    )
    noise = rng.random(y.size) < share
    noise[np.unique(y, return_index=True)[1]] = False  # every class keeps a record
    low, high = X.min(axis=0), X.max(axis=0)
    X[noise] = rng.uniform(low, high, (int(noise.sum()), n_features))
    return X, np.where(noise, NOISE, y)


def _dominant_shares(k: int, share: float, rng: Rng) -> FloatArray:
    tiny = rng.uniform(0.001, 0.01, k - 3)
    tiny *= min(1.0, 0.5 * (1 - share) / max(tiny.sum(), 1e-9))  # they never crowd out the medium ones
    medium = (1 - share - tiny.sum()) * draw_shares(2, 8.0, rng)
    return np.concatenate([[share], medium, tiny])
