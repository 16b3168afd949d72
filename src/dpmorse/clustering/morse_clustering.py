"""The Morse step on any base that releases a mixture."""

from numbers import Integral
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin, clone

from dpmorse import _validate
from dpmorse.bases.mixture_estimator import PrivateMixtureEstimator
from dpmorse.clustering.base import MorseEstimator
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError


class MorseClustering(MetaEstimatorMixin, MorseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
    merge : str, default="auto"
        What is merged first: a name in ``dpmorse.morse.RULES``. "auto" chooses among the others for the
        number of clusters asked for; "single" is the paper's.
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

    def __init__(
        self,
        base: Any,
        n_clusters: int | str = "auto",
        *,
        merge: str = "auto",
        assign: str = "component",
        search: str = "ridgelines",
    ) -> None:
        self.base = base
        self.n_clusters = n_clusters
        self.merge = merge
        self.assign = assign
        self.search = search

    def _check_parameters(self) -> None:
        if not all(hasattr(self.base, method) for method in ("fit", "predict", "get_params")):
            raise InvalidTypeError(
                f"base must be an estimator that releases a mixture, got {_validate.describe(self.base)}. "
                "For instance: MorseClustering(DPMoGHard(12, epsilon=1.0, bounds=(-1, 1)))."
            )
        super()._check_parameters()
        if self.n_clusters != "auto":
            wanted = int(self.n_clusters)
            n_components = getattr(self.base, "n_components", None)
            if isinstance(n_components, Integral) and wanted > n_components:
                raise InvalidParameterError(
                    f"n_clusters must be at most the number of components of the base, {n_components}, "
                    f"got {wanted}. Give the base more components."
                )

    def _unfitted_base(self, X: Any, groups: Any = None) -> Any:
        return clone(self.base)

    @classmethod
    def _around(cls, base: PrivateMixtureEstimator, parameters: dict[str, Any]) -> Self:
        return cls(base, **parameters)
