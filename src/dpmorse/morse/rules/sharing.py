"""Records that components share, estimated from a fixed sample of the mixture."""

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.typing import FloatArray, IntArray

# Covariances of hard cells are too small, because each component is estimated from records of its own cell
# only. This factor undoes the truncation on average (docs/morse.md, "Which merge rule").
_INFLATION = 1.5

# Pairs of opposite points in the sample of the whole mixture, so that time does not grow with the number of
# components; and the fewest and the most of them for one component.
_SAMPLES, _SAMPLES_PER_COMPONENT = 4000, (20, 500)

# Memberships that are held in memory at a time: 8 MB of doubles.
_CHUNK_VALUES = 1 << 20


def shared_records(mixture: GaussianMixture, components: IntArray) -> FloatArray:
    """Return Q_ab = E[w_a w_b] between these components, under the inflated mixture.

    Every component is sampled with the same normal numbers and their negatives, and counts by its
    weight: the result does not depend on the order of components.
    """
    inflated = GaussianMixture(mixture.weights, mixture.means, _INFLATION * mixture.covariances)
    n = int(np.clip(_SAMPLES // len(components), *_SAMPLES_PER_COMPONENT))
    normal = np.random.default_rng(0).standard_normal((n, mixture.n_features))
    normal = np.vstack([normal, -normal])
    spreads = np.linalg.cholesky(inflated.covariances).swapaxes(1, 2)
    shared = np.zeros((len(components), len(components)))
    n_chunks = -(-2 * n * len(components) * mixture.n_components // _CHUNK_VALUES)
    for some in np.array_split(components, n_chunks):
        points = inflated.means[some, None] + normal @ spreads[some]
        memberships = inflated.responsibilities(points.reshape(-1, mixture.n_features))[:, components]
        each = np.repeat(inflated.weights[some] / len(normal), len(normal))
        shared += (memberships * each[:, None]).T @ memberships
    return shared
