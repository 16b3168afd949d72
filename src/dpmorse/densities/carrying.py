"""Points moved along with their component, from one mixture to another with the same components."""

import numpy as np

from dpmorse.densities.mixture import GaussianMixture
from dpmorse.typing import FloatArray


def carried(points: FloatArray, before: GaussianMixture, after: GaussianMixture) -> FloatArray:
    """Return points moved with their most probable component.

    A point keeps its coordinates in units of the component's standard deviations. Points of components that
    are the same in both mixtures stay as they are.
    """
    moved = points.copy()
    labels = np.argmax(before.responsibilities(points), axis=1) if len(points) else np.empty(0, np.intp)
    changed = np.any(before.means != after.means, axis=1)
    changed |= np.any(before.covariances != after.covariances, axis=(1, 2))
    for k in np.flatnonzero(changed):
        mine = labels == k
        coordinates = (points[mine] - before.means[k]) @ before.whiteners[k].T
        moved[mine] = after.means[k] + coordinates @ np.linalg.cholesky(after.covariances[k]).T
    return moved
