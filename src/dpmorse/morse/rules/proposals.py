"""What the rules propose: merges of components, which can be cut into any number of clusters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule
from dpmorse.morse.rules.number import suggested
from dpmorse.morse.rules.scores import Score, chosen_cut
from dpmorse.morse.rules.suggestion import Suggestion
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Proposal:
    """Merges of components, as pairs of their numbers among the leaves, by one rule at one scale."""

    rule: MergeRule
    basis: str
    pairs: IntArray
    heights: FloatArray

    @classmethod
    def of(cls, rule: MergeRule, basis: str, view: MergeInput) -> "Proposal":
        """Keep only those merges that join components: modes without one are nobody's cluster."""
        merges, n_leaves = rule.merge(view), len(view.leaves)
        n_components = len(view.leaves.full)  # these are the first leaves
        group, member = np.arange(n_leaves), np.arange(n_leaves)
        member[n_components:] = -1  # a component of each group, -1 for a mode without
        pairs, heights = [], []
        for a, b, height in zip(merges.first, merges.second, merges.heights, strict=True):
            ga, gb = group[a], group[b]
            if member[ga] >= 0 and member[gb] >= 0:
                pairs.append((member[ga], member[gb]))
                heights.append(height)
            member[ga] = max(member[ga], member[gb])
            group[group == gb] = ga
        return cls(rule, basis, np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(heights))

    def cut(self, n_clusters: int) -> IntArray:
        """Perform merges until so many clusters are left; number them from 0."""
        group = np.arange(len(self.pairs) + 1)
        for a, b in self.pairs[: len(group) - n_clusters]:
            group[group == group[b]] = group[a]
        clusters: IntArray = np.unique(group, return_inverse=True)[1]
        return clusters


@dataclass(frozen=True, eq=False)
class Proposals:
    """What every rule proposes for one mixture, and how its cuts are scored."""

    each: tuple[Proposal, ...]
    score: Score

    def chosen(self, n_clusters: int) -> Proposal:
        """Return the proposal whose cut into so many clusters is taken."""
        return self.each[chosen_cut(self.cuts(n_clusters), self.score)]

    def cuts(self, n_clusters: int) -> list[IntArray]:
        """Return the cut of every proposal, into fewer clusters where there are not so many components."""
        reachable = min(n_clusters, len(self.score.weights))
        return [proposal.cut(reachable) for proposal in self.each]

    @cached_property
    def suggestion(self) -> Suggestion:
        """How many clusters there are. Worked out when asked for: with a number given, nobody may ask."""
        return suggested(self.cuts, self.score)
