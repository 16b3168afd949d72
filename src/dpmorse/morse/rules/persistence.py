"""The rule "persistence": shallow modes first."""

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import merge_through_modes


class Persistence(MergeRule):
    """Merges the least persistent mode first, with what lies beyond the saddle at which it ends."""

    name = "persistence"
    description = "The least persistent mode merges first, with the cluster beyond the pass at which it ends."
    height_label = "persistence (nats)"
    keeps_modes = True

    def merge(self, given: MergeInput) -> Merges:
        """Merge modes by persistence, each over its saddle (Chazal et al. 2013).

        A mode that was swallowed by another at a lower saddle is less persistent than that one, so the order
        of persistences is an order of merges too. All merges are edges of the spanning tree of saddles: every
        cluster of every cut is connected in it. (The deepest mode of the lake that a mode falls to may be far
        away, and not yet in one cluster with the modes between.)
        """
        beyond, persistence, saddles = given.points.falls()
        young = np.flatnonzero(np.isfinite(persistence))
        young = young[np.argsort(persistence[young], kind="stable")]
        of_modes = Merges(young, beyond[young], persistence[young], saddles[young])
        return merge_through_modes(given, of_modes)
