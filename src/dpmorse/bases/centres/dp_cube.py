"""DPCube: candidates from cubes in a random projection, and a private local search among them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dpmorse.bases.centres.base import CENTRES, CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.lloyd import lloyd_rounds, means_of_cells, shares_of_a_round
from dpmorse.bases.centres.nodes import Nodes, release_children
from dpmorse.bases.estimates import packed_centres, project
from dpmorse.bases.k_means import k_means
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries, Tallied
from dpmorse.bases.settings import NOISE_BACKENDS, Settings, one_of, parameter
from dpmorse.exceptions import InvalidParameterError
from dpmorse.statistics import (
    LARGEST_N_BITS,
    BinaryCodes,
    CellMoments,
    Domain,
    NearestCubes,
    SecondMoments,
    SwapCosts,
)
from dpmorse.typing import FloatArray, IntArray

_N_ITER = 2
"""Default number of rounds in all columns: the recovery of the centres and one round of Lloyd's algorithm."""

_SHARE_OF_CUBES, _SHARE_OF_SEARCH = 0.41, 0.20
"""Shares of the cost of centres for counting cubes and for the search; the rest recovers the centres in all
columns. Cubes get the most, because they have many levels, each of which is paid for."""

_MOST_CUBES = 2000
"""Most cubes that are kept at a level. All their children are counted, so this limits time and memory."""

_MOST_AXES = 8
"""Most axes of the projection. A cube has 2^axes children, 256 at most, each of which needs noise."""

_DEPTHS = (4, 10)
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


def _native(name: str, value: Any, given: Mapping[str, Any]) -> str:
    """Check the sampler: OpenDP's cannot draw random choices."""
    if one_of(NOISE_BACKENDS)(name, value, given) != "native":
        raise InvalidParameterError(
            f"noise must be 'native' for DPCube, got '{value}', which cannot draw choices."
        )
    return "native"


@dataclass(frozen=True, kw_only=True)
class CubeSettings(CentreSettings):
    """Checked parameters of a ``DPCube``."""

    noise: str = parameter(_native, refused=("opendp", "loud", None))


class DPCube(CentreBase):
    r"""Differentially private k-means in a random projection, with a Gaussian around each centre.

    The method of Balcan, Dick, Liang, Mou and Zhang (2017): records are projected to few axes, cubes are
    halved where noisy counts allow, their centres are candidates, and a local search exchanges centres by
    the exponential mechanism; the centres are recovered in all columns by noisy means. Unlike in the
    published program, every child of a cube is counted, empty or not, distances are cut off so that one
    record matters little to the search, and all that is released is paid for. A last release measures
    covariances. Columns may be in the hundreds.

    Parameters
    ----------
    n_iter : int or None, default=None
        Rounds in all columns: the recovery and rounds of Lloyd's algorithm; None is 2.

    Notes
    -----
    **Privacy.** The unit is one row of X. Released are the number of records (under "add-remove"), counts
    of disjoint cubes, level by level, random choices (Theorem 7 of docs/privacy.md), and counts and sums of
    cells (Theorems 5 and 6). A record's cube is a function of that record and of a data-free projection,
    evaluated exactly. The total is Theorems 3 and 4, or the sum of pure epsilons. Labels of training
    records are not private.

    Examples
    --------
    >>> from dpmorse import DPCube, datasets
    >>> DPCube(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).cluster_centers_.shape
    (3, 2)
    """

    settings_type: ClassVar[type[Settings]] = CubeSettings

    def most_draws(self, settings: CentreSettings) -> int:
        """Return the most noise values of cubes and rounds."""
        k, d = settings.n_components, settings.n_features
        n_rounds = settings.n_iter or _N_ITER
        n_cubes = _DEPTHS[1] * _MOST_CUBES << _MOST_AXES
        return n_cubes + n_rounds * k * (1 + d)

    def find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Search among cubes of a projection that hold records, and find the centres in all columns."""
        k, stage = plan.settings.n_components, plan[CENTRES]
        tallied = queries.tally(stage.step("cubes"), _cube_codes(plan.domain, n_records, rng))
        codes, cost = tallied.codes, stage.cost
        of_level = _SHARE_OF_CUBES * cost / codes.bits
        kept = _release_cubes(queries, stage, tallied, n_records, of_level)
        candidates = _find_candidates(codes, kept, k, rng)
        chosen = _search(queries, stage, tallied, candidates, k, cost=_SHARE_OF_SEARCH * cost)
        # The cost of levels that were not needed is spent on the recovery.
        left = cost - len(kept) * of_level - _SHARE_OF_SEARCH * cost
        n_rounds = plan.settings.n_iter or _N_ITER
        centres = self._recover(queries, plan, NearestCubes(codes, codes.bits, chosen), left / n_rounds, rng)
        return lloyd_rounds(queries, plan, centres, left - left / n_rounds, n_rounds - 1)

    def _recover(
        self,
        queries: Queries,
        plan: CentrePlan,
        cells: NearestCubes,
        cost: float,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the noisy mean of each projected cell in all columns; a data-free point for none."""
        domain = plan.domain
        statistic = CellMoments(domain, cells.n_cells, second_moments=SecondMoments.NONE)
        scales = queries.calibrate(statistic, cost, shares_of_a_round(domain.n_features, queries.noise))
        noisy = queries.moments(plan[CENTRES].step("recovery"), statistic, cells, scales)
        means, supported = means_of_cells(noisy)
        spread = packed_centres(cells.n_cells, domain.n_features, rng)
        return project(np.where(supported[:, None], means, spread), domain)


