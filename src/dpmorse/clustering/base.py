"""Base class of the estimators with a Morse step: all they share but the choice of the base."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dpmorse import _plain_data, _validate
from dpmorse._docstrings import complete
from dpmorse.bases import (
    FittedBase,
    Plan,
    PrivateFit,
    PrivateMixtureEstimator,
    ReleasedModel,
    base_from_document,
    fitted_base,
    set_at_once,
)
from dpmorse.clustering.rehearsal import MOST_REHEARSALS
from dpmorse.clustering.rehearsed import Rehearsals, RehearsedModel
from dpmorse.clustering.standing_out import sizes_of
from dpmorse.clustering.trees import Trees
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidTypeError, NoisyModelWarning, TreeNotBuiltError
from dpmorse.morse import RULES, SEARCHES, MergeTree, label_by_basin
from dpmorse.persistence import critical_points_from_dict, critical_points_to_dict
from dpmorse.typing import IntArray, label_dtype

ASSIGNMENTS = ("component", "basin")


def _labels_learnt(leaf_labels: IntArray, n_components: int) -> dict[str, Any]:
    """Return the attributes that say which leaf is in which cluster."""
    return {
        "_leaf_labels": leaf_labels,
        "component_labels_": leaf_labels[:n_components],
        "n_clusters_": int(leaf_labels.max()) + 1,
    }


class Learnt:
    """Types of the fitted attributes, and of ``n_clusters``, which each estimator declares itself."""

    n_clusters: Any  # an integer or "auto"
    base_: Any
    mixture_: GaussianMixture
    merge_tree_: MergeTree
    n_clusters_: int
    component_labels_: IntArray


@dataclass(eq=False, repr=False, kw_only=True)
class MorseEstimator(RehearsedModel, ReleasedModel, ClusterMixin, BaseEstimator, Learnt):  # type: ignore[misc]  # untyped
    """Base of the estimators that merge the components of a released mixture into clusters.

    Parameters
    ----------
    merge : str, default="auto"
        What is merged first: a name in ``dpmorse.morse.RULES``. "auto" chooses among the others for the
        number of clusters asked for; "single" is the paper's.
    assign : {"component", "basin"}, default="component"
        Cluster of a record: that of its most probable component, or that of the mode in whose basin it
        lies, by a descent (slower; exact for overlapping components). For experts.
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        Search for saddles. "quadratic-string" is the paper's Algorithm 3. For experts.
    rehearsals : int, default=5
        Fits of synthetic records, drawn from the release, that say which clusters would be found again: the
        column ``again`` of ``summary``, and ``suggestion_``. They cost no budget, and are made when first
        asked for; 0 makes none. Needs a base with a profile.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture: ``sample`` draws from it, ``score_samples`` is its log density.
    merge_tree_ : MergeTree
        Modes, saddles and their graph, merges; cuts at any number of clusters.
    n_clusters_ : int
        Number of clusters of ``predict``.
    component_labels_ : ndarray of shape (n_components,)
        Cluster of each component.
    suggestion_ : SuggestedNumber
        The number of clusters that is suggested, and in how many rehearsals; ``print`` says it in words.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Show shared parameters with every estimator."""
        super().__init_subclass__(**options)
        complete(cls)

    merge: str = "auto"
    assign: str = "component"
    search: str = "ridgelines"
    rehearsals: int = 5

    def plan(self, n_features: int, names: Sequence[Any] | None = None) -> Plan[Any]:
        """Check every parameter and fix what may be spent, for a table with ``n_features`` columns.

        ``names`` are those of the columns: bounds may go by them.
        """
        base = self._base_for(n_features)
        if not isinstance(base, PrivateFit):
            raise InvalidTypeError(
                f"base must derive from dpmorse.bases.PrivateFit to have a plan, got {type(base).__name__}."
            )
        return base.plan(n_features, names)

    def _base_for(self, n_features: int) -> Any:
        """Check the parameters; return the estimator that will spend the budget, not yet fitted."""
        raise NotImplementedError

    def _remember(self, base: Any) -> Self:
        """Build the tree of the mixture that a base has released, and keep both."""
        n_clusters = None if isinstance(self.n_clusters, str) else self.n_clusters
        released, trees = fitted_base(base), Trees(self.merge, n_clusters, self.search)
        try:
            tree = trees.of(released.landscape_, sizes_of(released))
        except Exception as error:
            failure = TreeNotBuiltError(
                "The merge tree of the released mixture could not be built. The release is not lost: the "
                "fitted base is the attribute `base` of this error; save it, or try another merge or search."
            )
            failure.base = base  # the release is paid for
            raise failure from error
        reachable = self.n_clusters
        if n_clusters is not None:  # or as many as the release can tell apart
            reachable = int(min(n_clusters, tree.n_leaves))
            if n_clusters > tree.n_leaves:
                warnings.warn(
                    f"n_clusters={self.n_clusters}, but only {tree.n_leaves} components of the mixture have "
                    f"weight: the model has {tree.n_leaves} clusters. Use more budget, or fewer clusters.",
                    NoisyModelWarning,
                    stacklevel=4,
                )
        self._set_fitted(tree, reachable, Rehearsals(base, trees, self.rehearsals))
        return self

    def predict(self, X: Any) -> Any:
        """Return the cluster of each record, in a container of the kind of X; see the base.

        Labels have the smallest signed type that holds them.
        """
        check_is_fitted(self, "merge_tree_")
        partition, tree = self._released.partition_, self.merge_tree_
        of_leaf = self._leaf_labels.astype(label_dtype(self.n_clusters_))
        if self._fitted["assign"] == "basin":
            bare = tree.leaves.modes[tree.leaves.bare]
            return self._released._each_labelled(
                X, lambda points: label_by_basin(partition, tree.critical_points, bare, of_leaf, points)
            )
        return self._released._label_each(X, of_leaf)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each cluster given the record: the sum over its components."""
        check_is_fitted(self, "merge_tree_")
        partition, members = self._released.partition_, np.eye(self.n_clusters_)[self.component_labels_]
        shares = self._released._each_labelled(X, lambda points: partition.responsibilities(points) @ members)
        return self._probabilities(X, shares)

    def _labels_of_components(self, n_clusters: int | None) -> IntArray:
        """Return the cluster of each component, for this number of clusters."""
        check_is_fitted(self, "merge_tree_")
        if n_clusters is None:
            return self.component_labels_
        return self.merge_tree_.cut(n_clusters)[: self.mixture_.n_components]

    def cut(self, n_clusters: int) -> Self:
        """Return this fit with another number of clusters. Touches no data and costs no budget."""
        check_is_fitted(self, "merge_tree_")
        labels = self.merge_tree_.cut(n_clusters)
        other = copy.copy(self)
        other.n_clusters = int(n_clusters)
        other._fitted = {**self._fitted, "n_clusters": other.n_clusters}  # noqa: SLF001 - a copy of self
        other.__dict__.update(_labels_learnt(labels, self.mixture_.n_components))
        return other

    def _check_choices(self) -> None:
        """Refuse values that cannot work, before the base spends anything."""
        _validate.choice(merge=self.merge, among=RULES)
        _validate.choice(assign=self.assign, among=ASSIGNMENTS)
        _validate.choice(search=self.search, among=SEARCHES)
        _validate.whole_number(rehearsals=self.rehearsals, at_most=MOST_REHEARSALS, hint="0 makes none.")
        if not (isinstance(self.n_clusters, str) and self.n_clusters == "auto"):
            _validate.positive_int(n_clusters=self.n_clusters, hint='Or give "auto".')

    def _set_fitted(self, tree: MergeTree, n_clusters: int | str, rehearsals: Rehearsals) -> None:
        """Set everything at once and last: a failed fit leaves no trace."""
        base, trees = rehearsals.base, rehearsals.trees
        released = fitted_base(base)
        labels = tree.cut(tree.suggested_n_clusters if isinstance(n_clusters, str) else n_clusters)
        learnt = {
            "base_": base,
            "mixture_": released.mixture_,
            "privacy_": released.privacy_,
            "merge_tree_": tree,
            "_fitted": {
                "n_clusters": n_clusters,
                "assign": self.assign,
                "search": self.search,
                "chosen_for": trees.n_clusters,
            },
            "_rehearsals": rehearsals,
            "n_features_in_": released.n_features_in_,
            **_labels_learnt(labels, released.mixture_.n_components),
        }
        set_at_once(self, learnt, released._feature_names)  # noqa: SLF001 - of the protocol

    @property
    def _released(self) -> FittedBase:
        return fitted_base(self.base_)

    @property
    def _n_labels(self) -> int:
        return self.n_clusters_

    def _to_document(self) -> dict[str, Any]:
        """Return the released model as plain data, for a model file."""
        if not isinstance(self.base_, PrivateMixtureEstimator):
            raise InvalidTypeError(
                f"save needs a base that dpmorse can load again, got {type(self.base_).__name__}."
            )
        return {
            "estimator": type(self).__name__,
            "parameters": {"merge": self.merge_tree_.rule, **self._fitted},
            "base": self.base_._to_document(),
            "critical_points": critical_points_to_dict(self.merge_tree_.critical_points),
            "rehearsals": self._rehearsals.to_plain(),
        }

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Self:
        """Rebuild a fitted estimator; every part is checked, and the tree against the mixture."""
        keys = ("estimator", "parameters", "base", "critical_points", "rehearsals")
        fields = _plain_data.fields("the file", {"rehearsals": None, **document}, *keys)
        base = base_from_document(_plain_data.of_type("base", fields["base"], dict))
        names = ("n_clusters", "merge", "assign", "search", "chosen_for")
        parameters = dict(_plain_data.fields("parameters", fields["parameters"], *names))
        chosen_for = parameters.pop("chosen_for")
        if chosen_for is not None:
            _plain_data.rebuild("parameters", lambda: _validate.positive_int(chosen_for=chosen_for))
        model = cls._around(base, parameters)
        _plain_data.rebuild("parameters", model._check_choices)
        landscape, trees = base.landscape_, Trees(model.merge, chosen_for, model.search)
        points = critical_points_from_dict(fields["critical_points"], landscape)
        tree = _plain_data.rebuild("critical_points", lambda: trees.of(landscape, sizes_of(base), points))
        rehearsals = Rehearsals.from_plain(fields["rehearsals"], base, trees)
        model.rehearsals = rehearsals.n_rehearsals
        set_fitted = model._set_fitted  # noqa: SLF001 - an instance of cls
        _plain_data.rebuild("parameters", lambda: set_fitted(tree, model.n_clusters, rehearsals))
        return model

    @classmethod
    def _around(cls, base: PrivateMixtureEstimator, parameters: dict[str, Any]) -> Self:
        """Return an unfitted estimator with this base and these parameters."""
        raise NotImplementedError
