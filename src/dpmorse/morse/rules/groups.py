"""Groups of components, joined pair by pair: the pair that costs least first.

The cost of a pair depends on the rule. ``SharingGroups`` know the records that two groups share and the
barrier between them; ``MomentGroups`` know weights, means and covariances.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.rules.base import MergeInput, Merges
from dpmorse.typing import BoolArray, FloatArray, IntArray

# Shares below this are not resolved by the sample: groups that share less differ in cost by their barriers
# only.
_LEAST_SHARE = 1e-12

Cost = Callable[["MomentGroups", int], FloatArray]


class Groups(ABC):
    """Groups, and the costs of joining any two: inf for groups that were joined or must not be.

    ``allowed`` says which pairs may be joined.
    """

    def __init__(self, allowed: BoolArray) -> None:
        self._allowed, self._costs = allowed.copy(), np.full(allowed.shape, np.inf)
        for a in range(len(allowed)):
            self._update_costs(a)

    def agglomerate(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Join the pair of lowest cost until no pair may be joined; return the pairs and their costs."""
        pairs, costs = [], []
        while np.isfinite(self._costs).any():
            a, b = (int(i) for i in np.unravel_index(np.argmin(self._costs), self._costs.shape))
            pairs.append((a, b))
            costs.append(self._costs[a, b])
            self._join(a, b)
            self._allowed[b] = self._allowed[:, b] = False
            self._costs[b] = self._costs[:, b] = np.inf
            self._update_costs(a)
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second, np.array(costs, dtype=np.float64)

    def _update_costs(self, a: int) -> None:
        """Write the costs of joining group a to every other group."""
        row = np.where(self._allowed[a], self._costs_of(a), np.inf)
        row[a] = np.inf
        self._costs[a] = self._costs[:, a] = row

    @abstractmethod
    def _join(self, a: int, b: int) -> None:
        """Make one group of two, known by the number of the first."""

    @abstractmethod
    def _costs_of(self, a: int) -> FloatArray:
        """Return the costs of joining group a to every other group."""


def attach_bare_modes(given: MergeInput) -> Merges:
    """Join each mode without components, at height 0, to the leaf its lowest saddle leads to."""
    bare, full = given.leaves.bare, given.leaves.full
    nearest = full[given.barriers[np.ix_(bare, full)].argmin(axis=1)]
    return Merges.without_saddles(bare, nearest, np.zeros(len(bare)))


# -- groups that share records ------------------------------------------------------------------------


class SharingGroups(Groups):
    """Groups of leaves that cost little to join if they share many records over a low barrier.

    Parameters
    ----------
    shared, barriers : ndarray of shape (n, n)
        Records shared by two leaves, and the height of the pass between their modes.
    floors : ndarray of shape (n,)
        Height of the mode of each leaf.
    allowed : ndarray of bool of shape (n, n) or None
        Which pairs may be joined; None is all.

    Attributes
    ----------
    crossed : list of float
        The barrier between the two groups of each join so far, -inf within one mode.
    """

    def __init__(
        self, shared: FloatArray, barriers: FloatArray, floors: FloatArray, allowed: BoolArray | None = None
    ) -> None:
        self._shared, self._barriers, self._floors = shared.copy(), barriers.copy(), floors.copy()
        self._masses = shared.sum(axis=1)
        self.crossed: list[float] = []
        super().__init__(np.ones(shared.shape, dtype=bool) if allowed is None else allowed)

    def _join(self, a: int, b: int) -> None:
        self.crossed.append(float(self._barriers[a, b]))
        self._shared[a] += self._shared[b]
        self._shared[:, a] += self._shared[:, b]
        self._masses[a] += self._masses[b]
        self._barriers[a] = self._barriers[:, a] = np.minimum(self._barriers[a], self._barriers[b])
        self._floors[a] = min(self._floors[a], self._floors[b])

    def _costs_of(self, a: int) -> FloatArray:
        """Return the costs of joining group a to every other group; ``Overlap`` has the equation."""
        smaller = np.maximum(np.minimum(self._masses[a], self._masses), 1e-300)
        apart = -np.log(np.maximum(self._shared[a] / smaller, _LEAST_SHARE))
        climb = np.maximum(0, self._barriers[a] - np.maximum(self._floors[a], self._floors))
        return np.asarray(apart + climb)


