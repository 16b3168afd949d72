"""From points to clusters, through the mode each point descends to."""

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical.landscape import FARTHEST, Landscape
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.morse.rules import Leaves
from dpmorse.typing import FloatArray, IntArray

# Points that descend together: a bound of the memory. More than a few thousand are not faster.
_CHUNK = 4096


def basins(mixture: GaussianMixture, modes: FloatArray, X: FloatArray) -> IntArray:
    """Return which of the given modes has each point in its basin; -1 for a mode that is not given.

    Basins are those of a descent that never rises: mean shift, then Newton's method where f is convex.
    """
    landscape = Landscape(mixture)
    found_modes = ModeSet(landscape, thorough=True)
    known = found_modes.reach(landscape.to_whitened(modes))
    n_known = len(found_modes)
    number = np.full(n_known, -1, dtype=np.int64)
    number[known] = np.arange(len(known))
    found = np.empty(len(X), dtype=np.int64)
    for start in range(0, len(X), _CHUNK):
        reached = found_modes.reach(
            np.clip(landscape.to_whitened(X[start : start + _CHUNK]), -FARTHEST, FARTHEST)
        )
        unknown = reached >= n_known
        found[start : start + _CHUNK] = np.where(unknown, -1, number[np.where(unknown, 0, reached)])
    return found


def label_by_basin(
    mixture: GaussianMixture, points: CriticalPoints, leaves: Leaves, labels: IntArray, X: FloatArray
) -> IntArray:
    """Return the cluster of the basin each point is in; ``labels`` are those of a cut of the tree.

    Where the cut splits a mode, its most probable component decides; points whose descent ends in a mode
    that is not known are labelled by their component.
    """
    modes = basins(mixture, points.modes, X)
    n_components = len(mixture.weights)
    logs = mixture.component_log_densities(X)
    outside = points.component_modes != modes[:, None]
    logs[outside & (modes[:, None] >= 0)] = -np.inf
    of_component: IntArray = labels[logs.argmax(axis=1)]
    bare = {int(m): int(c) for m, c in zip(leaves.modes[leaves.bare], labels[n_components:], strict=True)}
    return np.array(
        [bare.get(int(m), int(c)) for m, c in zip(modes, of_component, strict=True)], dtype=np.int64
    )
