"""The rule "persistence": shallow modes first."""

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import merge_through_modes


class Persistence(MergeRule):
    """Merges the least persistent mode first, into the deeper one beyond its lowest saddle."""

    name = "persistence"
    description = "The least persistent mode merges first, into the deeper mode beyond its lowest saddle."
    height_label = "persistence (nats)"
    keeps_modes = True

    def merge(self, given: MergeInput) -> Merges:
        """Merge modes by persistence.

        A mode that was swallowed by another at a lower saddle is less persistent than that one, so the order
        of persistences is an order of merges too.
        """
        elders, persistence, saddles = given.points.elders()
        young = np.flatnonzero(np.isfinite(persistence))
        young = young[np.argsort(persistence[young], kind="stable")]
        of_modes = Merges(young, elders[young], persistence[young], saddles[young])
        return merge_through_modes(given, of_modes)
