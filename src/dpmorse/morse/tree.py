"""The merge tree: from modes and components to clusters, for any number of them."""

import math
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse._threads import one_blas_thread
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import exports
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.morse.critical.search import SEARCHES, find_critical_points, find_what_matters
from dpmorse.morse.rules import RULES, Leaves, MergeInput, Merges, Sizes, Suggestion, Suggests
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MergeTree:
    """How the modes and components of a mixture merge into clusters.

    Made by ``merge_tree``. Leaves are the components of positive weight, followed by modes no component
    descends to; every number of clusters from 1 to the number of leaves can be had, and cuts nest.

    Attributes
    ----------
    critical_points : CriticalPoints
        Modes and saddles, with certificates.
    rule : str
        The merge rule: a name in ``dpmorse.morse.RULES``.
    weights : ndarray of shape (n_components,)
        Weights of the components.
    leaves : Leaves
        Component and mode of each leaf.
    merges : Merges
        Merges in order.
    n_merges_below_modes : int
        Number of first merges that only put components of one mode together.
    basis : str
        The rule that decided: for "auto" the one it chose, with its smoothing, otherwise ``rule``.
    height_label : str
        Meaning of the heights of the merges, in words.
    proposals : Suggests or None
        For "auto": the merges of all rules, which suggest a number of clusters. None counts modes.
    sizes : Sizes or None
        Released sizes of the components, and their noise.
    """

    critical_points: CriticalPoints
    rule: str
    weights: FloatArray
    leaves: Leaves
    merges: Merges
    n_merges_below_modes: int
    basis: str
    height_label: str
    proposals: Suggests | None = None
    sizes: Sizes | None = None

    def __repr__(self) -> str:
        certified = "all" if self.certified else "not all"
        return (
            f"MergeTree(rule={self.rule!r}, {self.n_leaves} leaves, {self.n_modes} modes, "
            f"{certified} certified, {self.suggested_n_clusters} clusters suggested)"
        )

    @property
    def modes(self) -> FloatArray:
        """Modes, lowest first, shape (n_modes, n_features)."""
        return self.critical_points.modes

    @property
    def saddles(self) -> FloatArray:
        """Saddles between modes, lowest first, shape (n_saddles, n_features)."""
        return self.critical_points.saddles

    @property
    def certified(self) -> bool:
        """Whether every mode and saddle is certified."""
        return self.critical_points.certified

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return self.critical_points.n_modes

    @property
    def n_leaves(self) -> int:
        """Largest number of clusters."""
        return len(self.leaves)

    @property
    def leaf_weights(self) -> FloatArray:
        """Weight of each leaf; 0 for a mode without component."""
        return np.where(self.leaves.components >= 0, self.weights[self.leaves.components], 0.0)

    @cached_property
    def persistence(self) -> FloatArray:
        """How much water must rise before each mode merges with a deeper one; inf for the deepest."""
        return self.critical_points.falls()[1]

    @cached_property
    def graph(self) -> exports.MorseGraph:
        """Modes as nodes, saddles as edges."""
        return exports.MorseGraph(self.critical_points)

    @property
    def suggestion(self) -> Suggestion:
        """The suggested number of clusters, and the numbers that are nearly as good.

        The rule "auto" compares its cuts into every number. Other rules count the modes at which the density
        is more than twice that of the pass to a deeper one, as far as clusters are larger than their noise,
        and know no second best. ``docs/morse.md`` says how far to trust either.
        """
        if self.proposals is not None:
            return self.proposals.suggestion
        number, why_one = self.suggested_n_clusters, None if self.sizes is None else self.sizes.why_one
        return Suggestion(number, (number,), why_one=why_one)

    @property
    def suggested_n_clusters(self) -> int:
        """The number of clusters that ``suggestion`` names."""
        if self.proposals is not None:
            return self.proposals.suggested_n_clusters
        number = self.critical_points.suggested_n_clusters
        if self.sizes is None:
            return number
        components = self.leaves.components[self.leaves.full]
        sizes = self.sizes.of(components)
        return max(k for k in range(1, number + 1) if k == 1 or sizes.all_seen(self.cut(k)[components]))

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> IntArray:
        """Return the cluster of each component, followed by that of each mode without component.

        Parameters
        ----------
        n_clusters : int or None
            Number of clusters, between 1 and ``n_leaves``. Beyond the number of modes, modes are split by
            components.
        height : float or None
            Alternatively, perform all merges up to this height, in the units of ``linkage_matrix``.

        Returns
        -------
        labels : ndarray of int
            Clusters are numbered by decreasing weight. A component of weight 0 goes with the heaviest leaf of
            its mode.
        """
        if (n_clusters is None) == (height is None):
            raise InvalidParameterError("cut needs either n_clusters or height, not both and not neither.")
        if height is None:
            wanted = _validate.positive_int(n_clusters=n_clusters)
            if wanted > self.n_leaves:
                raise InvalidParameterError(
                    f"n_clusters must be at most {self.n_leaves}, got {wanted}. The mixture has "
                    f"{self.n_leaves} leaves to tell apart ({self.n_modes} modes); release one with more "
                    "components."
                )
            return self._labels(self.n_leaves - wanted)
        return self._labels(self._n_merges_to(height))

    def linkage_matrix(self, *, below_modes: bool | None = None) -> FloatArray:
        """Return the tree as a SciPy linkage matrix, for ``scipy.cluster.hierarchy``.

        Parameters
        ----------
        below_modes : bool or None
            Whether leaves are all leaves of the tree (True) or modes (False). None is False where the
            rule keeps modes together, as "single" and "persistence" do.

        Returns
        -------
        linkage : ndarray of shape (n_leaves - 1, 4)
            Two children, height, number of leaves. Heights, in the units of ``height_label``, are never
            negative and never fall.
        """
        if below_modes is None:
            below_modes = not self.keeps_modes
        if below_modes:
            return self.merges.linkage_matrix()
        if not self.keeps_modes:
            raise InvalidParameterError(
                f"the rule '{self.rule}' merges components: below_modes=False has no meaning."
            )
        later, modes = slice(self.n_merges_below_modes, None), self.leaves.modes
        first, second = modes[self.merges.first[later]], modes[self.merges.second[later]]
        return Merges(first, second, self.merges.heights[later], self.merges.saddles[later]).linkage_matrix()

    @property
    def keeps_modes(self) -> bool:
        """Whether the rule merges modes, and components only as parts of them."""
        return RULES[self.rule].keeps_modes

    @property
    def spanning_saddles(self) -> IntArray:
        """The saddles over which modes merge as water rises, lowest first."""
        return self.critical_points.spanning_saddles

    @property
    def merge_certified(self) -> BoolArray:
        """Whether the saddle of each merge is certified; merges that no saddle decides are."""
        decided = self.merges.saddles >= 0
        certified: BoolArray = ~decided
        certified[decided] = self.critical_points.saddle_certified[self.merges.saddles[decided]]
        return certified

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data: modes, saddles, leaves and merges."""
        return {
            "rule": self.rule,
            "basis": self.basis,
            "certified": self.certified,
            "suggested_n_clusters": self.suggestion.n_clusters,
            "nearly_as_good": list(self.suggestion.nearly),
            **self.graph.to_dict(),
            "leaves": exports.leaf_records(self.leaves),
            "merges": self._merge_records(),
        }

    def to_pandas(self) -> Any:
        """Return one row per merge as a pandas DataFrame (needs pandas)."""
        return exports.to_pandas(self._merge_records(), exports.MERGE_COLUMNS)

    def to_networkx(self) -> Any:
        """Return the tree as a networkx DiGraph, edges from parent to child (needs networkx)."""
        return exports.tree_to_networkx(exports.leaf_records(self.leaves), self._merge_records())

    def _merge_records(self) -> exports.Records:
        matrix = self.linkage_matrix(below_modes=True)
        return exports.merge_records(matrix, self.merges.saddles, self.merge_certified)

    def _n_merges_to(self, height: object) -> int:
        if isinstance(height, bool) or not isinstance(height, Real) or math.isnan(height):
            raise InvalidParameterError(f"height must be a number, got {_validate.describe(height)}.")
        return int(np.searchsorted(self.merges.heights, float(height), side="right"))

    def _labels(self, n_merges: int) -> IntArray:
        """Perform the first merges, number groups by decreasing weight, and label all components by them."""
        group = np.arange(self.n_leaves)
        for a, b in zip(self.merges.first[:n_merges], self.merges.second[:n_merges], strict=True):
            group[group == group[b]] = group[a]
        _, first_leaf, group = np.unique(group, return_index=True, return_inverse=True)
        order = np.lexsort((first_leaf, -np.bincount(group, weights=self.leaf_weights)))
        leaf_labels = np.argsort(order)[group]
        full, bare, n_components = self.leaves.full, self.leaves.bare, len(self.weights)
        labels = np.empty(n_components + len(bare), dtype=np.int64)
        labels[n_components:] = leaf_labels[bare]
        labels[self.leaves.components[full]] = leaf_labels[full]
        for weightless in np.flatnonzero(self.weights <= 0):
            mode = self.critical_points.component_modes[weightless]
            companions = np.flatnonzero(self.leaves.modes == mode)
            heaviest = companions[np.argmax(self.weights[self.leaves.components[companions]])]
            labels[weightless] = leaf_labels[heaviest]
        return labels


def merge_tree(
    mixture: GaussianMixture,
    *,
    rule: str = "single",
    n_clusters: int | None = None,
    search: str = "ridgelines",
    critical_points: CriticalPoints | None = None,
    least_weight: float = 0.0,
    sizes: Sizes | None = None,
) -> MergeTree:
    """Find the modes and saddles of a mixture and the tree in which they merge.

    Parameters
    ----------
    mixture : GaussianMixture
        Any mixture; released ones are the point, but nothing here depends on privacy.
    rule : str, default="single"
        The merge rule: a name in ``dpmorse.morse.RULES``, whose values describe themselves. "single" is the
        paper's; "auto" takes the one whose cut into ``n_clusters`` scores best (of near ties, the cut that
        agrees best with the others). ``docs/morse.md`` says when each wins.
    n_clusters : int or None, default=None
        For "auto": the number of clusters at which rules are compared; None is ``suggested_n_clusters``.
        The tree can be cut anywhere all the same.
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        Search for saddles. The smoothed mixtures of "auto" are searched along low paths only.
    critical_points : CriticalPoints or None, default=None
        Those of the mixture, if they are known already.
    least_weight : float, default=0.0
        For "auto": weight below which a cluster may be noise, so that a valley around it says nothing.
    sizes : Sizes or None, default=None
        Released sizes of the components, and their noise: no cluster below three standard deviations is
        suggested. Without ``n_clusters`` "auto" joins such groups with their neighbours before all others.

    Returns
    -------
    MergeTree

    Examples
    --------
    >>> from dpmorse.densities import GaussianMixture
    >>> from dpmorse.morse import merge_tree
    >>> mixture = GaussianMixture([0.5, 0.3, 0.2], [[0.0], [4.0], [20.0]], [[[1.0]], [[1.0]], [[1.0]]])
    >>> tree = merge_tree(mixture)
    >>> tree.cut(n_clusters=2).tolist()
    [0, 0, 1]
    """
    if not isinstance(mixture, GaussianMixture):
        raise InvalidParameterError(
            f"mixture must be a dpmorse.densities.GaussianMixture, got a {type(mixture).__name__}."
        )
    rule = _validate.choice(rule=rule, among=RULES)
    if n_clusters is not None:
        n_clusters = _validate.positive_int(n_clusters=n_clusters)
    search = _validate.choice(search=search, among=SEARCHES)
    if critical_points is None:
        points = find_critical_points(mixture, search)
    else:
        points = _checked(critical_points, mixture)
    find = partial(find_what_matters, search=search)
    given = MergeInput(mixture, points, Leaves.of(mixture, points), n_clusters, find, least_weight, sizes)
    with one_blas_thread():
        decision = RULES[rule].decide(given)
    below_modes = len(given.leaves) - points.n_modes if RULES[rule].keeps_modes else 0
    return MergeTree(
        critical_points=points,
        rule=rule,
        weights=mixture.weights,
        leaves=given.leaves,
        merges=decision.merges,
        n_merges_below_modes=below_modes,
        basis=decision.basis,
        height_label=decision.rule.height_label,
        proposals=decision.proposals,
        sizes=sizes,
    )


def _checked(points: object, mixture: GaussianMixture) -> CriticalPoints:
    """Return the critical points, or raise an error if they cannot be those of the mixture."""
    if not isinstance(points, CriticalPoints):
        raise InvalidParameterError(
            f"critical_points must be what find_critical_points returns, got a {type(points).__name__}."
        )
    n_components, n_features = len(points.component_modes), points.modes.shape[1]
    if (n_components, n_features) != (mixture.n_components, mixture.n_features):
        raise InvalidParameterError(
            f"critical_points must be those of the mixture, with {mixture.n_components} components in "
            f"{mixture.n_features} columns; got those of {n_components} components in {n_features} columns."
        )
    return points
