r"""Rules that turn modes, saddles and components into an order of merges.

* ``single``: the lowest saddle first, the paper's Algorithm 4. The merge tree of sublevel sets.
* ``persistence``: the least persistent mode first, into the deeper one beyond its lowest saddle.
* ``overlap``: the two groups of components that share most records and are parted by the lowest barrier.

The first two merge modes; ``agglomeration`` has two more rules that know nothing of them. Where there are
more components than modes, the components of one mode are put together first, at height 0, those that share
most records first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.morse.critical.spanning import bottlenecks, spanning_edges
from dpmorse.typing import BoolArray, FloatArray, IntArray

BARRIER_WEIGHT = 1.0  # gamma: nats of shared records that one nat of barrier outweighs
INFLATION = 1.5  # covariances of hard cells are truncated; this undoes it on average
_LEAST_SHARE = 1e-12  # below what a sample can tell; keeps far groups apart by their barriers
_SAMPLES = 4000  # pairs of opposite points, in all
_SAMPLES_PER_COMPONENT = (20, 500)


@dataclass(frozen=True)
class Leaves:
    """What a tree starts from: components of positive weight, then modes that no component descends to.

    ``components`` is -1 for the latter.
    """

    components: IntArray
    modes: IntArray

    @classmethod
    def of(cls, mixture: GaussianMixture, points: CriticalPoints) -> "Leaves":
        """Return the leaves of a mixture."""
        kept = np.flatnonzero(mixture.weights > 0)
        bare = np.setdiff1d(np.arange(points.n_modes), points.component_modes[kept])
        components = np.r_[kept, np.full(len(bare), -1)]
        return cls(components, np.r_[points.component_modes[kept], bare])

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self.modes)


@dataclass(frozen=True)
class Merges:
    """Merges of leaves, first to last: a leaf of either group, and the height. Heights do not fall.

    ``saddles`` are the numbers of the saddles over which modes merge, -1 for merges not decided by one.
    """

    first: IntArray
    second: IntArray
    heights: FloatArray
    saddles: IntArray

    @classmethod
    def without_saddles(cls, first: IntArray, second: IntArray, heights: FloatArray) -> "Merges":
        """Return merges that no saddle decides."""
        return cls(first, second, heights, np.full(len(first), -1))

    def __add__(self, other: "Merges") -> "Merges":
        """Return these merges followed by others."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Merges(*(np.r_[mine, theirs] for mine, theirs in pairs))


def merge_modes_by_saddle(points: CriticalPoints) -> Merges:
    """Join modes over the lowest saddles first; heights are above the lowest mode."""
    ends, heights = points.saddle_ends, points.saddle_heights
    edges = spanning_edges(points.n_modes, ends[:, 0], ends[:, 1], heights)
    above = np.maximum(heights[edges] - points.mode_heights[0], 0)
    return Merges(ends[edges, 0], ends[edges, 1], np.maximum.accumulate(above), edges)


def merge_modes_by_persistence(points: CriticalPoints) -> Merges:
    """Join the least persistent mode first, to the deeper mode beyond its saddle; heights are persistences.

    A mode that was swallowed by another at a lower saddle is less persistent than that one, so this
    order is an order of merges too.
    """
    eldest, persistence, saddles = elders(points)
    young = np.flatnonzero(np.isfinite(persistence))
    young = young[np.argsort(persistence[young], kind="stable")]
    return Merges(young, eldest[young], persistence[young], saddles[young])


def elders(points: CriticalPoints) -> tuple[IntArray, FloatArray, IntArray]:
    """Return for each mode the deeper mode it falls to as water rises, its persistence, and the saddle.

    This is the elder rule. The lowest mode falls to nobody: to itself, with infinite persistence.
    """
    merges = merge_modes_by_saddle(points)
    lowest = np.arange(points.n_modes)  # of each mode's lake: its lowest mode; modes are sorted by height
    eldest, persistence = np.arange(points.n_modes), np.full(points.n_modes, np.inf)
    saddles = np.full(points.n_modes, -1)
    for a, b, height, saddle in zip(merges.first, merges.second, merges.heights, merges.saddles, strict=True):
        elder, younger = sorted((lowest[a], lowest[b]))
        eldest[younger], saddles[younger] = elder, saddle
        persistence[younger] = max(height - (points.mode_heights[younger] - points.mode_heights[0]), 0.0)
        lowest[lowest == younger] = elder
    return eldest, persistence, saddles


