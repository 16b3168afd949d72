"""k-means on points that were released, or drawn from released values.

Our own, because a fit of scikit-learn's on a few thousand points spends most of its time on its way to the
compiled code, ten starts one after the other.
"""

import math
from typing import NamedTuple

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.bases._kernels import lloyd, seed
from dpmorse.typing import FloatArray, IntArray

SHORT, _LONG = 12, 300
"""Iterations after which starts are compared, and the most of the start that goes on."""

_TOLERANCE = 1e-4
"""Centres have arrived when their squared steps add up to this part of the mean variance of a column."""


class Partition(NamedTuple):
    """What k-means found: centres, the centre of each point, and the weighted sum of squared distances."""

    centres: FloatArray
    labels: IntArray
    inertia: float


def k_means(
    points: FloatArray,
    n_clusters: int,
    n_init: int,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
    *,
    most: int = _LONG,
) -> Partition:
    """Cluster points from several starts, of which only the best after a few iterations goes on.

    Starts are those of k-means++, with as many candidates for each centre as in scikit-learn. The best start
    goes on for at most ``most`` iterations.
    """
    if not (len(points) and np.isfinite(points).all()):
        raise ValueError("k-means needs points, and all of them finite.")
    n, n_features = points.shape
    middle = points.mean(axis=0)
    inside = points - middle
    tolerance = _TOLERANCE * float(inside.var(axis=0).mean())
    # One column after the other, around 0, padded with zeros to whole groups of four.
    columns = np.zeros((n_features + -n_features % 4, n))
    columns[:n_features] = inside.T
    masses = np.ones(n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    # Drawn for all starts before any of them runs, so that results do not depend on the number of cores.
    uniforms = rng.random((n_init, n_clusters, 2 + int(math.log(n_clusters))))
    starts = np.zeros((n_init, n_clusters + -n_clusters % 4, len(columns)))
    found = np.zeros(n_init)

    def improve(centres: FloatArray, most: int) -> tuple[IntArray, float]:
        labels = np.full(n, -1, dtype=np.int64)
        return labels, lloyd(columns, masses, centres, n_clusters, most, tolerance, labels)

    def run(first: int, last: int) -> None:
        for i in range(first, last):
            seed(columns, masses, uniforms[i], starts[i])
            if n_init > 1:
                _, found[i] = improve(starts[i], SHORT)

    over_rows(run, n_init, 1)
    best = starts[np.argmin(found)]
    labels, inertia = improve(best, most)
    return Partition(best[:n_clusters, :n_features] + middle, labels, inertia)
