"""The one-line default: a private mixture and its Morse step in one estimator."""

import math
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Self

from dpmorse import _validate
from dpmorse.bases import (
    SOME_CLUSTERS,
    FitParameters,
    PrivateGaussianMixture,
    PrivateMixtureEstimator,
    default_n_components,
    has_products,
)
from dpmorse.clustering.base import MorseEstimator
from dpmorse.exceptions import InvalidParameterError, ModelFormatError
from dpmorse.records import open_records


def fitted_n_components(
    n_components: int | None, n_clusters: int | None, n_features: int, *, products: bool = False
) -> int:
    """Return the number of components to fit: a function of public values only.

    More than 2 n_clusters + 1, and more than 48 / D, would split clusters: in many columns a full covariance
    describes a cluster by itself. ``products`` are components of tables with categories.
    """
    if n_components is None:
        return default_n_components(n_features, n_clusters, products=products)
    if n_clusters is None:
        return n_components
    more = 1 if products else math.ceil(48 / n_features)
    return min(n_components, max(2 * n_clusters + 1, more))


@dataclass(eq=False, repr=False)
class DPMorse(MorseEstimator, FitParameters):
    """Differentially private clustering: clusters of any shape, any number of them, in one line.

    ``PrivateGaussianMixture`` spends the budget and releases a mixture of Gaussians; its modes, saddles and
    merge tree make clusters of its components, without the data and at no cost.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. It may be changed after the fit by ``cut``. "auto" picks the number of clusters
        that are separated by valleys of the density, share few records, and on which most merge rules agree;
        ``merge_tree_.suggestion`` has the numbers that are nearly as good. Give a number where you have one.
    n_components : int or None, default=None
        Largest number of components of the mixture. None: 2 n_clusters + 1, or more where columns are few (at
        least 24 in one or two), and n_clusters + 2 in more than 32 columns of numbers. A larger value is
        reduced to max(2 n_clusters + 1, ceil(48 / D)), because more would split clusters. "auto" is fitted as
        for six clusters.
    profile : bool, default=True
        Whether to spend 10 % of the budget on sizes, quartiles, levels and missing values that can be
        published: ``summary`` (docs/numbers.md). False leaves more for the clusters.

    Attributes
    ----------
    base_ : PrivateGaussianMixture
        The fitted base.
    privacy_ : PrivacyReport
        epsilon, delta, relation, rho, events (the ledger), statement, secure.

    Notes
    -----
    **Privacy.** That of ``PrivateGaussianMixture``; everything after it is post-processing. Labels of
    training records are not private.

    Examples
    --------
    >>> from dpmorse import DPMorse
    >>> from dpmorse.datasets import make_moons
    >>> X, y = make_moons(20_000, random_state=0)
    >>> model = DPMorse(n_clusters=2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> bool(max((model.predict(X) == y).mean(), (model.predict(X) != y).mean()) > 0.95)
    True
    """

    n_clusters: int | str = "auto"
    n_components: int | None = None
    _: KW_ONLY
    profile: bool = True

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Spend the budget on X, then find the tree of the mixture that was released.

        Parameters
        ----------
        X, y, groups
            As in ``PrivateGaussianMixture.fit``.

        Returns
        -------
        self
            The fitted estimator. If anything fails, it is left as it was before.
        """
        self._fit(X, groups)
        self._warn_of_numbers(stacklevel=2)
        return self

    def _fit(self, X: Any, groups: Any = None) -> Self:
        self._check_parameters()
        records = open_records(X, groups, self._stated_schema)
        return self._remember(self._base_for(records.columns.n_features_in_)._fit(records))

    def _base_for(self, n_features: int) -> PrivateGaussianMixture:
        """Check the parameters; return the base with components for the clusters that are asked for."""
        self._check_parameters()
        n_clusters = None if isinstance(self.n_clusters, str) else self.n_clusters
        products = has_products(self._stated_schema)
        return PrivateGaussianMixture(
            fitted_n_components(self.n_components, n_clusters, max(n_features, 1), products=products),
            min_components=n_clusters or SOME_CLUSTERS,
            profile=self.profile,
            **{name: getattr(self, name) for name in _OF_BASE},
        )

    def _check_parameters(self) -> None:
        self._check_choices()
        if self.assign == "basin" and not self._stated_schema.layout.only_numbers:
            raise InvalidParameterError(
                'assign must be "component" where columns are categories or may be missing: these have no '
                "basins."
            )
        if self.n_components is None:
            return
        most = _validate.positive_int(n_components=self.n_components)
        if not isinstance(self.n_clusters, str) and self.n_clusters > most:
            raise InvalidParameterError(
                f"n_components must be at least n_clusters, {self.n_clusters}, got {most}. "
                "Give more components, or None."
            )

    @classmethod
    def _around(cls, base: PrivateMixtureEstimator, parameters: dict[str, Any]) -> Self:
        """Return an unfitted estimator with the parameters of this base, and these."""
        if not isinstance(base, PrivateGaussianMixture):
            raise ModelFormatError("the base of a DPMorse must be a PrivateGaussianMixture.")
        of_base = {name: getattr(base, name) for name in _OF_BASE}
        return cls(n_components=base.n_components, profile=base.profile, **parameters, **of_base)


_OF_BASE = tuple(parameter.name for parameter in fields(FitParameters))
