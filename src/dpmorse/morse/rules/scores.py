r"""How good a cut is that some rule proposes, and which of several is taken.

For the partition that a rule cuts into K clusters the score is

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
"""

import math

import numpy as np

from dpmorse.morse.rules.base import MergeInput
from dpmorse.morse.rules.groups import total_variances
from dpmorse.typing import FloatArray, IntArray

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

# Cuts into one cluster, or into single records, agree whatever they are.
_SAME = 1e-12

# Of what is expected: equal cuts differ by rounding only, and the first of them is to be taken everywhere.
_DECIMALS = 9


class Score:
    """How well a partition of the components parts the records; see the module's docstring."""

    def __init__(self, given: MergeInput) -> None:
        mixture, leaves = given.mixture, given.leaves
        kept = leaves.components[leaves.full]
        self.weights, self._means = mixture.weights[kept], mixture.means[kept]
        inner = np.ix_(leaves.full, leaves.full)
        self._barriers = given.barriers[inner]
        self._floors = given.points.mode_heights[leaves.modes[leaves.full]]
        self._variances, self._least = total_variances(mixture), given.least_weight
        self._shared = given.shared[inner] / given.shared[inner].sum()

    def __call__(self, groups: IntArray) -> tuple[float, float, float]:
        """Return the mean climb, what balance and variance are worth, and the modularity."""
        indicators = np.eye(int(groups.max()) + 1)[groups]
        weights = indicators.T @ self.weights
        balance = len(weights) * weights.min()
        others = _BALANCE * balance + _VARIANCE * self._explained(indicators, weights)
        return float(self.climbs(groups).mean()), float(others), self._modularity(indicators)

    def climbs(self, groups: IntArray) -> FloatArray:
        """Return how far up it is from each cluster's lowest point to its lowest pass, up to about 7 nats.

        A cluster that may be noise has no valley, and makes none for others.
        """
        seen = np.bincount(groups, self.weights) >= self._least
        if seen.sum() <= 1:
            return np.zeros(len(seen))
        passes, floors = np.full((2, len(seen)), np.inf)
        apart = (groups[:, None] != groups) & seen[groups]
        np.minimum.at(passes, groups, np.where(apart, self._barriers, np.inf).min(axis=1))
        np.minimum.at(floors, groups, self._floors)
        climbs = -np.log(np.exp(-np.maximum(passes - floors, 0)) + _UNCLIMBABLE)
        return np.where(seen, climbs, 0.0)

    def purity(self, groups: IntArray) -> float:
        """Return the mean over clusters of the part of a cluster's memberships that it shares with none."""
        indicators = np.eye(int(groups.max()) + 1)[groups]
        shared = indicators.T @ self._shared @ indicators
        return float((np.diag(shared) / shared.sum(axis=0)).mean())

    def _explained(self, indicators: FloatArray, weights: FloatArray) -> float:
        """Return the mean over columns of the variance between clusters as a part of the whole."""
        centres = (indicators * self.weights[:, None]).T @ self._means / weights[:, None]
        offsets = centres - self.weights @ self._means
        return float((weights @ offsets**2 / self._variances).mean())

    def _modularity(self, indicators: FloatArray) -> float:
        """Return the part of shared records that clusters have for themselves, above what chance gives."""
        shared = indicators.T @ self._shared @ indicators
        return float(np.trace(shared) - np.square(shared.sum(axis=0)).sum())


def chosen_cut(cuts: list[IntArray], score: Score) -> int:
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
    expected = agreements(cuts, weights) @ say
    return int(np.argmax(expected.round(_DECIMALS)))


def agreements(cuts: list[IntArray], weights: FloatArray) -> FloatArray:
    """Return the adjusted Rand index of any two cuts, of as many records as one likes.

    All tables of two cuts are blocks of one product: the rule "auto" compares thousands of pairs.
    """
    n_clusters = max(int(cut.max()) for cut in cuts) + 1
    indicators = np.hstack([np.eye(n_clusters)[cut] for cut in cuts])
    squares = np.square(indicators.T @ (indicators * (weights / weights.sum())[:, None]))
    both = squares.reshape(len(cuts), n_clusters, len(cuts), n_clusters).sum(axis=(1, 3))
    of_one = np.diag(both)  # a cut's table with itself has its clusters' weights on the diagonal
    chance, most = np.outer(of_one, of_one), np.add.outer(of_one, of_one) / 2
    same = most - chance <= _SAME
    return np.where(same, 1.0, (both - chance) / np.where(same, 1.0, most - chance))
