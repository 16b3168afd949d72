"""What every estimator that releases a mixture can do once it is fitted."""

import os
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dpmorse import _plain_data, _validate
from dpmorse.bases.fitted import FittedBase, ForeignBase
from dpmorse.bases.labelling import Label, OfClipped, each_record
from dpmorse.bases.numbers import PublishedNumbers
from dpmorse.bases.settings import Settings
from dpmorse.bases.synthetic import draw_records
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError, ModelFormatError
from dpmorse.persistence import (
    RELEASED,
    privacy_from_dict,
    privacy_to_dict,
    released_from_dict,
    released_to_dict,
    write_document,
)
from dpmorse.privacy import PrivacyReport
from dpmorse.profiles import Profile
from dpmorse.records import Columns, Function, unowned
from dpmorse.schema import Schema
from dpmorse.statistics import Domain
from dpmorse.typing import IntArray, LabelArray

NO_LABELS = (
    "labels_ is not kept on purpose: the label of a training record is a function of that person's own "
    "record, so it is not differentially private. Publish the model, and call predict(X) where the data are."
)


@dataclass(frozen=True)
class FitResult:
    """What a fit learns: a mixture in the caller's units, where it holds, and if it is more than noise."""

    mixture: Any
    """A ``GaussianMixture``, or a ``ProductMixture`` of a table."""

    domain: Domain
    supported: bool
    partition: GaussianMixture | None = None
    """What labels clipped records, where that is another mixture."""

    profile: Profile | None = None
    """What was measured of the records of each component."""


def set_at_once(estimator: Any, learnt: dict[str, Any], feature_names: Any) -> None:
    """Set what a fit has learnt in one step: an interrupt in between would mix two fits, and two promises."""
    state = {**vars(estimator), **learnt}
    state.pop("feature_names_in_", None)
    if feature_names is not None:
        state["feature_names_in_"] = feature_names
    estimator.__dict__ = state


class ReleasedModel(PublishedNumbers):
    """What estimators with clusters do alike, whether their components are merged or not."""

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Spend the budget on X."""
        raise NotImplementedError

    def _fit(self, X: Any, groups: Any = None) -> Self:
        """Spend the budget on X; the caller says what must be said about the numbers."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: object = None, *, groups: Any = None) -> Any:
        """Fit, then label the training records. The labels are for the holder of the data only."""
        return self.fit(X, y, groups=groups).predict(unowned(X, groups))

    def predict(self, X: Any) -> Any:
        """Return the label of each record."""
        raise NotImplementedError

    def score_samples(self, X: Any) -> Any:
        """Return the log density of each record under the released mixture."""
        check_is_fitted(self, "mixture_")
        return self._released._each_described(X, self.mixture_.log_density)

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density. On private data this number is not a private release."""
        return float(self.score_samples(X).mean())

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, missing: bool = False
    ) -> tuple[Any, IntArray]:
        """Draw synthetic records from the released mixture, with the label of each. Costs nothing.

        Records are a data frame of the kind that was fitted where columns have names (of the first library
        that is installed, if that was none), with categories and dates decoded; else an array, or a dict of
        the columns of a table. With ``missing``, values of a table are left out as often as they were missing
        in each component.
        """
        check_is_fitted(self, "mixture_")
        points, components = draw_records(self._released, n_samples, random_state, missing=missing)
        return self._framed(points), self._labels_of_components(None)[components]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the released model to a JSON file that ``dpmorse.load`` reads.

        The file holds public parameters and released values, never a seed (a pickle holds all parameters,
        ``random_state`` among them). It is written whole or not at all.
        """
        check_is_fitted(self, "mixture_")
        write_document(path, self._to_document())

    @property
    def labels_(self) -> NoReturn:
        """Always absent; see the message."""
        raise AttributeError(NO_LABELS)

    def _to_document(self) -> dict[str, Any]:
        """Return the released model as plain data, for a model file."""
        raise NotImplementedError


