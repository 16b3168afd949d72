r"""Which rule to trust: every rule proposes its clusters, at several scales, and one score picks.

No rule is best everywhere: where rare clusters lie behind valleys the density is right, where classes are
made of many pieces the variance is, where one surrounds another the likelihood. For the partition that a
rule cuts into K clusters the score is

.. math:: \frac1K \sum_k c_k + \frac32 \min_k K w_k + \frac1{10} \frac1D \sum_j R_j^2

with c_k the climb in nats from the lowest point of cluster k to its lowest pass into another one, which
counts up to about seven; w_k the weight of cluster k; and R_j^2 the part of column j's variance that the
clusters explain. A low climb means a cut through a cluster; a cluster of next to no records is more often
noise than a cluster; variance breaks the ties among cuts through empty space. All of it is a function of
the mixture alone.

Scores that differ by hundredths of a nat say nothing, and where no cut follows a valley all are close. So
every proposal has a say by its score s, exp(s / 0.05), and the one nearest to the mean of all is taken: it
puts fewest pairs of records together that others part, or the reverse (Binder 1978). Where one score is
clearly the best, that is the one.

Rules are tried on the mixture and on two smoothed ones, each component's covariance raised by 2 % and 10 % of
every column's variance: valleys thinner than that (rounded or discrete columns, noise) close.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical.points import CriticalPoints, find_critical_points
from dpmorse.morse.rules.agglomeration import merge_by_likelihood, merge_by_variance, total_variances
from dpmorse.morse.rules.merging import (
    Leaves,
    Merges,
    attach_bare_modes,
    merge_by_overlap,
    merge_modes_by_persistence,
    merge_modes_by_saddle,
    merge_through_modes,
    passes_between,
)
from dpmorse.typing import BoolArray, FloatArray, IntArray

SMOOTHINGS = (0.0, 0.02, 0.1)
_BALANCE, _VARIANCE = 1.5, 0.1  # nats of climb that perfect balance and all variance are worth
_UNCLIMBABLE = 1e-3  # e^-c of a climb that is as good as endless
_CLOSE = 0.05  # nats of score by which a proposal loses most of its say


@dataclass(frozen=True)
class _View:
    """A mixture at one scale, with its landscape."""

    mixture: GaussianMixture
    points: CriticalPoints
    leaves: Leaves


@dataclass(frozen=True)
class _Proposal:
    """Merges of components, as pairs of their numbers among the leaves, by one rule at one scale."""

    name: str
    pairs: IntArray
    heights: FloatArray

    @classmethod
    def of(cls, name: str, view: _View, merges: Merges) -> "_Proposal":
        """Keep only those merges that join components: modes without one are nobody's cluster."""
        n_components = int((view.leaves.components >= 0).sum())  # these are the first leaves
        group, member = np.arange(len(view.leaves)), np.arange(len(view.leaves))
        member[n_components:] = -1  # a component of each group, -1 for a mode without
        pairs, heights = [], []
        for a, b, height in zip(merges.first, merges.second, merges.heights, strict=True):
            ga, gb = group[a], group[b]
            if member[ga] >= 0 and member[gb] >= 0:
                pairs.append((member[ga], member[gb]))
                heights.append(height)
            member[ga] = max(member[ga], member[gb])
            group[group == gb] = ga
        return cls(name, np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(heights))

    def cut(self, n_clusters: int) -> IntArray:
        """Perform merges until so many clusters are left; number them from 0."""
        group = np.arange(len(self.pairs) + 1)
        for a, b in self.pairs[: len(group) - n_clusters]:
            group[group == group[b]] = group[a]
        clusters: IntArray = np.unique(group, return_inverse=True)[1]
        return clusters


def merge_by_selection(
    mixture: GaussianMixture, points: CriticalPoints, leaves: Leaves, n_clusters: int, search: str
) -> tuple[Merges, str]:
    """Return the merges of the rule whose cut into ``n_clusters`` scores best, and its name."""
    views = [_View(mixture, points, leaves)]
    views += [_smoothed(mixture, smoothing, search) for smoothing in SMOOTHINGS[1:]]
    full = np.flatnonzero(leaves.components >= 0)
    score = _Score(views[0])
    wanted = min(n_clusters, len(full))
    proposals = list(_proposals(views))
    cuts = [proposal.cut(wanted) for proposal in proposals]
    scores = np.array([score(cut) for cut in cuts])
    chosen = proposals[most_agreed(cuts, scores, mixture.weights[leaves.components[full]])]
    first, second = full[chosen.pairs].T
    merges = Merges.without_saddles(first, second, chosen.heights)
    return attach_bare_modes(points, leaves) + merges, chosen.name


