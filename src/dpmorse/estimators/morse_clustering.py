"""The Morse step on any base that releases a mixture."""

import copy
import os
import warnings
from numbers import Integral
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from dpmorse import _validate
from dpmorse.densities import GaussianMixture
from dpmorse.estimators import _documents
from dpmorse.estimators._base import NO_LABELS, PrivateMixtureEstimator, draw_records
from dpmorse.estimators._bases import base_from_document
from dpmorse.estimators._critical_points_file import critical_points_from_dict, critical_points_to_dict
from dpmorse.estimators._model_file import write_document
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, NoisyModelWarning
from dpmorse.morse import MergeTree, merge_tree
from dpmorse.morse.critical_points import SEARCHES
from dpmorse.morse.labelling import label_by_basin
from dpmorse.morse.merge_tree import RULES, assemble
from dpmorse.typing import FloatArray, IntArray

ASSIGNMENTS = ("component", "basin")


class MorseClustering(MetaEstimatorMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Clusters of any shape, and any number of them, from a mixture that a base releases.

    The base spends the budget and releases a mixture of Gaussians; modes, saddles and the merge tree of
    that mixture are computed afterwards, without the data and at no cost. Many components make a few
    clusters, which need not be round.

    Parameters
    ----------
    base : estimator
        What releases the mixture, for instance ``DPMoGHard(12, epsilon=1.0, bounds=(-1, 1))``. An
        estimator of your own needs ``fit``, ``predict`` (component of each record), ``mixture_`` and
        ``privacy_``.
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" takes ``merge_tree_.suggested_n_clusters``. It may be changed after
        the fit by ``cut``.
    merge : {"overlap", "single", "persistence"}, default="overlap"
        What is merged first, see ``dpmorse.morse.merge_tree``. "single" is the paper's.
    assign : {"component", "basin"}, default="component"
        How records find their cluster: through their most probable component, or by a descent to the
        mode in whose basin they lie (slower; exact for overlapping components).
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        How saddles are looked for. "quadratic-string" is the paper's Algorithm 3.

    Attributes
    ----------
    base_ : estimator
        The fitted base.
    mixture_ : GaussianMixture
        The released mixture.
    privacy_ : PrivacyReport
        What the base promises; the Morse step adds nothing to it.
    merge_tree_ : MergeTree
        Modes, saddles, merges; cuts at any number of clusters.
    modes_, saddles_ : ndarray of shape (n, n_features)
        Modes of the released density, and saddles between them, lowest f first.
    graph_ : MorseGraph
        Modes as nodes, saddles as weighted edges.
    n_clusters_ : int
        Number of clusters of ``predict``.
    component_labels_ : ndarray of shape (n_components,)
        Cluster of each component.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.

    Notes
    -----
    **Privacy.** Only ``base.fit`` sees X; all else is computed from released values, which costs nothing
    (post-processing, see docs/privacy.md). Labels of training records are not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPMoGHard, MorseClustering
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> base = DPMoGHard(8, epsilon=2.0, bounds=(-1, 1), random_state=0)
    >>> model = MorseClustering(base, n_clusters=2).fit(X)
    >>> sorted(np.bincount(model.predict(X)) > 2400)
    [np.True_, np.True_]
    >>> model.cut(4).n_clusters_
    4
    """

    base_: Any
    mixture_: GaussianMixture
    merge_tree_: MergeTree
    n_clusters_: int
    component_labels_: IntArray

    def __init__(
        self,
        base: Any,
        n_clusters: int | str = "auto",
        *,
        merge: str = "overlap",
        assign: str = "component",
        search: str = "ridgelines",
    ) -> None:
        self.base = base
        self.n_clusters = n_clusters
        self.merge = merge
        self.assign = assign
        self.search = search

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the base, which spends its budget on X, then find the tree of what it released."""
        self._check_parameters()
        base = clone(self.base).fit(X, y)
        tree = merge_tree(base.mixture_, rule=self.merge, search=self.search)
        self._set_fitted(base, tree, self._reachable(tree))
        return self

    def fit_predict(self, X: Any, y: object = None) -> IntArray:
        """Fit, then label the training records. The labels are for the holder of the data only."""
        return self.fit(X, y).predict(X)

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of each record."""
        check_is_fitted(self, "merge_tree_")
        if self._fitted["assign"] == "component":
            clusters: IntArray = self._leaf_labels[self.base_.predict(X)]
            return clusters
        return label_by_basin(self.mixture_, self.merge_tree_, self._leaf_labels, self._points(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster given the record: the sum over its components."""
        check_is_fitted(self, "merge_tree_")
        of_components = self.mixture_.responsibilities(self._points(X))
        of_clusters: FloatArray = of_components @ np.eye(self.n_clusters_)[self.component_labels_]
        return of_clusters

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each record under the released mixture."""
        check_is_fitted(self, "merge_tree_")
        return self.mixture_.log_density(self._points(X))

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density. On private data this number is not a private release."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw synthetic records from the released mixture, with the cluster of each. Costs nothing."""
        check_is_fitted(self, "merge_tree_")
        points, components = draw_records(self.mixture_, n_samples, random_state)
        return points, self._leaf_labels[components]

    def cut(self, n_clusters: int) -> Self:
        """Return this fit with another number of clusters. Touches no data and costs no budget."""
        check_is_fitted(self, "merge_tree_")
        labels = self.merge_tree_.cut(n_clusters)
        other = copy.copy(self)
        other.n_clusters = int(n_clusters)
        other._fitted = {**self._fitted, "n_clusters": other.n_clusters}  # noqa: SLF001 - a copy of self
        other._set_labels(labels)  # noqa: SLF001 - a copy of self
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the released model to a JSON file that ``dpmorse.load`` reads."""
        check_is_fitted(self, "merge_tree_")
        write_document(path, self._to_document())

    @property
    def labels_(self) -> NoReturn:
        """Always absent; see the message."""
        raise AttributeError(NO_LABELS)

    def _check_parameters(self) -> None:
        """Refuse what cannot work before the base spends anything."""
        if not all(hasattr(self.base, method) for method in ("fit", "predict", "get_params")):
            raise InvalidTypeError(
                f"base must be an estimator that releases a mixture, got {_validate.describe(self.base)}. "
                "For instance: MorseClustering(DPMoGHard(12, epsilon=1.0, bounds=(-1, 1)))."
            )
        self._check_choices()
        if self.n_clusters != "auto":
            wanted = int(self.n_clusters)
            n_components = getattr(self.base, "n_components", None)
            if isinstance(n_components, Integral) and wanted > n_components:
                raise InvalidParameterError(
                    f"n_clusters must be at most the number of components of the base, {n_components}, "
                    f"got {wanted}. Give the base more components."
                )

    def _check_choices(self) -> None:
        _validate.choice(merge=self.merge, among=RULES)
        _validate.choice(assign=self.assign, among=ASSIGNMENTS)
        _validate.choice(search=self.search, among=SEARCHES)
        if not (isinstance(self.n_clusters, str) and self.n_clusters == "auto"):
            _validate.positive_int(n_clusters=self.n_clusters, hint='Or give "auto".')

    def _set_fitted(self, base: Any, tree: MergeTree, n_clusters: int | str) -> None:
        """Set everything at once and last: a failed fit leaves no trace."""
        labels = tree.cut(tree.suggested_n_clusters if isinstance(n_clusters, str) else n_clusters)
        self.base_, self.mixture_, self.privacy_ = base, base.mixture_, base.privacy_
        self.merge_tree_, self.graph_ = tree, tree.graph
        self.modes_, self.saddles_ = tree.modes, tree.saddles
        self._fitted = {"n_clusters": n_clusters, "assign": self.assign, "search": self.search}
        self.n_features_in_ = base.mixture_.n_features
        if hasattr(base, "feature_names_in_"):
            self.feature_names_in_ = base.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._set_labels(labels)

    def _reachable(self, tree: MergeTree) -> int | str:
        """Return the number of clusters; fewer than asked for if the release cannot tell so many apart."""
        if isinstance(self.n_clusters, str):
            return self.n_clusters
        if self.n_clusters > tree.n_leaves:
            warnings.warn(
                f"n_clusters={self.n_clusters}, but only {tree.n_leaves} components of the mixture have "
                f"weight: the model has {tree.n_leaves} clusters. Use more budget, or fewer clusters.",
                NoisyModelWarning,
                stacklevel=3,
            )
        return int(min(self.n_clusters, tree.n_leaves))

    def _set_labels(self, leaf_labels: IntArray) -> None:
        self._leaf_labels = leaf_labels
        self.component_labels_ = leaf_labels[: self.mixture_.n_components]
        self.n_clusters_ = int(leaf_labels.max()) + 1

    def _points(self, X: Any) -> FloatArray:
        """Return points as the base sees them."""
        if isinstance(self.base_, PrivateMixtureEstimator):
            return self.base_._points(X)  # noqa: SLF001 - clipping is the base's business
        return np.asarray(validate_data(self, X, reset=False), dtype=np.float64)

    def _to_document(self) -> dict[str, Any]:
        if not isinstance(self.base_, PrivateMixtureEstimator):
            raise InvalidTypeError(
                f"save needs a base that dpmorse can load again, got {type(self.base_).__name__}."
            )
        return {
            "estimator": type(self).__name__,
            "parameters": {
                "n_clusters": self._fitted["n_clusters"],
                "merge": self.merge_tree_.rule,
                "assign": self._fitted["assign"],
                "search": self._fitted["search"],
            },
            "base": self.base_._to_document(),  # noqa: SLF001 - the same package
            "critical_points": critical_points_to_dict(self.merge_tree_.critical_points),
        }

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Self:
        """Rebuild a fitted estimator; every part is checked, and the tree against the mixture."""
        keys = ("estimator", "parameters", "base", "critical_points")
        fields = _documents.fields("the file", document, *keys)
        base = base_from_document(_documents.of_type("base", fields["base"], dict))
        parameters = _documents.fields(
            "parameters", fields["parameters"], "n_clusters", "merge", "assign", "search"
        )
        model = cls(base, **parameters)
        _documents.rebuild("parameters", model._check_choices)
        points = critical_points_from_dict(fields["critical_points"], base.mixture_)
        tree = _documents.rebuild("critical_points", lambda: assemble(base.mixture_, points, model.merge))
        _documents.rebuild("parameters", lambda: model._set_fitted(base, tree, model.n_clusters))
        return model
