"""Starting centres that owe nothing to the data."""

import numpy as np

from dpmorse.typing import FloatArray

_BISECTIONS = 20
_PATIENCE = 100  # consecutive rejections that count as failure


def packed_centres(n_centres: int, n_features: int, rng: np.random.Generator) -> FloatArray:
    """Spread points in [-1, 1]^D: at least 2a apart and a from every face, ``a`` as large as it goes.

    The radius ``a`` is found by bisection; a radius fails when 100 uniform points in a row are too close
    to those already placed (after Su et al. 2016).
    """
    largest, smallest = 1.0, 0.0
    placed = _place(n_centres, n_features, 0.0, rng)
    for _ in range(_BISECTIONS):
        radius = (largest + smallest) / 2
        centres = _place(n_centres, n_features, radius, rng)
        if len(centres) == n_centres:
            placed, smallest = centres, radius
        else:
            largest = radius
    return placed


def _place(n_centres: int, n_features: int, radius: float, rng: np.random.Generator) -> FloatArray:
    """Place centres one after the other until all are placed or patience runs out."""
    centres = np.empty((0, n_features))
    while len(centres) < n_centres:
        tries = rng.uniform(radius - 1, 1 - radius, size=(_PATIENCE, n_features))
        gaps = ((tries[:, None, :] - centres) ** 2).sum(axis=2)
        free = np.flatnonzero(np.all(gaps >= (2 * radius) ** 2, axis=1))
        if free.size == 0:
            return centres
        centres = np.vstack([centres, tries[free[0]]])
    return centres
