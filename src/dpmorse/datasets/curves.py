"""Generators of bent classes: moons, rings, spirals, worms and sheets, which no straight cut separates."""

from typing import Any

import numpy as np

from dpmorse._validate import positive_int, positive_real
from dpmorse.datasets._draws import (
    Rng,
    check_sizes,
    draw_centres,
    draw_labels,
    draw_shares,
    generator,
    plane_or_more,
    with_nuisance,
)
from dpmorse.datasets.mixtures import Labelled
from dpmorse.typing import FloatArray

_STEPS = 200  # corners of a worm's backbone


def make_moons(
    n_samples: int = 10_000, *, n_features: int = 2, noise: float = 0.1, random_state: Any = None
) -> Labelled:
    """Two interleaved half circles of radius 1 in the first two columns; the others are nuisance.

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
        Numbers of records, columns and classes; at least 2 columns.
    noise : float
        Standard deviation of every coordinate around the spheres.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, from the innermost.
    """
    columns = plane_or_more(n_features, "A ring needs a plane.")
    n, d, k = check_sizes(n_samples, columns, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    direction = rng.standard_normal((n, d))
    X = (y + 1.0)[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return X + positive_real(noise=noise) * rng.standard_normal((n, d)), y


def make_spirals(
    n_samples: int = 10_000,
    *,
    n_features: int = 2,
    n_clusters: int = 3,
    turns: float = 1.0,
    noise: float = 0.05,
    random_state: Any = None,
) -> Labelled:
    """Arms of one spiral galaxy, from radius 0.2 to radius 1; further columns are nuisance.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and arms; at least 2 columns.
    turns : float
        How often an arm winds around the centre.
    noise : float
        Standard deviation around the arms.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1, counter-clockwise.
    """
    columns = plane_or_more(n_features, "A spiral is flat.")
    n, d, k = check_sizes(n_samples, columns, n_clusters)
    rng = generator(random_state)
    y = draw_labels(n, draw_shares(k, 20.0, rng), rng)
    radius = np.sqrt(rng.uniform(0.04, 1.0, n))  # a longer way lies further out
    angle = 2 * np.pi * (y / k + positive_real(turns=turns) * radius)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += positive_real(noise=noise) * rng.standard_normal((n, 2))
    return with_nuisance(X, d - 2, rng), y


def make_worms(
    n_samples: int = 10_000,
    *,
    n_features: int = 2,
    n_clusters: int = 12,
    room: float = 0.6,
    radius: float = 0.1,
    bend: float = 1.0,
    random_state: Any = None,
) -> Labelled:
    """Tubes of length 1 around curved random walks that begin near each other.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and worms.
    room : float
        Median distance between the beginnings of a worm and its nearest neighbour.
    radius : float
        Standard deviation around the backbone, as a distance, so in all columns together.
    bend : float
        How far, in radians, a backbone typically turns along its length.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    rng, bend = generator(random_state), positive_real(bend=bend)
    starts = draw_centres(k, d, positive_real(room=room), rng)
    backbones = np.stack([start + _backbone(d, bend, rng) for start in starts])
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    X = backbones[y, rng.integers(0, _STEPS, n)]
    return X + positive_real(radius=radius) / np.sqrt(d) * rng.standard_normal((n, d)), y


def make_manifold(
    n_samples: int = 10_000,
    *,
    n_features: int = 32,
    n_clusters: int = 8,
    dimension: int = 3,
    curvature: float = 1.0,
    noise: float = 0.1,
    random_state: Any = None,
) -> Labelled:
    """Curved sheets of few dimensions, one per class, in many columns: as images of things are.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Numbers of records, columns and classes.
    dimension : int
        Number of parameters of a sheet.
    curvature : float
        Frequency of the waves a sheet is made of; below 0.3 it is almost flat.
    noise : float
        Standard deviation around the sheet, where a coordinate of the sheet varies by about 1.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0, ..., n_clusters - 1.
    """
    n, d, k = check_sizes(n_samples, n_features, n_clusters)
    q, rng = positive_int(dimension=dimension), generator(random_state)
    curvature = positive_real(curvature=curvature)
    y = draw_labels(n, draw_shares(k, 8.0, rng), rng)
    X = positive_real(noise=noise) * rng.standard_normal((n, d))
    for label in range(k):
        mine = y == label
        X[mine] += _sheet(rng.standard_normal((int(mine.sum()), q)), d, curvature, rng)
    return X, y


def _backbone(d: int, bend: float, rng: Rng) -> FloatArray:
    """A walk of length 1 whose direction drifts, as points of shape (_STEPS, d)."""
    drift = np.cumsum(rng.standard_normal((_STEPS, d)), axis=0) * (bend / np.sqrt(_STEPS * max(1, d - 1)))
    first = rng.standard_normal(d)
    direction = first / np.linalg.norm(first) + drift
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return np.cumsum(direction, axis=0) / _STEPS


def _sheet(parameters: FloatArray, d: int, curvature: float, rng: Rng) -> FloatArray:
    """A smooth random map to d columns, applied to parameters of shape (n, q): a sum of 4 q waves."""
    waves = 4 * parameters.shape[1]
    frequencies = curvature * rng.standard_normal((parameters.shape[1], waves))
    phases = rng.uniform(0, 2 * np.pi, waves)
    mixing = rng.standard_normal((waves, d)) * np.sqrt(2 / waves)
    return np.asarray(np.sin(parameters @ frequencies + phases) @ mixing)
