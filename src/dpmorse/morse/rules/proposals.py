r"""Proposals of the rules, merges of components cut into any number of clusters, and the number they suggest.

Where no number is given, "auto" compares its cuts into every number by one value.

.. math:: \ln K + 5 P + 2 A - \frac14 N

More clusters are better as long as they keep their records to themselves (P, the purity: the mean over
clusters of the part of a cluster's memberships that it does not share with others), the rules agree on them
(A, the mean adjusted Rand index of the cut that is taken with the cuts of all rules), and valleys separate
them (N, the number of clusters in which the density is nowhere twice that of the lowest pass to another one).
One cluster shares nothing, and there is nothing to agree on: P = 1, A = N = 0.

All of it is a function of the mixture, and does not depend on the units of columns.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Suggestion
from dpmorse.morse.rules.scores import Score, agreements, chosen_cut
from dpmorse.typing import FloatArray, IntArray

# Weights of purity, agreement and a missing valley, in nats of ln K. docs/morse.md ("How many clusters") says
# on which fits they were set, and measures them on others.
_PURITY, _AGREEMENT, _NO_VALLEY = 5.0, 2.0, 0.25

# Nats to climb out of a cluster below which no valley separates it from the others.
_VALLEY = math.log(2)

# Numbers whose values differ by less than this are nearly as good. Set so that the true number is among them
# in three of four fits that have at least that number of components.
_NEARLY = 1.0

# Largest number that is suggested: each number takes time, and few data have more clusters.
_MOST = 50


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


def suggested(cuts: Callable[[int], list[IntArray]], score: Score) -> Suggestion:
    """Return the number of clusters of highest value; ``cuts`` gives every proposal's cut into a number."""
    numbers = range(2, min(_MOST, len(score.weights)) + 1)
    values = np.array([_PURITY, *(_value(cuts(number), score) for number in numbers)])
    nearly = 1 + np.flatnonzero(values > values.max() - _NEARLY)
    return Suggestion(1 + int(np.argmax(values)), tuple(nearly.tolist()))


def _value(cuts: list[IntArray], score: Score) -> float:
    """Return the value of the best cut into this number of clusters, two or more."""
    taken = chosen_cut(cuts, score)
    cut, agreement = cuts[taken], agreements(cuts, score.weights)[taken].mean()
    climbs, parted = score.climbs(cut), _PURITY * score.purity(cut) + _AGREEMENT * agreement
    return float(math.log(len(climbs)) + parted - _NO_VALLEY * (climbs < _VALLEY).sum())
