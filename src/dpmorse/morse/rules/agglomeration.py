r"""Two classical ways to merge components, for clusters that no valley of the density parts.

* ``likelihood``: the pair whose replacement by one Gaussian of the same moments loses least likelihood,
  bounded by ``(w ln|S| - w_a ln|S_a| - w_b ln|S_b|) / 2`` (Runnalls 2007). Tells clusters apart by shape and
  scale, also around one centre.
* ``variance``: the pair that adds least variance within clusters, in units of each column's standard
  deviation (Ward 1963). Tells clusters apart by position alone, as k-means does.
"""

from collections.abc import Callable

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.rules.merging import Leaves, Merges, cheapest_first
from dpmorse.typing import FloatArray

_Costs = Callable[["Moments", int], FloatArray]


class Moments:
    """Weights, means and covariances of groups of components, and what it costs to join any two."""

    def __init__(self, weights: FloatArray, means: FloatArray, covariances: FloatArray, cost: _Costs) -> None:
        self.weights, self.means, self.covariances = weights.copy(), means.copy(), covariances.copy()
        self.log_dets = np.linalg.slogdet(covariances)[1]
        self._cost, self._gone = cost, np.zeros(len(weights), dtype=bool)
        self.costs = np.full((len(weights), len(weights)), np.inf)
        for a in range(len(weights)):
            self._update_costs(a)

    def joined(self, a: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, means and covariances of group a joined to every other one."""
        weights = self.weights[a] + self.weights
        part = (self.weights / weights)[:, None]
        gap = self.means - self.means[a]
        means = self.means[a] + part * gap
        inner = self.covariances[a] * (1 - part[:, :, None]) + self.covariances * part[:, :, None]
        between = (part * (1 - part))[:, :, None] * gap[:, :, None] * gap[:, None]
        return weights, means, inner + between

    def join(self, a: int, b: int) -> None:
        """Make one group of two, known by the number of the first."""
        weights, means, covariances = self.joined(a)
        self.weights[a], self.means[a], self.covariances[a] = weights[b], means[b], covariances[b]
        self.log_dets[a] = np.linalg.slogdet(self.covariances[a])[1]
        self._gone[b] = True
        self.costs[b] = self.costs[:, b] = np.inf
        self._update_costs(a)

    def _update_costs(self, a: int) -> None:
        """Write the costs of joining group a to every other group."""
        row = np.where(self._gone, np.inf, self._cost(self, a))
        row[a] = np.inf
        self.costs[a] = self.costs[:, a] = row


def total_variances(mixture: GaussianMixture) -> FloatArray:
    """Return the variance of each column under the mixture."""
    inner = np.diagonal(mixture.covariances, axis1=1, axis2=2)
    offsets = mixture.means - mixture.weights @ mixture.means
    variances: FloatArray = mixture.weights @ (inner + offsets**2)
    return variances


def merge_by_likelihood(mixture: GaussianMixture, leaves: Leaves) -> Merges:
    """Join the components that one Gaussian describes best; heights are losses in nats per record."""
    return _agglomerate(mixture, leaves, _lost_likelihood)


def merge_by_variance(mixture: GaussianMixture, leaves: Leaves) -> Merges:
    """Join the components that are nearest in standardised columns; heights are added variances."""
    scale = np.sqrt(total_variances(mixture))
    return _agglomerate(mixture.affine(1 / scale, np.zeros(len(scale))), leaves, _added_variance)


def _lost_likelihood(groups: Moments, a: int) -> FloatArray:
    weights, _, covariances = groups.joined(a)
    own = groups.weights * groups.log_dets
    losses: FloatArray = (weights * np.linalg.slogdet(covariances)[1] - own - own[a]) / 2
    return losses


def _added_variance(groups: Moments, a: int) -> FloatArray:
    harmonic = groups.weights[a] * groups.weights / (groups.weights[a] + groups.weights)
    added: FloatArray = harmonic * np.square(groups.means - groups.means[a]).sum(axis=1)
    return added


def _agglomerate(mixture: GaussianMixture, leaves: Leaves, cost: _Costs) -> Merges:
    """Join the pair of lowest cost until one group is left; leaves without component stay out of it."""
    kept = np.flatnonzero(leaves.components >= 0)
    of = leaves.components[kept]
    groups = Moments(mixture.weights[of], mixture.means[of], mixture.covariances[of], cost)
    merged = [(a, b, max(groups.costs[a, b], 0.0)) for a, b in cheapest_first(groups)]
    first, second, heights = np.array(merged, dtype=np.float64).reshape(-1, 3).T
    pairs = kept[first.astype(np.int64)], kept[second.astype(np.int64)]
    return Merges.without_saddles(*pairs, np.maximum.accumulate(heights))
