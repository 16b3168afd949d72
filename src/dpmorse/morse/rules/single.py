"""The rule "single": single linkage over the saddles, the paper's Algorithm 4."""

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import merge_through_modes


class Single(MergeRule):
    """Merges modes over the lowest saddle first: the merge tree of sublevel sets of f."""

    name = "single"
    description = "Modes merge over the lowest saddle first: the paper's Algorithm 4."
    height_label = "height of the pass above the deepest mode (nats)"
    keeps_modes = True

    def merge(self, given: MergeInput) -> Merges:
        """Merge modes along the spanning tree of the saddles; heights are above the lowest mode."""
        points, saddles = given.points, given.points.spanning_saddles
        first, second = points.saddle_ends[saddles].T
        return merge_through_modes(given, Merges(first, second, points.rises(saddles), saddles))
