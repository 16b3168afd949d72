"""What every estimator that releases a mixture can do once it is fitted."""

import os
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dpmorse import _plain_data, _validate
from dpmorse.bases.labelling import Label, OfClipped, each_record
from dpmorse.bases.randomness import seed_of
from dpmorse.bases.settings import Settings
from dpmorse.densities import GaussianMixture
from dpmorse.persistence import (
    domain_from_dict,
    domain_to_dict,
    mixture_from_dict,
    mixture_to_dict,
    privacy_from_dict,
    privacy_to_dict,
    write_document,
)
from dpmorse.privacy import PrivacyReport
from dpmorse.records import Columns, unowned
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, IntArray

NO_LABELS = (
    "labels_ is not kept on purpose: the label of a training record is a function of that person's own "
    "record, so it is not differentially private. Publish the model, and call predict(X) where the data are."
)


def draw_records(
    mixture: GaussianMixture, n_samples: object, random_state: Any
) -> tuple[FloatArray, IntArray]:
    """Draw synthetic records of a released mixture, and the component of each."""
    n = _validate.positive_int(n_samples=n_samples)
    seed = None if random_state is None else seed_of(random_state)
    return mixture.sample(n, np.random.default_rng(seed))


def set_at_once(estimator: Any, learnt: dict[str, Any], feature_names: Any) -> None:
    """Set what a fit has learnt in one step: an interrupt in between would mix two fits, and two promises."""
    kept = {name: value for name, value in vars(estimator).items() if name != "feature_names_in_"}
    named = {} if feature_names is None else {"feature_names_in_": feature_names}
    estimator.__dict__ = {**kept, **learnt, **named}


class PrivateMixtureEstimator(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base of the estimators that release a mixture of Gaussians.

    Everything here works on released values and on the points the caller passes in; only ``fit``, in
    the subclasses, is private. Points are first clipped to ``domain_``, as in ``fit``: the mixture
    describes records after clipping. ``mixture_`` itself takes points as they are.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture, in the units of X.
    domain_ : Domain
        Where records lie after clipping: ``bounds`` and ``radius``, or what was released in their place.
    privacy_ : PrivacyReport
        What the fit promises: epsilon, delta, relation, ledger, statement; and what it used of that.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.
    """

    mixture_: GaussianMixture
    domain_: Domain
    privacy_: PrivacyReport
    n_features_in_: int

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Spend the budget on X and release a mixture."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: object = None, *, groups: Any = None) -> Any:
        """Fit, then label the training records. The labels are for the holder of the data only."""
        return self.fit(X, y, groups=groups).predict(unowned(X, groups))

    def predict(self, X: Any) -> Any:
        """Return the most probable component of each record, in the smallest signed type that holds it.

        Labels come in a container that goes with X: an array for arrays, frames and files, a tensor on the
        same device for tensors, a lazy array for Dask collections.
        """
        check_is_fitted(self, "mixture_")
        return each_record(self, X, Label(self.mixture_, self.domain_))

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each component given the record."""
        check_is_fitted(self, "mixture_")
        return each_record(self, X, OfClipped(self.mixture_.responsibilities, self.domain_))

    def score_samples(self, X: Any) -> Any:
        """Return the log density of each record under the released mixture."""
        check_is_fitted(self, "mixture_")
        return each_record(self, X, OfClipped(self.mixture_.log_density, self.domain_))

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density. On private data this number is not a private release."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw synthetic records from the released mixture, with the component of each. Costs nothing."""
        check_is_fitted(self, "mixture_")
        return draw_records(self.mixture_, n_samples, random_state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the released model to a JSON file that ``dpmorse.load`` reads.

        The file holds public parameters and released values, never a seed (a pickle holds all parameters,
        ``random_state`` among them). It is written whole or not at all.
        """
        check_is_fitted(self, "mixture_")
        write_document(path, self.to_document())

    @property
    def labels_(self) -> NoReturn:
        """Always absent; see the message."""
        raise AttributeError(NO_LABELS)

    def remember(
        self,
        mixture: GaussianMixture,
        domain: Domain,
        report: PrivacyReport,
        settings: Settings,
        columns: Columns,
    ) -> None:
        """Set everything a fit learns, at once and last: a failed fit leaves no trace."""
        learnt = {"mixture_": mixture, "domain_": domain, "privacy_": report}
        learnt["_settings"] = settings  # those of the fit, whatever set_params does afterwards
        set_at_once(self, {**learnt, "n_features_in_": columns.n_features_in_}, columns.names)

    def to_document(self) -> dict[str, Any]:
        """Return the released model as plain data, for a model file."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "estimator": type(self).__name__,
            "parameters": self._settings.to_dict(),
            "feature_names": None if names is None else [str(name) for name in names],
            "mixture": mixture_to_dict(self.mixture_),
            "domain": domain_to_dict(self.domain_),
            "privacy": privacy_to_dict(self.privacy_),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Rebuild a fitted estimator; every part is checked, and the parts against one another."""
        keys = ("estimator", "parameters", "feature_names", "mixture", "domain", "privacy")
        fields = _plain_data.fields("the file", document, *keys)
        mixture = mixture_from_dict(fields["mixture"])
        domain = domain_from_dict(fields["domain"], mixture.n_features)
        report = privacy_from_dict(fields["privacy"])
        parameters = _plain_data.of_type("parameters", fields["parameters"], dict)
        estimator, settings, report = _plain_data.rebuild(
            "parameters", lambda: cls.restore(parameters, mixture, domain, report)
        )
        names = fields["feature_names"]
        if names is not None:
            names = _plain_data.names("feature_names", names, mixture.n_features)
        columns = Columns.of(mixture.n_features, names)
        estimator.remember(mixture, domain, report, settings, columns)
        return estimator

    @classmethod
    def restore(
        cls, parameters: dict[str, Any], mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> tuple[Self, Settings, PrivacyReport]:
        """Return an unfitted estimator with these parameters and its report, or say what contradicts what."""
        raise NotImplementedError
