r"""The score of a cut that a rule proposes, and the choice among several cuts.

The score of a cut into K clusters is

.. math:: c + \frac35 \min_k K w_k + \frac1{10} \frac1D \sum_j R_j^2 + 20 h Q

with c the mean over clusters of the climb in nats from the lowest point of a cluster to its lowest pass into
another one, capped at about seven; w_k the weight of cluster k; R_j^2 the part of column j's
variance that the clusters explain; and Q the modularity of the records that components share (Newman 2004).
A low climb means a cut through a cluster; a cluster with hardly any records is mostly noise; variance breaks
the ties among cuts through empty space. Modularity counts where few proposals follow a valley: h =
exp(-m / 0.7), m being the upper quartile of c over the proposals. All of it is a function of the mixture.

Differences of hundredths of a nat say nothing, and where no cut follows a valley larger ones say no more. So
every proposal votes, with weight exp(s / (0.05 + h^4)) for a score of s, and the proposal with the highest
expected adjusted Rand index with the others is taken. A score that is clearly the best decides alone.
"""

import math

import numpy as np

from dpmorse.morse.rules.base import MergeInput
from dpmorse.morse.rules.groups import total_variances
from dpmorse.typing import FloatArray, IntArray

# Weights of balance and of the part of the variance explained, in nats of climb. docs/default.md says on
# which generated instances they were set; docs/morse.md measures the rule on others.
_BALANCE, _VARIANCE = 0.6, 0.1

# Climbs c count as -ln(e^-c + 0.001), up to about 7 nats: beyond, a valley is as good as empty.
_UNCLIMBABLE = 1e-3

# Weight of modularity where there is no valley, in nats of climb; and the climb of the best quarter of the
# proposals at which it has lost most of that weight.
_MODULARITY, _VALLEY, _BEST = 20.0, 0.7, 0.75

# Nats of score below the best at which a proposal has lost most of its vote, if there are valleys: set on
# generated instances, too (docs/default.md).
_CLOSE = 0.05

# Two cuts into one cluster, or into single records, agree in full: the index would be 0 / 0.
_SAME = 1e-12

# Decimals of the expected index: equal cuts differ by rounding, and every machine must take the first.
_DECIMALS = 9


class Score:
    """Scores of cuts of the components; see the docstring of the module."""

    def __init__(self, given: MergeInput) -> None:
        mixture, leaves = given.mixture, given.leaves
        kept = leaves.components[leaves.full]
        self.weights, self._means = mixture.weights[kept], mixture.means[kept]
        inner = np.ix_(leaves.full, leaves.full)
        self._barriers = given.barriers[inner]
        self._floors = given.points.mode_heights[leaves.modes[leaves.full]]
        self._variances, self._least = total_variances(mixture), given.least_weight
        self.shared = given.shared[inner] / given.shared[inner].sum()

    def __call__(self, groups: IntArray) -> tuple[float, float, float]:
        """Return the mean climb, the weighted balance and variance, and the modularity."""
        indicators = np.eye(int(groups.max()) + 1)[groups]
        weights = indicators.T @ self.weights
        balance = len(weights) * weights.min()
        centres = (indicators * self.weights[:, None]).T @ self._means / weights[:, None]
        offsets = centres - self.weights @ self._means
        explained = float((weights @ offsets**2 / self._variances).mean())  # of the variance of each column
        others = _BALANCE * balance + _VARIANCE * explained
        shared = indicators.T @ self.shared @ indicators
        # records shared inside clusters, less those expected by chance
        modularity = np.trace(shared) - np.square(shared.sum(axis=0)).sum()
        return float(self.climbs(groups).mean()), float(others), float(modularity)

    def climbs(self, groups: IntArray) -> FloatArray:
        """Return the climb from each cluster's lowest point to its lowest pass, up to about 7 nats.

        Clusters that may be noise have a climb of 0, and passes to them do not count.
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
        """Return the mean, over clusters, of the part of memberships that is shared with no other cluster."""
        indicators = np.eye(int(groups.max()) + 1)[groups]
        shared = indicators.T @ self.shared @ indicators
        return float((np.diag(shared) / shared.sum(axis=0)).mean())


def chosen_cut(cuts: list[IntArray], score: Score) -> int:
    """Return the number of the best cut: all vote, by their scores."""
    parts = [score(cut) for cut in cuts]
    climbs, others, modularities = (np.array(values) for values in zip(*parts, strict=True))
    flat = math.exp(-float(np.quantile(climbs, _BEST)) / _VALLEY)
    scores = climbs + others + _MODULARITY * flat * modularities
    return most_agreed(cuts, scores, score.weights, _CLOSE + flat**4)


def most_agreed(cuts: list[IntArray], scores: FloatArray, weights: FloatArray, close: float = _CLOSE) -> int:
    """Return the number of the cut whose expected adjusted Rand index with the others is largest.

    ``weights`` are those of the items that are cut into clusters.
    """
    say = np.exp((scores - scores.max()) / close)
    expected = agreements(cuts, weights) @ say
    return int(np.argmax(expected.round(_DECIMALS)))


def agreements(cuts: list[IntArray], weights: FloatArray) -> FloatArray:
    """Return the adjusted Rand index of any two cuts, in the limit of many records.

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
