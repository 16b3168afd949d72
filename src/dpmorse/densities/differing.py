"""The directions in which the components of a mixture differ, and the mixture in these alone.

Components that were measured in a few directions share all others. In coordinates where the mean covariance
is I, such a density is a product: a mixture in the few, one normal distribution in the rest. Memberships,
modes, saddles and differences of f are those of the mixture in the few, at a fraction of the work.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpmorse.densities.mixture import GaussianMixture
from dpmorse.typing import FloatArray

# With this many columns or fewer the work is small, and no common directions are looked for.
_FEW_COLUMNS = 32

# Largest difference of components in a direction that counts as shared, relative to the direction in which
# they differ most. Rounding leaves less than a thousandth of this.
_SAME = 1e-9


@dataclass(frozen=True)
class DifferingPart:
    """A mixture in coordinates y of the directions in which its components differ.

    ``origin + axes y`` is the point of the whole space with coordinates y, at the mean of all other
    directions; f there is f of ``mixture`` at y plus ``height``.
    """

    mixture: GaussianMixture
    origin: FloatArray
    axes: FloatArray
    height: float

    def lift(self, points: FloatArray) -> FloatArray:
        """Return points in the space of the whole mixture."""
        return self.origin + points @ self.axes.T


def differing_part(mixture: GaussianMixture) -> DifferingPart | None:
    """Return the part in which components differ; None if they do everywhere, or columns are few."""
    if mixture.n_features <= _FEW_COLUMNS:
        return None
    # The Cholesky factor of the mean covariance, by its correlations, as units may differ by much.
    mean = np.einsum("k,kij->ij", mixture.weights, mixture.covariances)
    scale = np.sqrt(np.diagonal(mean))
    factor: FloatArray = scale[:, None] * np.linalg.cholesky(mean / scale[:, None] / scale)
    origin, identity = mixture.weights @ mixture.means, np.eye(len(factor))
    whiten = solve_triangular(factor, identity, lower=True)
    means, covariances = (mixture.means - origin) @ whiten.T, whiten @ mixture.covariances @ whiten.T
    differences = covariances - identity
    squares = means.T @ means + np.einsum("kij,kjl->il", differences, differences, optimize=True)
    _, vectors = np.linalg.eigh(squares)
    # The differences along each direction are computed anew: eigenvalues are squares, and lose small ones.
    sizes = np.square(means @ vectors).sum(axis=0) + np.square(differences @ vectors).sum(axis=(0, 1))
    few = vectors[:, np.sqrt(sizes) > _SAME * math.sqrt(float(sizes.max()))]
    n_shared = mixture.n_features - few.shape[1]
    if not n_shared or not few.shape[1]:
        return None
    part = GaussianMixture(mixture.weights, means @ few, few.T @ covariances @ few)
    height = np.log(np.diagonal(factor)).sum() + n_shared / 2 * math.log(2 * math.pi)
    return DifferingPart(part, origin, factor @ few, float(height))
