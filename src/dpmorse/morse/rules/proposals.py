r"""Proposals of the rules, merges of components cut into any number of clusters, and the number they suggest.

Where no number is given, "auto" compares its cuts into every number by one value.

.. math:: \ln K + 5 P + 2 A - \frac14 N

More clusters are better as long as they keep their records to themselves (P, the purity: the mean over
clusters of the part of a cluster's memberships that it does not share with others), the rules agree on them
(A, the mean adjusted Rand index of the cut that is taken with the cuts of all rules), and valleys separate
them (N, the number of clusters in which the density is nowhere twice that of the lowest pass to another one).
One cluster shares nothing, and there is nothing to agree on: P = 1, A = N = 0. Noise and flat densities make
one group fall apart into pure parts on which rules agree, so one cluster is worth more,

.. math:: 5 + \frac25 + \min\left(\frac{20}{z}, 1.7\right) + \frac35 [D \le 2]

with z the number of all records in standard deviations of its noise: the noisier, the more has to speak for
groups; and in one or two columns components are many, and pure whatever they describe.

A group below three standard deviations of its size's noise is no cluster. Before numbers are compared, each
rule's tree is changed so that such groups join what they share most records with (``sizes``); a tree for a
number that was asked for is left as it is. ``nearly`` has the numbers whose cut of the tree that is shown is
worth nearly as much as the best.

All of it is a function of released values, and does not depend on the units of columns.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Suggestion
from dpmorse.morse.rules.scores import Score, agreements, chosen_cut
from dpmorse.morse.rules.sizes import Sizes, noise_first
from dpmorse.typing import FloatArray, IntArray

# Weights of purity, agreement and a missing valley, in nats of ln K. docs/morse.md ("How many clusters") says
# on which fits they were set, and measures them on others.
_PURITY, _AGREEMENT, _NO_VALLEY = 5.0, 2.0, 0.25

# What speaks for one cluster beside its purity: always, for noise, and in one or two columns. docs/morse.md
# says on which instances these were set, and what they do on others.
_ONE, _NOISE, _MOST_NOISE, _IN_PLANE, _PLANE = 0.4, 20.0, 1.7, 0.6, 2

# Nats to climb out of a cluster below which no valley separates it from the others.
_VALLEY = math.log(2)

# Numbers whose values differ by less than this are nearly as good. Set so that the true number is among them
# in three of four fits that have at least that number of components.
_NEARLY = 1.0

# Largest number that is suggested: each number takes time, and few data have more clusters.
_MOST = 50


@dataclass(frozen=True, eq=False)
class Proposal:
    """Merges of components, as pairs of their numbers among the leaves, by one rule at one scale.

    ``n_seen`` is the largest number of clusters of a cut none of which may be noise, as far as that is known.
    """

    rule: MergeRule
    basis: str
    pairs: IntArray
    heights: FloatArray
    n_seen: int

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
        of_pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(rule, basis, of_pairs, np.array(heights), len(of_pairs) + 1)

    def seen(self, sizes: Sizes, shared: FloatArray) -> "Proposal":
        """Return the same merges, but with those of groups that may be noise first."""
        pairs, heights, n_seen = noise_first(self.pairs, self.heights, sizes, shared)
        return replace(self, pairs=pairs, heights=heights, n_seen=n_seen)

    def cut(self, n_clusters: int) -> IntArray:
        """Perform merges until ``n_clusters`` are left; number them from 0."""
        group = np.arange(len(self.pairs) + 1)
        for a, b in self.pairs[: len(group) - n_clusters]:
            group[group == group[b]] = group[a]
        clusters: IntArray = np.unique(group, return_inverse=True)[1]
        return clusters


@dataclass(frozen=True, eq=False)
class Proposals:
    """The proposals of all rules for one mixture, and the score of their cuts.

    ``n_clusters`` is the number that was asked for, or None, ``n_features`` that of columns, and ``sizes``
    those of the components that are leaves, where they were released.
    """

    each: tuple[Proposal, ...]
    score: Score
    n_clusters: int | None
    n_features: int
    sizes: Sizes | None

    @cached_property
    def shown(self) -> Proposal:
        """The proposal with the best cut into the number that was asked for, or into the suggested one."""
        if self.n_clusters is None:
            return self.seen[self._best(self.suggested_n_clusters)]
        number = min(self.n_clusters, len(self.score.weights))
        return self.each[chosen_cut([one.cut(number) for one in self.each], self.score)]

    @property
    def suggested_n_clusters(self) -> int:
        """The number of highest value."""
        return 1 + int(np.argmax(self.values))

    @cached_property
    def suggestion(self) -> Suggestion:
        """The suggested number, and those whose cuts of the tree that is shown are nearly as good."""
        best, least = self.suggested_n_clusters, self.values.max() - _NEARLY
        nearly = {best, *(k for k in range(1, len(self.values) + 1) if self._shown_value(k) > least)}
        why_one = None if self.sizes is None else self.sizes.why_one
        return Suggestion(best, tuple(sorted(nearly)), self._n_noise(best), why_one)

    @cached_property
    def seen(self) -> tuple[Proposal, ...]:
        """The proposals without clusters that may be noise, as far as that is known."""
        if self.sizes is None:
            return self.each
        return tuple(one.seen(self.sizes, self.score.shared) for one in self.each)

    @cached_property
    def values(self) -> FloatArray:
        """What each number of clusters is worth, computed on demand: not needed where one is given."""
        most = min(_MOST, max(one.n_seen for one in self.seen))
        return np.array([self._value_of_one, *(self._value(k) for k in range(2, most + 1))])

    def _able(self, number: int) -> list[int]:
        """Return which proposals have a cut into so many clusters, none of which may be noise."""
        return [i for i, one in enumerate(self.seen) if number <= one.n_seen]

    def _cuts(self, number: int) -> list[IntArray]:
        return [self.seen[i].cut(number) for i in self._able(number)]

    def _best(self, number: int) -> int:
        """Return which proposal has the best cut into so many clusters."""
        return self._able(number)[chosen_cut(self._cuts(number), self.score)]

    @property
    def _value_of_one(self) -> float:
        noise = (
            0.0 if self.sizes is None else _NOISE / max(self.sizes.over_noise_of_all, _NOISE / _MOST_NOISE)
        )
        return _PURITY + _ONE + noise + (_IN_PLANE if self.n_features <= _PLANE else 0.0)

    def _value(self, number: int) -> float:
        """Return the value of the best cut into this number of clusters, two or more."""
        cuts = self._cuts(number)
        taken = chosen_cut(cuts, self.score)
        return self._worth(cuts[taken], float(agreements(cuts, self.score.weights)[taken].mean()))

    def _shown_value(self, number: int) -> float:
        """Return the value of the cut that is shown; of one with a cluster that may be noise, none."""
        if number == 1:
            return self._value_of_one
        cut = self.shown.cut(number)
        if self.sizes is not None and not self.sizes.all_seen(cut):
            return -math.inf
        return self._worth(cut, self._shared_agreement(cut, number))

    def _shared_agreement(self, cut: IntArray, number: int) -> float:
        """Return how nearly a cut into so many clusters is that of all proposals."""
        return float(agreements([cut, *self._cuts(number)], self.score.weights)[0, 1:].mean())

    def _worth(self, cut: IntArray, agreement: float) -> float:
        climbs, parted = self.score.climbs(cut), _PURITY * self.score.purity(cut) + _AGREEMENT * agreement
        return float(math.log(len(climbs)) + parted - _NO_VALLEY * (climbs < _VALLEY).sum())

    def _n_noise(self, number: int) -> int:
        """Return how many groups that may be noise lie beside so many clusters in the rule's own tree."""
        if self.sizes is None or number == 1:
            return 0
        own = self.each[self._best(number)]
        for n_groups in range(number, len(self.score.weights) + 1):
            if self.sizes.n_seen(own.cut(n_groups)) >= number:
                return n_groups - number
        return 0