def merge_through_modes(given: MergeInput, of_modes: Merges) -> Merges:
    """Put the components of each mode together at height 0, those that share most first; then merge modes."""
    modes = given.leaves.modes
    leaf_of_mode = np.zeros(given.points.n_modes, dtype=np.int64)
    leaf_of_mode[modes] = np.arange(len(modes))
    first, second = leaf_of_mode[of_modes.first], leaf_of_mode[of_modes.second]
    merges = Merges(first, second, of_modes.heights, of_modes.saddles)
    if len(modes) == given.points.n_modes:  # every mode is one leaf
        return merges
    same_mode = modes[:, None] == modes
    flat = np.zeros(same_mode.shape)  # there is no barrier within a mode
    first, second, _ = SharingGroups(given.shared, flat, flat[0], same_mode).agglomerate()
    return Merges.without_saddles(first, second, np.zeros(len(first))) + merges


# -- groups with moments ------------------------------------------------------------------------------


class MomentGroups(Groups):
    """Weights, means and covariances of groups of components, and the costs of joining any two.

    ``cost`` is a function of these groups and the number of one of them; it returns the costs of joining that
    one to every other.
    """

    def __init__(self, weights: FloatArray, means: FloatArray, covariances: FloatArray, cost: Cost) -> None:
        self.weights, self.means, self.covariances = weights.copy(), means.copy(), covariances.copy()
        self.log_dets = np.linalg.slogdet(covariances)[1]
        self._cost = cost
        super().__init__(np.ones((len(weights), len(weights)), dtype=bool))

    def joined(self, a: int, others: slice = slice(None)) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, means and covariances of group a joined to each of the others.

        With parts p and 1 - p of the joint weight and the gap d between the means, the covariance is
        (1 - p) S_a + p S_b + p (1 - p) d d^T: sums of positive terms, so that nothing cancels.
        """
        weights = self.weights[a] + self.weights[others]
        part = (self.weights[others] / weights)[:, None]
        gap = self.means[others] - self.means[a]
        means = self.means[a] + part * gap
        inner = self.covariances[a] * (1 - part[:, :, None]) + self.covariances[others] * part[:, :, None]
        between = (part * (1 - part))[:, :, None] * gap[:, :, None] * gap[:, None]
        return weights, means, inner + between

    def _join(self, a: int, b: int) -> None:
        weights, means, covariances = self.joined(a, slice(b, b + 1))
        self.weights[a], self.means[a], self.covariances[a] = weights[0], means[0], covariances[0]
        self.log_dets[a] = np.linalg.slogdet(self.covariances[a])[1]

    def _costs_of(self, a: int) -> FloatArray:
        return self._cost(self, a)


def total_variances(mixture: GaussianMixture) -> FloatArray:
    """Return the variance of each column under the mixture."""
    inner = np.diagonal(mixture.covariances, axis1=1, axis2=2)
    offsets = mixture.means - mixture.weights @ mixture.means
    variances: FloatArray = mixture.weights @ (inner + offsets**2)
    return variances


def merge_by_moments(given: MergeInput, mixture: GaussianMixture, cost: Cost) -> Merges:
    """Join the components of lowest cost, with the moments of ``mixture``: that of the input, or scaled.

    Bare modes go first, as they have no moments. Costs may fall, or be negative by rounding; heights are not.
    """
    full = given.leaves.full
    of = given.leaves.components[full]
    groups = MomentGroups(mixture.weights[of], mixture.means[of], mixture.covariances[of], cost)
    first, second, costs = groups.agglomerate()
    heights = np.maximum.accumulate(np.maximum(costs, 0.0))
    return attach_bare_modes(given) + Merges.without_saddles(full[first], full[second], heights)
