"""DPTree: a coreset from a tree of hashed records, and k-means on it."""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.bases.centres.base import CENTRES, CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.lloyd import lloyd_rounds, shares_of_a_round
from dpmorse.bases.centres.nodes import Nodes, release_children
from dpmorse.bases.estimates import packed_centres, project
from dpmorse.bases.k_means import k_means
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries, Tallied
from dpmorse.statistics import BinaryCodes, CellMoments, Domain, PrefixCells, SecondMoments
from dpmorse.typing import FloatArray, IntArray

_N_ITER = 2
"""Default number of rounds of Lloyd's algorithm after the tree; they share 30 % of the cost of centres."""

_DEPTHS = (4, 20)
"""The fewest and the most levels of the tree. Twenty levels suffice for about four million records; levels
share the budget of the counts."""

_SHARE_OF_TREE = 0.7
"""Share of the cost of centres for the tree; the rest is for rounds of Lloyd's algorithm."""

_SHARE_OF_COUNTS = 0.3
"""Share of the tree's cost for counts of nodes; the rest is for the sums of leaves. The paper has 5 %
(docs/bases.md)."""

_NOISE_OF_A_LEAF = 10.0
"""A leaf should hold this many records per standard deviation of a coordinate's sum, so that the noise of its
mean is about a tenth of the size of the domain."""

_NEXT_TO_NOTHING = 1e-3
"""Weight of the data-free points that are added to the coreset, so that k-means has enough distinct points.
Weights of leaves are at least 1."""

_MOST_LEAVES = 2000
"""Most nodes that are counted, and most leaves, at a level of the tree. It limits time and the noise values
drawn."""

_SUPPORT = 3.0
"""A node is kept if its count is at least this many standard deviations of the noise, which noise alone
exceeds once in about 700 times."""

_TO_BRANCH = 3.0
"""A node branches if it has this many times the least count of a node: the heavier child then has one and
a half times that count, before noise."""


