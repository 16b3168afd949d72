"""The parameters of a mixture, from starts that do not depend on the data to a release."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from dpmorse.densities import GaussianMixture
from dpmorse.statistics import GRID_BITS, Domain, shrink_to_ball
from dpmorse.typing import BoolArray, FloatArray

_BISECTIONS = 12
"""Steps of the search for the largest radius, which is found up to 2^-12 of the box's half-width."""

_PATIENCE = 100
"""Consecutive rejected points after which a radius counts as too large (Su et al. 2016)."""


@dataclass(frozen=True)
class Estimates:
    """A mixture, and which of its components the last release supports."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    supported: BoolArray

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def released_weights(self) -> FloatArray:
        """Weights with unsupported components at 0; all equal if the noise supports none."""
        weights = np.where(self.supported, self.weights, 0.0)
        total = weights.sum()
        return weights / total if total > 0 else np.full(weights.size, 1 / weights.size)

    def kept(self, at_least: int) -> "Estimates":
        """Drop unsupported components, but keep the heaviest ones that were asked for."""
        keep = self.supported.copy()
        keep[np.argsort(-self.weights)[:at_least]] = True
        weights = self.weights[keep] / self.weights[keep].sum()
        return Estimates(weights, self.means[keep], self.covariances[keep], self.supported[keep])

    def mixture(self, domain: Domain) -> GaussianMixture:
        """Return the mixture in the caller's units, these parameters being in those of a domain."""
        scaled = GaussianMixture(self.released_weights, self.means, self.covariances)
        return scaled.affine(domain.unit, domain.centre)


def project(means: FloatArray, domain: Domain) -> FloatArray:
    """Bring means into the box and the ball."""
    means = np.clip(means, -1.0, 1.0)
    radius = math.sqrt(domain.largest_squared_norm) * 2.0**-GRID_BITS
    return shrink_to_ball(means, radius)


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
