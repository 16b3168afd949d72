"""Released sizes of components: which groups of them are larger than their noise, and which may be noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpmorse.typing import BoolArray, FloatArray, IntArray

SEEN = 3.0
"""Standard deviations of its size's noise from which on a group is seen: docs/privacy.md, section 9."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """Released numbers of records.

    Attributes
    ----------
    counts, stddevs : ndarray of shape (n_components,)
        Records of each component, and the noise of that number.
    why_one : callable or None
        Says why no groups can be told apart, where one cluster is suggested.
    """

    counts: FloatArray
    stddevs: FloatArray
    why_one: Callable[[], str] | None = None

    def of(self, components: IntArray) -> "Sizes":
        """Return those of some components."""
        return Sizes(self.counts[components], self.stddevs[components], self.why_one)

    def over_noise(self, members: BoolArray) -> float:
        """Return the size of a group in standard deviations of its noise."""
        return float(self.counts[members].sum() / math.sqrt(np.square(self.stddevs[members]).sum()))

    def seen(self, members: BoolArray) -> bool:
        """Say whether a group is larger than its noise."""
        return self.over_noise(members) >= SEEN

    @property
    def over_noise_of_all(self) -> float:
        """The number of all records in standard deviations of its noise."""
        return self.over_noise(np.ones(len(self.counts), dtype=np.bool_))

    def n_seen(self, groups: IntArray) -> int:
        """Return how many groups of a cut are larger than their noise."""
        return sum(self.seen(groups == group) for group in np.unique(groups))

    def all_seen(self, groups: IntArray) -> bool:
        """Say whether all groups of a cut are."""
        return self.n_seen(groups) == len(np.unique(groups))


def noise_first(
    pairs: IntArray, heights: FloatArray, sizes: Sizes, shared: FloatArray
) -> tuple[IntArray, FloatArray, int]:
    """Put merges of groups that may be noise before all others, at height 0.

    Such a group joins the component it shares most records with, among those it would merge with later. Then
    no cut into at most so many clusters as are left has one that may be noise: two groups that are seen make
    one that is seen. Returns pairs, heights and that number.
    """
    n_first, n_moved = 0, 1 if len(pairs) else 0
    while n_moved:
        group, first, later = np.arange(len(pairs) + 1), [], []
        for place, (a, b) in enumerate(pairs):
            own, other = group == group[a], group == group[b]
            if place < n_first:
                first.append((a, b, 0.0))
            elif sizes.seen(own) and sizes.seen(other):
                later.append((a, b, heights[place]))
            else:
                first.append((*_neighbours(own, other, (a, b), sizes, shared), 0.0))
            group[other] = group[a]
        n_moved, n_first = len(first) - n_first, len(first)
        ordered = np.array(first + later)
        pairs, heights = ordered[:, :2].astype(np.int64), ordered[:, 2]
    return pairs, heights, len(pairs) + 1 - n_first


def _neighbours(
    own: BoolArray, other: BoolArray, pair: tuple[int, int], sizes: Sizes, shared: FloatArray
) -> tuple[int, int]:
    """Return the component that a group is to join, and one of that group: the less certain of two."""
    if sizes.over_noise(own) < sizes.over_noise(other):
        own, other, pair = other, own, (pair[1], pair[0])
    with_each = np.where(own, shared[other].sum(axis=0), 0.0)
    return (int(with_each.argmax()) if with_each.any() else int(pair[0])), int(pair[1])
