"""The parameters of a mixture on their way to a release."""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.statistics import GRID_BITS, Domain, shrink_to_ball
from dpmorse.typing import BoolArray, FloatArray


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
