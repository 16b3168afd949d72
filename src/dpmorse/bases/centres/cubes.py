"""The cubes of DPCube: candidates in a projection, and a private search among them."""

import math
from itertools import pairwise

import numpy as np

from dpmorse.bases.centres.nodes import Nodes, release_children
from dpmorse.bases.k_means import k_means
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries, Tallied
from dpmorse.statistics import LARGEST_N_BITS, BinaryCodes, Domain, SwapCosts
from dpmorse.typing import FloatArray, IntArray

MOST_CUBES = 2000
"""Most cubes that are kept at a level. All their children are counted, so this limits time and memory."""

MOST_AXES = 8
"""Most axes of the projection. A cube has 2^axes children, 256 at most, each of which needs noise."""

DEPTHS = (4, 10)
"""The fewest and the most levels: an axis is cut into 16 to 1024 parts. Levels share the budget of the
cubes."""

_FEW_COLUMNS = 5
"""Up to this number of columns nothing is projected: the columns themselves are few enough to be axes."""

_REACH = 1.25
"""Range of a projected axis on either side of 0, in standard deviations of a projected corner of the box,
which is the point with the largest norm. Projections beyond it are clipped; a wider range would make cubes
larger."""

_SUPPORT = 4.0
"""A cube is kept if its count is at least this many standard deviations of the noise. A level has up to half
a million cubes, most of them empty; noise alone exceeds four in one of about 30,000."""

_MOST_CANDIDATES = 200
"""Most candidates of the search besides the start. The search evaluates every exchange of a centre for a
candidate, so this limits its time."""

_MOST_SWAPS = 20
"""Most exchanges of the search. They share its budget, so that more of them would each be more random."""

_SEARCH_DEPTH = 5
"""Halvings of an axis in the search, which sees records rounded to cubes of this size: 32 parts of an axis.
Finer cubes would be more, and the search slower."""


def cube_codes(domain: Domain, n_records: float, rng: np.random.Generator) -> BinaryCodes:
    """Return a random projection to about (1/2) ln n axes, and cubes of about one record each in it."""
    d = domain.n_features
    n_axes = d if d <= _FEW_COLUMNS else int(np.clip(math.floor(0.5 * math.log(n_records)), 2, MOST_AXES))
    # n cubes need log2(n) halvings over all axes; three more for records that are not spread evenly.
    depth = math.ceil(math.log2(n_records) / n_axes) + 3
    depth = int(np.clip(depth, DEPTHS[0], min(DEPTHS[1], LARGEST_N_BITS // n_axes)))
    if n_axes == d:
        return BinaryCodes.rounded(domain, np.eye(d), 1.0, depth)
    # Entries of variance 1 / n_axes keep squared lengths on average (Johnson and Lindenstrauss).
    projection = rng.standard_normal((n_axes, d)) / math.sqrt(n_axes)
    return BinaryCodes.rounded(domain, projection, _REACH * math.sqrt(d / n_axes), depth)


def release_cubes(
    queries: Queries, stage: Stage, tallied: Tallied, n_records: float, cost_of_level: float
) -> list[Nodes]:
    """Halve all axes of the cubes that hold records, level by level; return those kept at each level."""
    nodes, kept, codes = Nodes.root(n_records), [], tallied.codes
    for level in range(1, codes.bits + 1):
        step = stage.step("cubes", level, codes.bits)
        children, noise = release_children(queries, step, tallied, nodes, codes.n_axes, cost=cost_of_level)
        nodes = children.where(children.counts >= _SUPPORT * noise)
        nodes = nodes.heaviest(int(min(MOST_CUBES, 2 * n_records / (_SUPPORT * noise))))
        kept.append(nodes)
        if not len(nodes):
            break
    return kept


def find_candidates(
    codes: BinaryCodes, kept: list[Nodes], n_centres: int, rng: np.random.Generator
) -> IntArray:
    """Return centres of k-means on the smallest kept cubes, followed by these cubes, thinned out by k-means.

    Coordinates are in halves of the smallest width. The search starts from the first ``n_centres`` points.
    """
    leaves = [
        nodes.where(~np.isin(nodes.prefixes, below.prefixes >> codes.n_axes))
        for nodes, below in pairwise(kept)
    ]
    leaves.append(kept[-1])
    cubes = np.vstack([codes.centres(nodes.prefixes, nodes.n_bits // codes.n_axes) for nodes in leaves])
    side = 1 << codes.bits
    fill = rng.integers(-side, side + 1, size=(4 * n_centres, codes.n_axes))  # where too little was kept
    weights = np.concatenate([*(nodes.counts for nodes in leaves), np.full(len(fill), 1e-3)])
    points: FloatArray = np.vstack([cubes, fill]).astype(np.float64)
    start = k_means(points, n_centres, 10, rng, weights).centres
    if len(points) > _MOST_CANDIDATES:
        points = k_means(points, _MOST_CANDIDATES, 1, rng, weights).centres
    candidates: IntArray = np.rint(np.vstack([start, points])).astype(np.int64)
    return candidates


def search(
    queries: Queries, stage: Stage, tallied: Tallied, candidates: IntArray, n_centres: int, *, cost: float
) -> IntArray:
    """Exchange centres for candidates, one at a time, by the exponential mechanism; choose the best set."""
    codes = tallied.codes
    limit = codes.n_axes * 4**codes.bits // 4  # a quarter of a box's squared half-diagonal
    costs = SwapCosts.of(tallied.exact, codes, min(codes.bits, _SEARCH_DEPTH), limit)
    n_swaps = min(n_centres, _MOST_SWAPS)
    chosen, met, options = np.arange(n_centres), [], []
    for i in range(1, n_swaps + 1):
        after = costs.after_swaps(candidates, chosen)
        swap = queries.choose(stage.step("swap", i, n_swaps), after, limit, cost / (n_swaps + 1))
        chosen = chosen.copy()
        chosen[swap // len(candidates)] = swap % len(candidates)
        met.append(chosen)
        options.append((after, swap))
    penalties = SwapCosts.of_options(options)
    best = queries.choose(stage.step("best set"), penalties, limit, cost / (n_swaps + 1))
    return candidates[met[best]]