class DPTree(CentreBase):
    r"""Differentially private k-means on a coreset from a hash tree, with a Gaussian around each centre.

    The method of Chang, Ghazi, Kumar and Manurangsi (2021) in the central model: random hyperplanes hash
    the records, a tree of hash prefixes is grown where noisy counts allow, each leaf becomes a weighted
    point by its noisy sum, and k-means clusters these points. Counts get 30 % of the tree's budget instead
    of 5 %, and two rounds of Lloyd's algorithm follow. A last release measures covariances.

    Parameters
    ----------
    n_iter : int or None, default=None
        Rounds of Lloyd's algorithm after the tree; None is 2.

    Notes
    -----
    **Privacy.** The unit is one row of X. Released are the number of records (under "add-remove"), counts
    of disjoint nodes, level by level, and counts and sums of leaves and cells (Theorems 5 and 6 of
    docs/privacy.md). A record's node is a function of that record and of data-free random directions,
    evaluated exactly; which nodes are counted depends on released counts only. The total is Theorems 3 and
    4, or the sum of pure epsilons. Labels of training records are not private.

    Examples
    --------
    >>> from dpmorse import DPTree, datasets
    >>> DPTree(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).cluster_centers_.shape
    (3, 2)
    """

    def most_draws(self, settings: CentreSettings) -> int:
        """Return the most noise values of levels, leaves and rounds."""
        k, d = settings.n_components, settings.n_features
        n_rounds = settings.n_iter or _N_ITER
        return _DEPTHS[1] * _MOST_LEAVES + (_DEPTHS[1] * _MOST_LEAVES + n_rounds * k) * (1 + d)

    def find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Cluster the leaves of a tree, then move the centres by rounds of Lloyd's algorithm."""
        settings, cost = plan.settings, plan[CENTRES].cost
        points, weights = self._coreset(queries, plan, n_records, rng)
        fill = project(packed_centres(settings.n_components, points.shape[1], rng), plan.domain)
        points = np.vstack([points, fill])
        weights = np.concatenate([weights, np.full(len(fill), _NEXT_TO_NOTHING)])
        found = k_means(points, settings.n_components, 10, rng, weights)
        rounds = (1 - _SHARE_OF_TREE) * cost
        return lloyd_rounds(queries, plan, found.centres, rounds, settings.n_iter or _N_ITER)

    def _coreset(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted points that represent the records."""
        domain, stage = plan.domain, plan[CENTRES]
        cost = _SHARE_OF_TREE * stage.cost
        depth = int(np.clip(math.ceil(math.log2(n_records)) - 2, *_DEPTHS))
        directions = rng.standard_normal((depth, domain.n_features))
        codes = BinaryCodes.rounded(domain, directions, reach=1.0, bits=1)
        tallied = queries.tally(stage.step("levels"), codes)
        of_leaves = (1 - _SHARE_OF_COUNTS) * cost
        of_level = (cost - of_leaves) / depth
        # The least count of a leaf: enough to measure its mean, and at most half an average cluster.
        statistic = _leaf_sums(domain, 2)
        shares = shares_of_a_round(domain.n_features, queries.noise)
        noise = queries.calibrate(statistic, of_leaves, shares).sum * 2.0**-statistic.unit_bits
        relative = noise * math.sqrt(domain.n_features / float(statistic.largest_squared_norm))
        largest = n_records / (2 * plan.settings.n_components)
        least = max(1.0, min(_NOISE_OF_A_LEAF * relative, largest))
        leaves, n_levels = grow(queries, stage, tallied, n_records, least=least, cost_of_level=of_level)
        # The cost of levels that were not needed is spent on the leaves.
        return _release_leaves(queries, stage, codes, leaves, cost - n_levels * of_level)


@dataclass(frozen=True)
class _Leaves:
    """Disjoint intervals of codes with their noisy counts."""

    starts: IntArray
    ends: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, groups: list[Nodes], n_bits: int) -> "_Leaves":
        """Collect nodes of all depths, in the order of their codes."""
        starts = np.concatenate([nodes.prefixes << (n_bits - nodes.n_bits) for nodes in groups])
        ends = np.concatenate([(nodes.prefixes + 1) << (n_bits - nodes.n_bits) for nodes in groups])
        order = np.argsort(starts)
        return cls(starts[order], ends[order], np.concatenate([nodes.counts for nodes in groups])[order])


def grow(
    queries: Queries, stage: Stage, tallied: Tallied, n_records: float, *, least: float, cost_of_level: float
) -> tuple[_Leaves, int]:
    """Branch while children have enough records; return the leaves and the number of released levels.

    A child is kept if its noisy count is at least ``least`` and unlikely to be noise; it branches if it has
    three times that count. A node without kept children is a leaf.
    """
    nodes, leaves, level, n_bits = Nodes.root(n_records), [], 0, tallied.codes.n_bits
    while len(nodes) and level < n_bits:
        level += 1
        step = stage.step("level", level, n_bits)
        children, noise = release_children(queries, step, tallied, nodes, 1, cost=cost_of_level)
        enough = max(least, _SUPPORT * noise)
        kept = children.counts >= enough
        leaves.append(nodes.where(~kept.reshape(-1, 2).any(axis=1)))
        heavy = children.counts >= _TO_BRANCH * enough
        leaves.append(children.where(kept & ~heavy))
        # A quarter: with two children each, neither the counted nodes nor the leaves of a level exceed
        # _MOST_LEAVES.
        nodes = children.where(heavy).heaviest(_MOST_LEAVES // 4)
    return _Leaves.of([*leaves, nodes], n_bits), level


def _release_leaves(
    queries: Queries, stage: Stage, codes: BinaryCodes, leaves: _Leaves, cost: float
) -> tuple[FloatArray, FloatArray]:
    """Release counts and sums of the leaves; return their mean points and their weights: a coreset."""
    cells = PrefixCells(codes, leaves.starts, leaves.ends)
    domain, statistic = codes.domain, _leaf_sums(codes.domain, cells.n_cells)
    scales = queries.calibrate(statistic, cost, shares_of_a_round(domain.n_features, queries.noise))
    noisy = queries.moments(stage.step("leaves"), statistic, cells, scales)
    weights = np.maximum(leaves.counts, 1.0)
    return project(noisy.sums / weights[:, None], domain), weights


def _leaf_sums(domain: Domain, n_leaves: int) -> CellMoments:
    """Return the statistic of leaves; a record may belong to none of them."""
    return CellMoments(domain, n_leaves, second_moments=SecondMoments.NONE, exhaustive=False)