class PrivateMixtureEstimator(ReleasedModel, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Base of the estimators that release a mixture of Gaussians.

    Everything here works on released values and on the points the caller passes in; only ``fit``, in
    the subclasses, is private. Points are first clipped as in ``fit``, to ``domain_``: the mixture
    describes records after clipping. ``mixture_`` itself takes points as they are.

    Where a profile was released, two things are kept apart: ``partition_`` labels records that are clipped to
    ``domain_``, and ``mixture_`` describes records that are clipped to the bounds only.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture, in the units of X. Components that the noise does not support are left out, or
        have weight 0.
    domain_ : Domain
        Where records lie after clipping: ``bounds`` and ``radius``, or what was released in their place.
    partition_ : GaussianMixture
        The mixture whose most probable component is the label of a clipped record; ``mixture_`` itself where
        there is no profile.
    profile_ : Profile or None
        Sizes, centres and spreads of the components, with their noise, if they were released.
    schema_ : Schema
        What the columns are: as stated, or numbers within bounds that were stated or released.
    privacy_ : PrivacyReport
        What the fit promises and used: epsilon, delta, relation, rho, events (the ledger), statement, secure.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.
    """

    _called: ClassVar[str] = "component {}"

    mixture_: Any
    domain_: Domain
    partition_: Any
    profile_: Profile | None
    privacy_: PrivacyReport
    n_features_in_: int
    _library: str | None

    def predict(self, X: Any) -> Any:
        """Return the most probable component of each record, in the smallest signed type that holds it.

        Labels come in a container that goes with X: an array for arrays, frames and files, a tensor on the
        same device for tensors, a lazy array for Dask collections, one more column ("cluster") for Spark.
        """
        check_is_fitted(self, "mixture_")
        return self._label_each(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each component given the record."""
        check_is_fitted(self, "mixture_")
        return self._probabilities(X, self._each_labelled(X, self.partition_.responsibilities))

    def _labels_of_components(self, n_clusters: int | None) -> IntArray:
        """Return the number of each component: nothing merges them."""
        check_is_fitted(self, "mixture_")
        if n_clusters is not None:
            raise InvalidParameterError(
                "n_clusters must be None: a mixture has components, which only a MorseClustering or DPMorse "
                f"merges, got {_validate.describe(n_clusters)}."
            )
        return np.arange(self.mixture_.n_components)

    @property
    def described_domain(self) -> Domain:
        """Where the records lie that ``mixture_`` describes: the bounds, or ``domain_`` without a profile."""
        check_is_fitted(self, "mixture_")
        profile = self.profile_
        if profile is None or self.partition_ is self.mixture_:
            return self.domain_
        return Domain(profile.lower, profile.upper)

    @property
    def schema_(self) -> Schema:
        """What the columns are: as stated, or numbers within bounds that were stated or released."""
        check_is_fitted(self, "mixture_")
        schema: Schema = self._settings.schema
        if self._settings.private_bounds:
            box = self.described_domain
            schema = Schema.of_numbers(None, box.lower, box.upper)
        names = self._feature_names
        return schema if names is None else schema.called([str(name) for name in names])

    @property
    def plan_(self) -> Any:
        """The plan of the fit: its stages, what each could cost, and the units of their noise."""
        raise NotImplementedError

    @property
    def _smallest_seen(self) -> int | None:
        """The size from which on a group that lies apart is found in 19 of 20 such fits."""
        raise NotImplementedError

    @property
    def landscape_(self) -> GaussianMixture:
        """The density whose valleys the Morse step looks at, made of released values alone."""
        check_is_fitted(self, "mixture_")
        landscape: GaussianMixture = self.partition_.landscape
        return landscape

    @property
    def _released(self) -> FittedBase:
        return self

    @property
    def _feature_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)  # scikit-learn: absent if there are none

    @property
    def _n_labels(self) -> int:
        return int(self.mixture_.n_components)

    def _label_each(self, X: Any, of_component: LabelArray | None = None) -> Any:
        return each_record(self, X, Label(self.partition_, self.domain_, of_component))

    def _each_labelled(self, X: Any, function: Function) -> Any:
        return each_record(self, X, OfClipped(function, self.domain_))

    def _each_described(self, X: Any, function: Function) -> Any:
        return each_record(self, X, OfClipped(function, self.described_domain))

    def remember(
        self, result: FitResult, report: PrivacyReport, settings: Settings, columns: Columns
    ) -> None:
        """Set everything a fit learns, at once and last: a failed fit leaves no trace."""
        learnt = {
            "mixture_": result.mixture,
            "domain_": result.domain,
            "partition_": result.partition or result.mixture,
            "profile_": result.profile,
            "privacy_": report,
            "_settings": settings,  # those of the fit, whatever set_params does afterwards
            "n_features_in_": columns.n_features_in_,
            "_library": columns.library,
        }
        set_at_once(self, learnt, columns.names)

    def _to_document(self) -> dict[str, Any]:
        """Return the released model as plain data, for a model file."""
        names = self._feature_names
        return {
            "estimator": type(self).__name__,
            "parameters": self._settings.to_dict(),
            "feature_names": None if names is None else [str(name) for name in names],
            **released_to_dict(self.mixture_, self.domain_, self.partition_, self.profile_),
            "privacy": privacy_to_dict(self.privacy_),
        }

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Self:
        """Rebuild a fitted estimator; every part is checked, and the parts against one another."""
        keys = ("estimator", "parameters", "feature_names", *RELEASED, "privacy")
        fields = _plain_data.fields("the file", document, *keys)
        mixture, domain, partition, profile = released_from_dict(fields)
        result = FitResult(mixture, domain, supported=True, partition=partition, profile=profile)
        stated = privacy_from_dict(fields["privacy"])
        parameters = _plain_data.of_type("parameters", fields["parameters"], dict)
        estimator, settings, report = _plain_data.rebuild(
            "parameters", lambda: cls.restore(parameters, result, stated)
        )
        names = fields["feature_names"]
        if names is not None:
            names = _plain_data.names("feature_names", names, settings.n_features)
            if settings.schema.stated and tuple(names) != settings.schema.names:
                raise ModelFormatError("feature_names must be those of the columns that parameters describe.")
        estimator.remember(result, report, settings, Columns.of(settings.n_features, names))
        return estimator

    @classmethod
    def restore(
        cls, parameters: dict[str, Any], result: FitResult, report: PrivacyReport
    ) -> tuple[Self, Settings, PrivacyReport]:
        """Return an unfitted estimator with these parameters and its report, or say what contradicts what."""
        raise NotImplementedError


def fitted_base(base: Any) -> FittedBase:
    """Return what is read of a fitted base, whoever wrote it."""
    return base if isinstance(base, PrivateMixtureEstimator) else ForeignBase(base)
