"""What is read of a fitted base: the same of those of this package and of estimators that others wrote."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.profiles import Profile
from dpmorse.records import Function, Table, without_sizes
from dpmorse.schema import Schema
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, LabelArray


class FittedBase(Protocol):
    """A base that has released a mixture."""

    @property
    def mixture_(self) -> Any:
        """The released mixture, of Gaussians or of products."""

    @property
    def partition_(self) -> Any:
        """The mixture that labels records."""

    @property
    def landscape_(self) -> GaussianMixture:
        """The density whose valleys tell clusters apart."""

    @property
    def profile_(self) -> Profile | None:
        """What was measured of the records of each component."""

    @property
    def schema_(self) -> Schema:
        """What the columns are: as stated, or numbers within bounds that were stated or released."""

    @property
    def described_domain(self) -> Domain | None:
        """Where the records lie that the mixture describes, if that is known."""

    @property
    def domain_(self) -> Domain | None:
        """Where records were clipped to for their labels, if that is known."""

    @property
    def privacy_(self) -> Any:
        """What was promised."""

    @property
    def plan_(self) -> Any:
        """The plan of the fit, if there was one."""

    @property
    def _smallest_seen(self) -> int | None:
        """The size from which on a group that lies apart is found in 19 of 20 such fits, if that is known."""

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""

    @property
    def _feature_names(self) -> Any:
        """Names of the columns, or None."""

    @property
    def _library(self) -> str | None:
        """The library of the frame that was fitted."""

    def _label_each(self, X: Any, of_component: LabelArray | None = None) -> Any:
        """Return the component of each record, or the label that ``of_component`` gives it."""

    def _each_labelled(self, X: Any, function: Function) -> Any:
        """Return a function of each record, clipped as for its label."""

    def _each_described(self, X: Any, function: Function) -> Any:
        """Return a function of each record, clipped as those that the mixture describes."""


@dataclass(frozen=True)
class ForeignBase:
    """An estimator that others wrote, with ``fit``, ``predict``, ``mixture_`` and ``privacy_``.

    It has no profile, and its records are arrays in memory that nobody clips.
    """

    estimator: Any
    profile_: None = None
    described_domain: None = None
    domain_: None = None
    plan_: None = None
    _smallest_seen: None = None
    _library: None = None

    @property
    def mixture_(self) -> GaussianMixture:
        """The mixture."""
        mixture: GaussianMixture = self.estimator.mixture_
        return mixture

    partition_ = landscape_ = mixture_

    @property
    def schema_(self) -> Schema:
        """Columns of numbers; nobody knows their bounds."""
        unknown = np.full(self.n_features_in_, np.inf)
        return Schema.of_numbers(self._feature_names, -unknown, unknown)

    @property
    def privacy_(self) -> Any:
        """What the estimator promises, in its own form."""
        return self.estimator.privacy_

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self.mixture_.n_features

    @property
    def _feature_names(self) -> Any:
        return getattr(self.estimator, "feature_names_in_", None)  # scikit-learn: absent if there are none

    def _label_each(self, X: Any, of_component: LabelArray | None = None) -> Any:
        components = self.estimator.predict(X)
        return components if of_component is None else of_component[components]

    def _each(self, X: Any, function: Callable[[FloatArray], Any]) -> Any:
        with without_sizes():
            records = Table(X).matching(self.estimator).numbers(self.estimator)
            return function(np.asarray(records, dtype=np.float64))

    _each_labelled = _each_described = _each
