"""Starts of rounds: centres that do not depend on the data."""

import numpy as np
from scipy.spatial.distance import cdist

from dpmorse.typing import FloatArray

_BISECTIONS = 12
"""Steps of the search for the largest radius, which is found up to 2^-12 of the box's half-width."""

_PATIENCE = 100
"""Consecutive rejected points after which a radius counts as too large (Su et al. 2016)."""


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
    """Place uniform points one by one until all are placed or ``_PATIENCE`` in a row are rejected."""
    centres, placed, rejected = np.empty((n_centres, n_features)), 0, 0
    while placed < n_centres:
        tries = rng.uniform(radius - 1, 1 - radius, size=(_PATIENCE, n_features))
        free = np.all(cdist(tries, centres[:placed]) >= 2 * radius, axis=1)
        apart = cdist(tries, tries) >= 2 * radius
        for i in range(_PATIENCE):
            if free[i] and placed < n_centres:
                centres[placed], placed, rejected = tries[i], placed + 1, 0
                free &= apart[i]
            else:
                rejected += 1
            if rejected == _PATIENCE:
                return centres[:placed]
    return centres
