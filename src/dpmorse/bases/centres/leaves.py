"""The tree of DPTree: hashed records, branches where there are many, sums at the leaves."""

from dataclasses import dataclass

import numpy as np

from dpmorse.bases.centres.lloyd import shares_of_a_round
from dpmorse.bases.centres.nodes import Nodes, release_children
from dpmorse.bases.estimates import project
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries, Tallied
from dpmorse.statistics import BinaryCodes, CellMoments, Domain, PrefixCells, SecondMoments
from dpmorse.typing import FloatArray, IntArray

MOST_LEAVES = 2000
"""Most nodes that are counted, and most leaves, at a level of the tree. It limits time and the noise values
drawn."""

_SUPPORT = 3.0
"""A node is kept if its count is at least this many standard deviations of the noise, which noise alone
exceeds once in about 700 times."""

_TO_BRANCH = 3.0
"""A node branches if it has this many times the least count of a node: the heavier child then has one and
a half times that count, before noise."""


@dataclass(frozen=True)
class Leaves:
    """Disjoint intervals of codes with their noisy counts."""

    starts: IntArray
    ends: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, groups: list[Nodes], n_bits: int) -> "Leaves":
        """Collect nodes of all depths, in the order of their codes."""
        starts = np.concatenate([nodes.prefixes << (n_bits - nodes.n_bits) for nodes in groups])
        ends = np.concatenate([(nodes.prefixes + 1) << (n_bits - nodes.n_bits) for nodes in groups])
        order = np.argsort(starts)
        return cls(starts[order], ends[order], np.concatenate([nodes.counts for nodes in groups])[order])


def grow(
    queries: Queries, stage: Stage, tallied: Tallied, n_records: float, *, least: float, cost_of_level: float
) -> tuple[Leaves, int]:
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
        # MOST_LEAVES.
        nodes = children.where(heavy).heaviest(MOST_LEAVES // 4)
    return Leaves.of([*leaves, nodes], n_bits), level


def release_leaves(
    queries: Queries, stage: Stage, codes: BinaryCodes, leaves: Leaves, cost: float
) -> tuple[FloatArray, FloatArray]:
    """Release counts and sums of the leaves; return their mean points and their weights: a coreset."""
    cells = PrefixCells(codes, leaves.starts, leaves.ends)
    domain, statistic = codes.domain, leaf_sums(codes.domain, cells.n_cells)
    scales = queries.calibrate(statistic, cost, shares_of_a_round(domain.n_features, queries.noise))
    noisy = queries.moments(stage.step("leaves"), statistic, cells, scales)
    weights = np.maximum(leaves.counts, 1.0)
    return project(noisy.sums / weights[:, None], domain), weights


def leaf_sums(domain: Domain, n_leaves: int) -> CellMoments:
    """Return the statistic of leaves; a record may belong to none of them."""
    return CellMoments(domain, n_leaves, second_moments=SecondMoments.NONE, exhaustive=False)
