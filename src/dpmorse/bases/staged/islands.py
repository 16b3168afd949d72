"""Groups of balls that lie apart from all others: far clusters, but not heavy tails.

A tail thins out: between its outermost ball and the rest there are other balls, or its records are spread as
widely as the gap is. A far cluster is narrower than the gap around it. Only released balls are looked at.
"""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform

from dpmorse.typing import BoolArray, FloatArray, IntArray

_APART = 2.0
"""Two balls are apart if the distance of their centres is more than this many times the sum of their root
mean square radii. Far clusters in five columns are 2 to more than 3 times that sum away from the rest, balls
of heavy tails 1.5 times or less (docs/default.md)."""


def groups_apart(centres: FloatArray, variances: FloatArray) -> IntArray:
    """Return the group of each ball: balls that are not apart, and all that a chain of such pairs joins."""
    if len(centres) < 2:
        return np.zeros(len(centres), dtype=np.int64)
    radii = np.sqrt(centres.shape[1] * variances)
    gaps = cdist(centres, centres) / (radii[:, None] + radii)
    found: IntArray = fcluster(linkage(squareform(gaps, checks=False), "single"), _APART, "distance") - 1
    return found


def light_islands(weights: FloatArray, groups: IntArray, n_components: int) -> IntArray:
    """Return the island of each ball: 0 for the heaviest of them, and so on; -1 where it is on none.

    A group that weighs less than an average component is an island; k-means gives centres to heavier ones by
    itself. There are at most half as many islands as components.
    """
    found = np.full(len(weights), -1)
    totals = np.bincount(groups, weights)
    heaviest_first = np.argsort(-totals)
    light = heaviest_first[totals[heaviest_first] < weights.sum() / n_components]
    for island, group in enumerate(light[: n_components // 2]):
        found[groups == group] = island
    return found


def on_mainland(weights: FloatArray, groups: IntArray) -> BoolArray:
    """Say which balls belong to the heaviest group."""
    mainland: BoolArray = groups == np.bincount(groups, weights).argmax()
    return mainland
