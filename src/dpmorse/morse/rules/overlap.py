"""The rule "overlap": groups of components that share most records, over the lowest barrier."""

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import SharingGroups, attach_bare_modes


class Overlap(MergeRule):
    r"""Merges the two groups a, b of components whose merge costs least.

    .. math:: -\ln \frac{Q_{ab}}{\min(Q_a, Q_b)} + \max(0, f(pass_{ab}) - \max(f_a, f_b))

    is the cost, with Q_ab the expected product of memberships under the mixture with inflated covariances
    (``MergeInput.shared``), Q_a their sums, f_a the lowest mode of a group, and the pass that of the merge
    tree. A mode without components has no records to share; it goes first, to where its lowest saddle leads.
    """

    name = "overlap"
    description = "The groups of components merge first that share most records over the lowest barrier."
    height_label = "cost of merging (nats)"

    def merge(self, given: MergeInput) -> Merges:
        """Merge groups of components; a saddle decides where the two groups have no mode in common."""
        points, leaves = given.points, given.leaves
        full = leaves.full
        inner = np.ix_(full, full)
        floors = points.mode_heights[leaves.modes[full]]
        groups = SharingGroups(given.shared[inner], given.barriers[inner], floors)
        first, second, costs = groups.agglomerate()
        tree_saddles, passes = points.spanning_saddles, np.array(groups.crossed)
        saddles = np.full(len(first), -1)
        over_saddle = np.isfinite(passes)  # every barrier is the height of a saddle of the spanning tree
        ranks = np.searchsorted(points.saddle_heights[tree_saddles], passes[over_saddle])
        saddles[over_saddle] = tree_saddles[ranks]
        heights = np.maximum.accumulate(costs)  # costs may fall; heights must not
        return attach_bare_modes(given) + Merges(full[first], full[second], heights, saddles)
