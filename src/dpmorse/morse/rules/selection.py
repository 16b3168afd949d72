r"""The rule "auto": every other rule proposes its clusters, at several scales, and one score picks.

No rule is best everywhere: where rare clusters lie behind valleys the density is right, where classes are
made of many pieces the variance is, where one surrounds another the likelihood. For the partition that a
rule cuts into K clusters the score is

.. math:: c + \frac35 \min_k K w_k + \frac1{10} \frac1D \sum_j R_j^2 + 20 h Q

with c the mean over clusters of the climb in nats from the lowest point of a cluster to its lowest pass into
another one, which counts up to about seven; w_k the weight of cluster k; R_j^2 the part of column j's
variance that the clusters explain; and Q the modularity of the records that components share (Newman 2004).
A low climb means a cut through a cluster; a cluster of next to no records is more often noise than a cluster;
variance breaks the ties among cuts through empty space. Modularity counts where hardly a proposal follows a
valley: h = exp(-m / 0.7), m being the upper quartile of c over the proposals. All of it is a function of the
mixture alone.

Scores that differ by hundredths of a nat say nothing, and where no cut follows a valley, larger differences
say no more. So every proposal has a say by its score s, exp(s / (0.05 + h^4)), and the one is taken that is
expected to agree best with the others, by the adjusted Rand index. Where one score is clearly the best, that
is the one.

Rules are tried on the mixture and on two smoothed ones, each component's covariance raised by 2 % and 10 % of
every column's variance: valleys thinner than that (rounded or discrete columns, noise) close.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.rules.base import Decision, Leaves, MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import attach_bare_modes, shared_records, total_variances
from dpmorse.typing import BoolArray, FloatArray, IntArray

# The parts of each column's variance by which covariances are raised to close thin valleys.
_SMOOTHINGS = (0.02, 0.1)

# Nats of climb that perfect balance, and all of the variance explained, are worth. docs/default.md says on
# which generated instances they were set; docs/morse.md measures the rule on others.
_BALANCE, _VARIANCE = 0.6, 0.1

# Climbs c count as -ln(e^-c + 0.001), up to about 7 nats: beyond, a valley is as good as empty.
_UNCLIMBABLE = 1e-3

# Nats of climb that modularity is worth where there is no valley, and nats of climb, of the best quarter of
# the proposals, by which it loses most of that.
_MODULARITY, _VALLEY, _BEST = 20.0, 0.7, 0.75

# Nats of score by which a proposal loses most of its say, if there are valleys. What counts as a near tie was
# set on generated instances too (docs/default.md).
_CLOSE = 0.05


class Auto(MergeRule):
    """Merges as that rule does whose cut into the number of clusters asked for scores best.

    Parameters
    ----------
    at_every_scale : sequence of MergeRule
        Rules that propose on the mixture and on the smoothed ones.
    unsmoothed : sequence of MergeRule
        Rules that propose on the mixture only.
    """

    name = "auto"
    description = "Merges as the rule does whose cut into the clusters asked for scores best."
    height_label = "height"

    def __init__(self, at_every_scale: Sequence[MergeRule], unsmoothed: Sequence[MergeRule]) -> None:
        self._at_every_scale, self._unsmoothed = tuple(at_every_scale), tuple(unsmoothed)

    def merge(self, given: MergeInput) -> Merges:
        """Return the merges of the rule that was chosen."""
        return self.decide(given).merges

    def decide(self, given: MergeInput) -> Decision:
        """Choose a rule, and return its merges of the components."""
        full = given.leaves.full
        wanted = min(given.n_clusters or given.points.suggested_n_clusters, len(full))
        proposals = list(self._proposals(given))
        cuts = [proposal.cut(wanted) for proposal in proposals]
        chosen = proposals[chosen_cut(cuts, _Score(given))]
        first, second = full[chosen.pairs].T
        merges = attach_bare_modes(given) + Merges.without_saddles(first, second, chosen.heights)
        return Decision(merges, chosen.rule, chosen.basis)

    def _proposals(self, given: MergeInput) -> Iterator["_Proposal"]:
        """Yield the merges of components by every rule at every scale."""
        scales = [(given, "")]
        scales += [(_smoothed(given, part), f", smoothed by {part:.0%}") for part in _SMOOTHINGS]
        for view, how in scales:
            for rule in self._at_every_scale:
                yield _Proposal.of(rule, rule.name + how, view)
        for rule in self._unsmoothed:
            yield _Proposal.of(rule, rule.name, given)


@dataclass(frozen=True)
class _Proposal:
    """Merges of components, as pairs of their numbers among the leaves, by one rule at one scale."""

    rule: MergeRule
    basis: str
    pairs: IntArray
    heights: FloatArray

    @classmethod
    def of(cls, rule: MergeRule, basis: str, view: MergeInput) -> "_Proposal":
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


def chosen_cut(cuts: list[IntArray], score: "_Score") -> int:
    """Return which cut is taken, each with a say by its score."""
    parts = [score(cut) for cut in cuts]
    climbs, others, modularities = (np.array(values) for values in zip(*parts, strict=True))
    flat = math.exp(-float(np.quantile(climbs, _BEST)) / _VALLEY)
    scores = climbs + others + _MODULARITY * flat * modularities
    return most_agreed(cuts, scores, score.weights, _CLOSE + flat**4)


def most_agreed(cuts: list[IntArray], scores: FloatArray, weights: FloatArray, close: float = _CLOSE) -> int:
    """Return the cut whose expected adjusted Rand index with the others, by their say, is largest.

    ``weights`` are those of what is cut into clusters.
    """
    say = np.exp((scores - scores.max()) / close)
    agreement = np.array([[rand_index(one, other, weights) for other in cuts] for one in cuts])
    return int(np.argmax(agreement @ say))


def rand_index(first: IntArray, second: IntArray, weights: FloatArray) -> float:
    """Return the adjusted Rand index of two cuts, of as many records as one likes."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), weights / weights.sum())
    both, of_first, of_second = (float((t**2).sum()) for t in (table, table.sum(axis=1), table.sum(axis=0)))
    chance, most = of_first * of_second, (of_first + of_second) / 2
    return (both - chance) / (most - chance) if most - chance > _SAME else 1.0


