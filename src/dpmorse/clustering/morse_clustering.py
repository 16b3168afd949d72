"""The Morse step on any base that releases a mixture."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin, clone

from dpmorse import _validate
from dpmorse.bases import PrivateMixtureEstimator
from dpmorse.clustering.base import MorseEstimator
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError


@dataclass(eq=False, repr=False)
class MorseClustering(MetaEstimatorMixin, MorseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Clusters of any shape, and any number of them, from a mixture that a base releases.

    The base spends the budget and releases a mixture of Gaussians; modes, saddles and the merge tree of
    that mixture are computed afterwards, without the data and at no cost. Many components make a few
    clusters, which need not be round.

    Parameters
    ----------
    base : estimator
        The estimator that releases the mixture, for instance ``DPMoGHard(12, epsilon=1.0, bounds=(-1, 1))``.
        One of your own needs ``fit``, ``predict`` (component of each record), ``mixture_`` and ``privacy_``.
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" takes ``merge_tree_.suggested_n_clusters``, and
        ``merge_tree_.suggestion`` says which others are nearly as good. It may be changed after the fit by
        ``cut``.

    Attributes
    ----------
    base_ : estimator
        The fitted base.
    privacy_ : PrivacyReport
        The promise of the base; the Morse step spends nothing.

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

    base: Any
    n_clusters: int | str = "auto"

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Fit the base, which spends its budget on X, then find the tree of what it released.

        ``groups`` names the person of each row; see the base.
        """
        self._fit(X, groups)
        self._warn_of_numbers(stacklevel=2)
        return self

    def _fit(self, X: Any, groups: Any = None) -> Self:
        base = self._base_for()
        if isinstance(base, PrivateMixtureEstimator):
            return self._remember(base._fit(X, groups))
        return self._remember(base.fit(X) if groups is None else base.fit(X, groups=groups))

    def _base_for(self, n_features: int | None = None) -> Any:
        """Check the parameters; return a copy of the base, whatever the number of columns."""
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
        return clone(self.base)

    @classmethod
    def _around(cls, base: PrivateMixtureEstimator, parameters: dict[str, Any]) -> Self:
        """Return an unfitted estimator with this base and these parameters."""
        return cls(base, **parameters)