def most_agreed(cuts: list[IntArray], scores: FloatArray, weights: FloatArray) -> int:
    """Return which cut is nearest to the mean of all, each with a say by its score.

    The distance is the expected share of pairs of records that one puts together and the other does not;
    ``weights`` are those of what is cut into clusters.
    """
    say = np.exp((scores - scores.max()) / _CLOSE)
    say /= say.sum()
    mean = sum(share * _together(cut) for share, cut in zip(say, cuts, strict=True))
    distances = [weights @ np.square(_together(cut) - mean) @ weights for cut in cuts]
    return int(np.argmin(distances))


def _together(cut: IntArray) -> FloatArray:
    same: FloatArray = (cut[:, None] == cut).astype(np.float64)
    return same


def _smoothed(mixture: GaussianMixture, smoothing: float, search: str) -> _View:
    covariances = mixture.covariances + smoothing * np.diag(total_variances(mixture))
    smooth = GaussianMixture(mixture.weights, mixture.means, covariances)
    points = find_critical_points(smooth, search)
    return _View(smooth, points, Leaves.of(smooth, points))


def _proposals(views: list[_View]) -> Iterator[_Proposal]:
    """Yield the merges of components by every rule at every scale."""
    for view, smoothing in zip(views, SMOOTHINGS, strict=True):
        at_scale = f", smoothed by {smoothing:.0%}" if smoothing else ""
        mixture, points, leaves = view.mixture, view.points, view.leaves
        by_saddle = merge_through_modes(mixture, leaves, merge_modes_by_saddle(points))
        by_persistence = merge_through_modes(mixture, leaves, merge_modes_by_persistence(points))
        yield _Proposal.of("overlap" + at_scale, view, merge_by_overlap(mixture, points, leaves))
        yield _Proposal.of("single" + at_scale, view, by_saddle)
        yield _Proposal.of("persistence" + at_scale, view, by_persistence)
        yield _Proposal.of("likelihood" + at_scale, view, merge_by_likelihood(mixture, leaves))
    yield _Proposal.of("variance", views[0], merge_by_variance(views[0].mixture, views[0].leaves))


class _Score:
    """How well a partition of the components parts the records; see the module's docstring."""

    def __init__(self, view: _View) -> None:
        mixture, leaves, points = view.mixture, view.leaves, view.points
        kept = leaves.components[leaves.components >= 0]
        modes = leaves.modes[: len(kept)]
        self._weights, self._means = mixture.weights[kept], mixture.means[kept]
        self._passes = passes_between(points)[np.ix_(modes, modes)]
        self._floors = points.mode_heights[modes]
        self._variances = total_variances(mixture)

    def __call__(self, groups: IntArray) -> float:
        indicators = np.eye(int(groups.max()) + 1)[groups]
        weights = indicators.T @ self._weights
        climbs = [self._climb(groups == k) for k in range(len(weights))]
        balance = len(weights) * weights.min()
        return float(np.mean(climbs) + _BALANCE * balance + _VARIANCE * self._explained(indicators, weights))

    def _climb(self, inside: BoolArray) -> float:
        """Return how far up it is from a cluster's lowest point to its lowest pass, up to about 7 nats."""
        if inside.all():
            return 0.0
        climb = max(0.0, self._passes[np.ix_(inside, ~inside)].min() - self._floors[inside].min())
        return float(-np.log(np.exp(-climb) + _UNCLIMBABLE))

    def _explained(self, indicators: FloatArray, weights: FloatArray) -> float:
        """Return the mean over columns of the variance between clusters as a part of the whole."""
        centres = (indicators * self._weights[:, None]).T @ self._means / weights[:, None]
        offsets = centres - self._weights @ self._means
        return float((weights @ offsets**2 / self._variances).mean())