def merge_below_modes(mixture: GaussianMixture, leaves: Leaves) -> Merges:
    """Put the components of each mode together at height 0, those that share most records first."""
    same_mode = leaves.modes[:, None] == leaves.modes
    flat = np.zeros((len(leaves), len(leaves)))
    merges = _agglomerate(_Groups(shared_records(mixture, leaves), flat, np.zeros(len(leaves)), same_mode))
    return Merges.without_saddles(merges.first, merges.second, np.zeros(len(merges.heights)))


def merge_through_modes(mixture: GaussianMixture, leaves: Leaves, of_modes: Merges) -> Merges:
    """Put the components of each mode together, then merge modes as given."""
    leaf_of_mode = np.zeros(leaves.modes.max() + 1, dtype=np.int64)
    leaf_of_mode[leaves.modes] = np.arange(len(leaves))
    first, second = leaf_of_mode[of_modes.first], leaf_of_mode[of_modes.second]
    return merge_below_modes(mixture, leaves) + Merges(first, second, of_modes.heights, of_modes.saddles)


def merge_by_overlap(mixture: GaussianMixture, points: CriticalPoints, leaves: Leaves) -> Merges:
    r"""Join the groups a, b of components whose merge costs least.

    .. math:: -\ln \frac{Q_{ab}}{\min(Q_a, Q_b)} + \gamma \max(0, f(pass_{ab}) - \max(f_a, f_b))

    is the cost, with Q_ab the expected product of memberships under the mixture with covariances inflated
    by 1.5, Q_a their sums, f_a the lowest mode of a group, and the pass that of the merge tree. A mode
    without components has no records to share; it goes first, to where its lowest saddle leads.
    """
    barriers = passes_between(points)[np.ix_(leaves.modes, leaves.modes)]
    full = np.flatnonzero(leaves.components >= 0)
    floors = points.mode_heights[leaves.modes]
    anywhere = np.ones((len(full), len(full)), dtype=bool)
    inner = np.ix_(full, full)
    groups = _Groups(shared_records(mixture, leaves)[inner], barriers[inner], floors[full], anywhere)
    merges = _agglomerate(groups, merge_modes_by_saddle(points).saddles, points.saddle_heights)
    heights = np.maximum.accumulate(merges.heights)  # costs may fall; heights must not
    return attach_bare_modes(points, leaves) + Merges(
        full[merges.first], full[merges.second], heights, merges.saddles
    )


