"""Proposals of the rules: merges of components, which can be cut into any number of clusters."""

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
        """Keep only merges of components: modes without one make no cluster."""
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
        """Perform merges until ``n_clusters`` are left; number them from 0."""
        group = np.arange(len(self.pairs) + 1)
        for a, b in self.pairs[: len(group) - n_clusters]:
            group[group == group[b]] = group[a]
        clusters: IntArray = np.unique(group, return_inverse=True)[1]
        return clusters


@dataclass(frozen=True, eq=False)
class Proposals:
    """The proposals of all rules for one mixture, and the score of their cuts."""

    each: tuple[Proposal, ...]
    score: Score

    def chosen(self, n_clusters: int) -> Proposal:
        """Return the proposal that has the best cut into ``n_clusters``."""
        return self.each[chosen_cut(self.cuts(n_clusters), self.score)]

    def cuts(self, n_clusters: int) -> list[IntArray]:
        """Return the cut of every proposal, into all components where there are fewer."""
        reachable = min(n_clusters, len(self.score.weights))
        return [proposal.cut(reachable) for proposal in self.each]

    @cached_property
    def suggestion(self) -> Suggestion:
        """The suggested number of clusters, computed on demand: it is not needed where a number is given."""
        return suggested(self.cuts, self.score)