def _cube_codes(domain: Domain, n_records: float, rng: np.random.Generator) -> BinaryCodes:
    """Return a random projection to about (1/2) ln n axes, and cubes of about one record each in it."""
    d = domain.n_features
    n_axes = d if d <= _FEW_COLUMNS else int(np.clip(math.floor(0.5 * math.log(n_records)), 2, _MOST_AXES))
    # n cubes need log2(n) halvings over all axes; three more for records that are not spread evenly.
    depth = math.ceil(math.log2(n_records) / n_axes) + 3
    depth = int(np.clip(depth, _DEPTHS[0], min(_DEPTHS[1], LARGEST_N_BITS // n_axes)))
    if n_axes == d:
        return BinaryCodes.rounded(domain, np.eye(d), 1.0, depth)
    # Entries of variance 1 / n_axes keep squared lengths on average (Johnson and Lindenstrauss).
    projection = rng.standard_normal((n_axes, d)) / math.sqrt(n_axes)
    return BinaryCodes.rounded(domain, projection, _REACH * math.sqrt(d / n_axes), depth)


def _release_cubes(
    queries: Queries, stage: Stage, tallied: Tallied, n_records: float, cost_of_level: float
) -> list[Nodes]:
    """Halve all axes of the cubes that hold records, level by level; return those kept at each level."""
    nodes, kept, codes = Nodes.root(n_records), [], tallied.codes
    for level in range(1, codes.bits + 1):
        step = stage.step("cubes", level, codes.bits)
        children, noise = release_children(queries, step, tallied, nodes, codes.n_axes, cost=cost_of_level)
        nodes = children.where(children.counts >= _SUPPORT * noise)
        nodes = nodes.heaviest(int(min(_MOST_CUBES, 2 * n_records / (_SUPPORT * noise))))
        kept.append(nodes)
        if not len(nodes):
            break
    return kept


def _find_candidates(
    codes: BinaryCodes, kept: list[Nodes], n_centres: int, rng: np.random.Generator
) -> IntArray:
    """Return centres of k-means on the smallest kept cubes, followed by these cubes, thinned out by k-means.

    Coordinates are in halves of the smallest width. The search starts from the first ``n_centres`` points.
    """
    leaves = [  # without kept children
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


def _search(
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