def shared_records(mixture: GaussianMixture, leaves: Leaves, inflation: float = INFLATION) -> FloatArray:
    """Return Q_ab = E[w_a w_b] between leaves, by a fixed sample of the inflated mixture.

    Every component is sampled with the same normal numbers and their negatives, and counts by its
    weight: the result does not depend on the order of components.
    """
    inflated = GaussianMixture(mixture.weights, mixture.means, inflation * mixture.covariances)
    kept = leaves.components[leaves.components >= 0]
    n = int(np.clip(_SAMPLES // len(kept), *_SAMPLES_PER_COMPONENT))
    normal = np.random.default_rng(0).standard_normal((n, mixture.n_features))
    normal = np.vstack([normal, -normal])
    shared = np.zeros((len(leaves), len(leaves)))
    for k in kept:
        points = inflated.means[k] + normal @ np.linalg.cholesky(inflated.covariances[k]).T
        memberships = inflated.responsibilities(points)[:, kept]
        shared[: len(kept), : len(kept)] += inflated.weights[k] * (memberships.T @ memberships) / len(normal)
    return shared


def attach_bare_modes(points: CriticalPoints, leaves: Leaves) -> Merges:
    """Join each mode without components, at height 0, to the leaf its lowest saddle leads to."""
    barriers = passes_between(points)[np.ix_(leaves.modes, leaves.modes)]
    bare = np.flatnonzero(leaves.components < 0)
    full = np.flatnonzero(leaves.components >= 0)
    nearest = full[barriers[np.ix_(bare, full)].argmin(axis=1)]
    return Merges.without_saddles(bare, nearest, np.zeros(len(bare)))


def passes_between(points: CriticalPoints) -> FloatArray:
    """Return the pass between any two modes; -inf for one and the same."""
    return bottlenecks(
        points.n_modes, points.saddle_ends[:, 0], points.saddle_ends[:, 1], points.saddle_heights
    )


class Groups(Protocol):
    """Groups, and what it costs to join any two of them: inf for groups that are no more or must not join."""

    costs: FloatArray

    def join(self, a: int, b: int) -> None:
        """Make one group of two, known by the number of the first."""
        ...


def cheapest_first(groups: Groups) -> Iterator[tuple[int, int]]:
    """Yield the pair of lowest cost, then join it, until no pair is left."""
    while np.isfinite(groups.costs).any():
        a, b = (int(i) for i in np.unravel_index(np.argmin(groups.costs), groups.costs.shape))
        yield a, b
        groups.join(a, b)


class _Groups:
    """Groups of leaves, and what it costs to join any two of them."""

    def __init__(
        self, shared: FloatArray, barriers: FloatArray, floors: FloatArray, allowed: BoolArray
    ) -> None:
        self._shared, self._barriers, self._floors = shared.copy(), barriers.copy(), floors.copy()
        self._masses, self._allowed = shared.sum(axis=1), allowed.copy()
        self.costs = np.full(shared.shape, np.inf)
        for a in range(len(shared)):
            self._update_costs(a)

    def join(self, a: int, b: int) -> None:
        """Make one group of two, known by the number of the first."""
        self._shared[a] += self._shared[b]
        self._shared[:, a] += self._shared[:, b]
        self._masses[a] += self._masses[b]
        self._barriers[a] = self._barriers[:, a] = np.minimum(self._barriers[a], self._barriers[b])
        self._floors[a] = min(self._floors[a], self._floors[b])
        self._allowed[b] = self._allowed[:, b] = False
        self.costs[b] = self.costs[:, b] = np.inf
        self._update_costs(a)

    def barrier(self, a: int, b: int) -> float:
        """Return the pass between two groups, -inf within one mode."""
        return float(self._barriers[a, b])

    def _update_costs(self, a: int) -> None:
        """Write the costs of joining group a to every other group."""
        smaller = np.maximum(np.minimum(self._masses[a], self._masses), 1e-300)
        apart = -np.log(np.maximum(self._shared[a] / smaller, _LEAST_SHARE))
        climb = np.maximum(0, self._barriers[a] - np.maximum(self._floors[a], self._floors))
        row = np.where(self._allowed[a], apart + BARRIER_WEIGHT * climb, np.inf)
        row[a] = np.inf
        self.costs[a] = self.costs[:, a] = row


def _agglomerate(
    groups: _Groups, tree_saddles: IntArray | None = None, saddle_heights: FloatArray | None = None
) -> Merges:
    """Join the pair of lowest cost until no pair is allowed; note the saddle of the tree between the two."""
    first, second, heights, passes = [], [], [], []
    for a, b in cheapest_first(groups):
        first.append(a)
        second.append(b)
        heights.append(groups.costs[a, b])
        passes.append(groups.barrier(a, b))
    pairs = np.array([first, second], dtype=np.int64)
    saddles = np.full(len(first), -1, dtype=np.int64)
    if tree_saddles is not None and saddle_heights is not None and len(tree_saddles):
        of_tree = saddle_heights[tree_saddles]  # every barrier is the height of one of these
        over_saddle = np.isfinite(passes)
        saddles[over_saddle] = tree_saddles[np.searchsorted(of_tree, np.array(passes)[over_saddle])]
    return Merges(pairs[0], pairs[1], np.array(heights), saddles)
