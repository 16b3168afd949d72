r"""Rules that turn modes, saddles and components into an order of merges.

* ``single``: the lowest saddle first, the paper's Algorithm 4. The merge tree of sublevel sets.
* ``persistence``: the least persistent mode first, into the deeper one beyond its lowest saddle.
* ``overlap``: the two groups of components that share most records and are parted by the lowest barrier.

The first two merge modes. Where there are more components than modes, the components of one mode are put
together first, at height 0, those that share most records first.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical_points import CriticalPoints
from dpmorse.morse.spanning import bottlenecks, spanning_edges
from dpmorse.typing import BoolArray, FloatArray, IntArray

BARRIER_WEIGHT = 1.0  # gamma: nats of shared records that one nat of barrier outweighs
INFLATION = 1.5  # covariances of hard cells are truncated; this undoes it on average
_LEAST_SHARE = 1e-12  # below what a sample can tell; keeps far groups apart by their barriers
_SAMPLES = 4000
_SAMPLES_PER_COMPONENT = 40


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
    """Merges of leaves, first to last: a leaf of either group, and the height. Heights do not fall."""

    first: IntArray
    second: IntArray
    heights: FloatArray

    def __add__(self, other: "Merges") -> "Merges":
        """Return these merges followed by others."""
        first, second = np.r_[self.first, other.first], np.r_[self.second, other.second]
        return Merges(first, second, np.r_[self.heights, other.heights])


def merge_modes_by_saddle(points: CriticalPoints) -> Merges:
    """Join modes over the lowest saddles first; heights are above the lowest mode."""
    ends, heights = points.saddle_ends, points.saddle_heights
    edges = spanning_edges(points.n_modes, ends[:, 0], ends[:, 1], heights)
    return Merges(ends[edges, 0], ends[edges, 1], heights[edges] - points.mode_heights.min(initial=np.inf))


def merge_modes_by_persistence(points: CriticalPoints) -> Merges:
    """Join the least persistent mode first, to the deeper mode beyond its saddle; heights are persistences.

    A mode that was swallowed by another at a lower saddle is less persistent than that one, so this
    order is an order of merges too.
    """
    eldest, persistence = elders(points)
    young = np.flatnonzero(np.isfinite(persistence))
    young = young[np.argsort(persistence[young], kind="stable")]
    return Merges(young, eldest[young], persistence[young])


def elders(points: CriticalPoints) -> tuple[IntArray, FloatArray]:
    """Return for each mode the deeper mode it falls to as water rises, and its persistence (elder rule).

    The lowest mode falls to nobody: itself, with infinite persistence.
    """
    merges = merge_modes_by_saddle(points)
    lowest = np.arange(points.n_modes)  # of each mode's lake: its lowest mode; modes are sorted by height
    eldest, persistence = np.arange(points.n_modes), np.full(points.n_modes, np.inf)
    for a, b, height in zip(merges.first, merges.second, merges.heights, strict=True):
        elder, younger = sorted((lowest[a], lowest[b]))
        eldest[younger] = elder
        persistence[younger] = height - (points.mode_heights[younger] - points.mode_heights[0])
        lowest[lowest == younger] = elder
    return eldest, persistence


def merge_below_modes(mixture: GaussianMixture, leaves: Leaves) -> Merges:
    """Put the components of each mode together at height 0, those that share most records first."""
    same_mode = leaves.modes[:, None] == leaves.modes
    flat = np.zeros((len(leaves), len(leaves)))
    merges = _agglomerate(shared_records(mixture, leaves), flat, np.zeros(len(leaves)), same_mode)
    return Merges(merges.first, merges.second, np.zeros(len(merges.heights)))


def merge_by_overlap(mixture: GaussianMixture, points: CriticalPoints, leaves: Leaves) -> Merges:
    r"""Join groups a, b of components by the lowest cost

    .. math:: -\ln \frac{Q_{ab}}{\min(Q_a, Q_b)} + \gamma \max(0, f(pass_{ab}) - \max(f_a, f_b))

    with Q_ab the expected product of memberships under the mixture with covariances inflated by 1.5,
    Q_a their sums, f_a the lowest mode of a group, and the pass that of the merge tree. A mode without
    components has no records to share; it goes first, to where its lowest saddle leads.
    """
    barriers = _barriers(points)[np.ix_(leaves.modes, leaves.modes)]
    bare = np.flatnonzero(leaves.components < 0)
    full = np.flatnonzero(leaves.components >= 0)
    nearest = full[barriers[np.ix_(bare, full)].argmin(axis=1)]
    attached = Merges(bare, nearest, np.zeros(len(bare)))
    floors = points.mode_heights[leaves.modes]
    anywhere = np.ones((len(full), len(full)), dtype=bool)
    inner = np.ix_(full, full)
    merges = _agglomerate(shared_records(mixture, leaves)[inner], barriers[inner], floors[full], anywhere)
    return attached + Merges(full[merges.first], full[merges.second], np.maximum.accumulate(merges.heights))


def shared_records(mixture: GaussianMixture, leaves: Leaves) -> FloatArray:
    """Return Q_ab = E[w_a w_b] between leaves, by a fixed sample of the inflated mixture."""
    inflated = GaussianMixture(mixture.weights, mixture.means, INFLATION * mixture.covariances)
    kept = leaves.components[leaves.components >= 0]
    n_samples = max(_SAMPLES, _SAMPLES_PER_COMPONENT * len(kept))
    memberships = inflated.responsibilities(inflated.sample(n_samples, rng=0)[0])[:, kept]
    shared = np.zeros((len(leaves), len(leaves)))
    shared[: len(kept), : len(kept)] = memberships.T @ memberships / n_samples
    return shared


def _barriers(points: CriticalPoints) -> FloatArray:
    """Return the pass between any two modes; -inf for one and the same."""
    return bottlenecks(points.n_modes, points.saddle_ends[:, 0], points.saddle_ends[:, 1], points.saddle_heights)


def _agglomerate(shared: FloatArray, barriers: FloatArray, floors: FloatArray, allowed: BoolArray) -> Merges:
    """Join the allowed pair of lowest cost until no pair is allowed."""
    shared, barriers, floors = shared.copy(), barriers.copy(), floors.copy()
    masses = shared.sum(axis=1)
    costs = np.full(shared.shape, np.inf)
    alive = np.ones(len(shared), dtype=bool)
    for a in range(len(shared)):
        _update_costs(costs, a, shared, masses, barriers, floors, allowed)
    first, second, heights = [], [], []
    while np.isfinite(costs).any():
        a, b = np.unravel_index(np.argmin(costs), costs.shape)
        first.append(a), second.append(b), heights.append(costs[a, b])
        alive[b] = False
        shared[a] += shared[b]
        shared[:, a] += shared[:, b]
        masses[a] += masses[b]
        barriers[a] = barriers[:, a] = np.minimum(barriers[a], barriers[b])
        floors[a] = min(floors[a], floors[b])
        costs[b] = costs[:, b] = np.inf
        _update_costs(costs, a, shared, masses, barriers, floors, allowed & alive)
    return Merges(np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array(heights))


def _update_costs(
    costs: FloatArray,
    a: int,
    shared: FloatArray,
    masses: FloatArray,
    barriers: FloatArray,
    floors: FloatArray,
    allowed: BoolArray,
) -> None:
    """Write the costs of joining group a to every other group."""
    smaller = np.maximum(np.minimum(masses[a], masses), 1e-300)
    apart = -np.log(np.maximum(shared[a] / smaller, _LEAST_SHARE))
    climb = np.maximum(0, barriers[a] - np.maximum(floors[a], floors))
    row = np.where(allowed[a], apart + BARRIER_WEIGHT * climb, np.inf)
    row[a] = np.inf
    costs[a] = costs[:, a] = row
