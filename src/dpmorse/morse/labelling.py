"""From points to clusters, through the mode each point descends to."""

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.morse.critical.points import FARTHEST
from dpmorse.morse.tree import MergeTree
from dpmorse.typing import FloatArray, IntArray

_CHUNK = 4096


def basins(mixture: GaussianMixture, tree: MergeTree, X: FloatArray) -> IntArray:
    """Return the mode whose basin holds each point; -1 for one that is not in the tree.

    Basins are those of a descent that never rises: mean shift, then Newton's method where f is convex.
    """
    landscape = Landscape(mixture)
    modes = ModeSet(landscape, thorough=True)
    known = modes.reach(landscape.to_whitened(tree.modes))
    n_known = len(modes)
    number = np.full(n_known, -1, dtype=np.int64)
    number[known] = np.arange(len(known))
    found = np.empty(len(X), dtype=np.int64)
    for start in range(0, len(X), _CHUNK):
        points = landscape.to_whitened(X[start : start + _CHUNK])
        reached = modes.reach(np.clip(points, -FARTHEST, FARTHEST))
        unknown = reached >= n_known
        found[start : start + _CHUNK] = np.where(unknown, -1, number[np.where(unknown, 0, reached)])
    return found


def label_by_basin(mixture: GaussianMixture, tree: MergeTree, labels: IntArray, X: FloatArray) -> IntArray:
    """Return the cluster of the basin each point is in.

    Where the cut splits a mode, its most probable component decides; points whose descent ends in a mode
    that is not in the tree are labelled by their component.
    """
    modes = basins(mixture, tree, X)
    n_components = len(tree.weights)
    logs = mixture.component_log_densities(X)
    outside = tree.critical_points.component_modes != modes[:, None]
    logs[outside & (modes[:, None] >= 0)] = -np.inf
    of_component: IntArray = labels[logs.argmax(axis=1)]
    bare = {
        int(m): int(c)
        for m, c in zip(tree.leaves.modes[tree.leaves.components < 0], labels[n_components:], strict=True)
    }
    return np.array(
        [bare.get(int(m), int(c)) for m, c in zip(modes, of_component, strict=True)], dtype=np.int64
    )
