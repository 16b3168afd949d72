"""scikit-learn's own checks, with a reason for each one that cannot hold."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpmorse import (
    Budget,
    BudgetExceededError,
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    Ledger,
    MorseClustering,
    PrivateGaussianMixture,
)
from toy_base import GridKMeans

NO_LABELS = (
    "reads labels_, which is withheld: the label of a training record is not a private release; "
    "test_clusters_are_found checks fit_predict instead"
)


IMPOSSIBLE = "asks for two clusters of one component, which is refused before budget is spent"


def expected_failures(estimator):
    impossible = (
        {"check_methods_sample_order_invariance": IMPOSSIBLE} if isinstance(estimator, DPMorse) else {}
    )
    return {"check_clustering": NO_LABELS, **impossible}


# A generous budget: some checks compare two fits of a few dozen records.
BASES = [DPMoGHard, DPMoG, PrivateGaussianMixture, DPLloyd, DPCube, DPTree, GridKMeans]
ESTIMATORS = [kind(3, epsilon=8.0, bounds=(-10.0, 10.0)) for kind in BASES]
ESTIMATORS.append(DPMorse(epsilon=8.0, bounds=(-10.0, 10.0)))
# scikit-learn seeds estimators before it fits them twice, but not estimators inside estimators.
ESTIMATORS.append(
    MorseClustering(DPMoGHard(3, epsilon=8.0, bounds=(-10.0, 10.0), random_state=0), n_clusters=2)
)


@pytest.mark.long
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [*BASES, DPMorse])
class TestContract:
    def test_clusters_are_found(self, kind, blobs):
        X, labels = blobs
        found = kind(8, epsilon=8.0, bounds=(-1, 1), random_state=0).fit_predict(X)
        assert found.shape == labels.shape
        assert found.dtype.kind == "i"
        assert adjusted_rand_score(labels, found) > 0.5

    def test_fit_predict_is_fit_then_predict(self, kind, blobs):
        X, _ = blobs
        model = kind(3, epsilon=1.0, bounds=(-1, 1), random_state=0)
        assert np.array_equal(model.fit_predict(X), model.predict(X))

    def test_labels_are_withheld_with_a_reason(self, kind, blobs):
        model = kind(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(blobs[0])
        assert not hasattr(model, "labels_")
        with pytest.raises(AttributeError, match="not differentially private"):
            _ = model.labels_

    def test_fit_and_clone_leave_parameters_alone(self, kind, blobs):
        bounds = (np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
        model = kind(3, epsilon=1.0, bounds=bounds, random_state=0)
        before = model.get_params()
        model.fit(blobs[0])
        assert all(model.get_params()[name] is value for name, value in before.items())
        assert bounds[0].tolist() == [-1.0, -1.0]
        copied = clone(model)
        assert not hasattr(copied, "mixture_")

    def test_notebook_display_is_quiet(self, kind, blobs):
        """scikit-learn reads our docstrings to show parameters, and complains about sections it does not know."""
        assert "epsilon" in kind(3, epsilon=1.0, bounds=(-1, 1)).fit(blobs[0])._repr_html_()

    def test_unknown_fit_arguments_are_refused(self, kind, blobs):
        with pytest.raises(TypeError, match="sample_weight"):
            kind(3, epsilon=1.0, bounds=(-1, 1)).fit_predict(blobs[0], sample_weight=np.ones(len(blobs[0])))

    def test_pickle_keeps_the_released_model(self, kind, blobs):
        model = kind(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(blobs[0])
        again = pickle.loads(pickle.dumps(model))
        assert again.mixture_ == model.mixture_
        assert again.privacy_ == model.privacy_

    def test_in_a_pipeline_with_a_public_transform(self, kind, blobs):
        halve = FunctionTransformer(lambda X: X / 2)
        pipeline = make_pipeline(halve, kind(4, epsilon=2.0, bounds=(-1, 1), random_state=0))
        assert pipeline.fit(blobs[0]).predict(blobs[0]).shape == (len(blobs[0]),)

    def test_a_shared_ledger_counts_every_fit_of_a_search(self, kind, blobs):
        """Each fold and the final refit spend; the total is on one ledger, and the next fit is refused."""
        ledger = Ledger(Budget(1.0, 1e-6))
        model = kind(epsilon=0.2, bounds=(-1, 1), ledger=ledger, random_state=0)
        GridSearchCV(model, {"n_components": [2, 3]}, cv=3).fit(blobs[0])
        spent = len(ledger.events)
        assert (
            sum(event.name.startswith(("round 1 of", "ranges", "covariances")) for event in ledger.events)
            == 2 * 3 + 1
        )
        assert 0.5 < ledger.spent.epsilon(1e-6) <= 1.0
        with pytest.raises(BudgetExceededError, match="Nothing was released"):
            clone(model).set_params(epsilon=0.9).fit(blobs[0])
        assert len(ledger.events) == spent
