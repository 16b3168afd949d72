"""What every estimator that releases a mixture can do once it is fitted."""

import os
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from dpmorse import _validate
from dpmorse.densities import GaussianMixture
from dpmorse.estimators import _documents
from dpmorse.estimators._model_file import write_document
from dpmorse.estimators._records import check_records, open_table
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy.report import PrivacyReport
from dpmorse.typing import FloatArray, IntArray

_NO_LABELS = (
    "labels_ is not kept on purpose: the label of a training record is a function of that person's own "
    "record, so it is not differentially private. Publish the model, and call predict(X) where the data are."
)


class PrivateMixtureEstimator(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base of the estimators that release a mixture of Gaussians.

    Everything here works on released values and on the points the caller passes in; only ``fit``, in
    the subclasses, is private.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture, in the units of X.
    privacy_ : PrivacyReport
        What the fit promises: epsilon, delta, relation, ledger, statement.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.
    """

    mixture_: GaussianMixture
    privacy_: PrivacyReport
    n_features_in_: int

    def fit(self, X: Any, y: object = None) -> Self:
        """Spend the budget on X and release a mixture."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: object = None, **kwargs: object) -> IntArray:
        """Fit, then label the training records. The labels are for the holder of the data only."""
        return self.fit(X, y).predict(X)

    def predict(self, X: Any) -> IntArray:
        """Return the most probable component of each record."""
        points = self._points(X)
        return self.mixture_.labels(points)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each component given the record."""
        points = self._points(X)
        return self.mixture_.responsibilities(points)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each record under the released mixture."""
        points = self._points(X)
        return self.mixture_.log_density(points)

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density. On private data this number is not a private release."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw synthetic records from the released mixture, with the component of each. Costs nothing."""
        check_is_fitted(self, "mixture_")
        n_samples = _validate.positive_int(n_samples=n_samples)
        return self.mixture_.sample(n_samples, np.random.default_rng(random_state))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the released model to a JSON file that ``dpmorse.load`` reads.

        The file holds public parameters and released values, never a seed. It is written whole or not
        at all.
        """
        check_is_fitted(self, "mixture_")
        write_document(path, self._to_document())

    @property
    def labels_(self) -> NoReturn:
        """Always absent; see the message."""
        raise AttributeError(_NO_LABELS)

    def _points(self, X: Any) -> FloatArray:
        """Check that there is a model and that X has its columns."""
        check_is_fitted(self, "mixture_")
        return check_records(self, open_table(X), reset=False)

    def _public_parameters(self) -> dict[str, Any]:
        """Return the constructor's parameters that belong in a model file, as plain data."""
        raise NotImplementedError

    def _to_document(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return {
            "estimator": type(self).__name__,
            "parameters": self._public_parameters(),
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
            "mixture": _documents.mixture_to_dict(self.mixture_),
            "privacy": _documents.privacy_to_dict(self.privacy_),
        }

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Self:
        """Rebuild a fitted estimator from a checked document."""
        estimator = cls._from_parameters(document.get("parameters"))
        estimator.mixture_ = _documents.mixture_from_dict(document.get("mixture"))
        estimator.privacy_ = _documents.privacy_from_dict(document.get("privacy"))
        estimator.n_features_in_ = estimator.mixture_.n_features
        if document.get("n_features") != estimator.n_features_in_:
            raise ModelFormatError("n_features does not match the mixture.")
        if document.get("feature_names") is not None:
            listed = _documents.names("feature_names", document["feature_names"], estimator.n_features_in_)
            estimator.feature_names_in_ = np.array(listed, dtype=object)
        return estimator

    @classmethod
    def _from_parameters(cls, parameters: object) -> Self:
        raise NotImplementedError
