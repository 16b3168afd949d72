"""Bent classes: spirals, worms and sheets, which no straight cut separates."""

import numpy as np

from benchmarks.generated.draws import Labelled, Rng
from dpmorse.datasets.draws import draw_centres, draw_labels, draw_shares, with_nuisance
from dpmorse.typing import FloatArray

_STEPS = 200
"""Corners of a worm's backbone: enough that a tube of its width looks smooth."""


def make_spirals(
    n_samples: int, *, n_features: int, n_clusters: int, turns: float, noise: float, random_state: Rng
) -> Labelled:
    """Arms of one spiral galaxy, from radius 0.2 to radius 1; further columns tell nothing of them.

    An arm winds around the centre ``turns`` times, with standard deviation ``noise`` around its line. Classes
    are counted counter-clockwise.
    """
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 20.0, rng), rng)
    radius = np.sqrt(rng.uniform(0.04, 1.0, n_samples))  # an arm is longer further out
    angle = 2 * np.pi * (y / n_clusters + turns * radius)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += noise * rng.standard_normal((n_samples, 2))
    return with_nuisance(X, n_features - 2, rng), y


def make_worms(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    room: float,
    radius: float,
    bend: float,
    random_state: Rng,
) -> Labelled:
    """Tubes of length 1 around curved random walks that begin near each other.

    ``room`` is the median distance of the beginning of a worm to the nearest other one, ``radius`` the
    standard deviation around the backbone in all columns together, and ``bend`` the angle, in radians, by
    which a backbone typically turns along its length.
    """
    rng, d = random_state, n_features
    starts = draw_centres(n_clusters, d, room, rng)
    backbones = np.stack([start + _backbone(d, bend, rng) for start in starts])
    y = draw_labels(n_samples, draw_shares(n_clusters, 8.0, rng), rng)
    X = backbones[y, rng.integers(0, _STEPS, n_samples)]
    return X + radius / np.sqrt(d) * rng.standard_normal((n_samples, d)), y


def make_manifold(
    n_samples: int,
    *,
    n_features: int,
    n_clusters: int,
    dimension: int,
    curvature: float,
    noise: float,
    random_state: Rng,
) -> Labelled:
    """Curved sheets of few dimensions, one per class, in many columns: as images of things are.

    A sheet has ``dimension`` parameters and is made of waves of frequency ``curvature``: below 0.3 it is
    almost flat. A coordinate of it varies by about 1, with standard deviation ``noise`` around it.
    """
    rng = random_state
    y = draw_labels(n_samples, draw_shares(n_clusters, 8.0, rng), rng)
    X = noise * rng.standard_normal((n_samples, n_features))
    for label in range(n_clusters):
        mine = y == label
        parameters = rng.standard_normal((int(mine.sum()), dimension))
        X[mine] += _sheet(parameters, n_features, curvature, rng)
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