# Cuts into one cluster, or into single records, agree whatever they are.
_SAME = 1e-12


def _smoothed(given: MergeInput, part: float) -> MergeInput:
    """Add this part of each column's variance to all covariances, and search the mixture that results."""
    mixture = given.mixture
    covariances = mixture.covariances + part * np.diag(total_variances(mixture))
    smooth = GaussianMixture(mixture.weights, mixture.means, covariances)
    points = given.find(smooth)
    return replace(given, mixture=smooth, points=points, leaves=Leaves.of(smooth, points))


class _Score:
    """How well a partition of the components parts the records; see the module's docstring."""

    def __init__(self, given: MergeInput) -> None:
        mixture, leaves = given.mixture, given.leaves
        kept = leaves.components[leaves.full]
        self.weights, self._means = mixture.weights[kept], mixture.means[kept]
        self._barriers = given.barriers[np.ix_(leaves.full, leaves.full)]
        self._floors = given.points.mode_heights[leaves.modes[leaves.full]]
        self._variances = total_variances(mixture)
        shared = shared_records(given.differing, leaves)[np.ix_(leaves.full, leaves.full)]
        self._shared = shared / shared.sum()

    def __call__(self, groups: IntArray) -> tuple[float, float, float]:
        """Return the mean climb, what balance and variance are worth, and the modularity."""
        indicators = np.eye(int(groups.max()) + 1)[groups]
        weights = indicators.T @ self.weights
        climbs = [self._climb(groups == k) for k in range(len(weights))]
        balance = len(weights) * weights.min()
        others = _BALANCE * balance + _VARIANCE * self._explained(indicators, weights)
        return float(np.mean(climbs)), float(others), self._modularity(indicators)

    def _climb(self, inside: BoolArray) -> float:
        """Return how far up it is from a cluster's lowest point to its lowest pass, up to about 7 nats."""
        if inside.all():
            return 0.0
        climb = max(0.0, self._barriers[np.ix_(inside, ~inside)].min() - self._floors[inside].min())
        return float(-np.log(np.exp(-climb) + _UNCLIMBABLE))

    def _explained(self, indicators: FloatArray, weights: FloatArray) -> float:
        """Return the mean over columns of the variance between clusters as a part of the whole."""
        centres = (indicators * self.weights[:, None]).T @ self._means / weights[:, None]
        offsets = centres - self.weights @ self._means
        return float((weights @ offsets**2 / self._variances).mean())

    def _modularity(self, indicators: FloatArray) -> float:
        """Return the part of shared records that clusters have for themselves, above what chance gives."""
        shared = indicators.T @ self._shared @ indicators
        return float(np.trace(shared) - np.square(shared.sum(axis=0)).sum())
