"""scikit-learn's own checks, with a reason for each one that cannot hold."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpmorse import Budget, BudgetExceededError, DPMoGHard, DPMorse, Ledger, MorseClustering, load
from dpmorse.records import open_records
from every_base import OF_NUMBERS, WAYS, Way, numbers, with_missing

NO_LABELS = (
    "reads labels_, which is withheld: the label of a training record is not a private release; "
    "test_clusters_are_found checks fit_predict instead"
)


IMPOSSIBLE = "asks for two clusters of one component, which is refused before budget is spent"


OF_DESCRIBED_COLUMNS = {
    "check_dtype_object": "expects an error for an object that is no number: where values may be missing, it is one",
    "check_n_features_in_after_fitting": "wants other words: the error speaks of the columns that are described",
    "check_estimators_empty_data_messages": "has no columns, so that none can be described",
}


def expected_failures(estimator):
    reasons = {"check_clustering": NO_LABELS}
    if isinstance(estimator, DPMorse):
        reasons["check_methods_sample_order_invariance"] = IMPOSSIBLE
    return reasons | (OF_DESCRIBED_COLUMNS if isinstance(estimator, OfAnyWidth) else {})


class OfAnyWidth(WAYS["missing numbers"].kind):
    """A base of described columns for checks that fit tables of any width: it describes as many as there are."""

    def fit(self, X, y=None, *, groups=None):
        described = with_missing(open_records(X).columns.n_features_in_, 10.0)
        given = self.get_params()
        fitted = type(self).__base__(**{**given, **described}).fit(X, y, groups=groups)
        vars(self).update({name: value for name, value in vars(fitted).items() if name not in given})
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# A generous budget: some checks compare two fits of a few dozen records.
ESTIMATORS = [way.kind(3, epsilon=8.0, bounds=(-10.0, 10.0)) for way in OF_NUMBERS.values()]
ESTIMATORS.append(OfAnyWidth(3, epsilon=8.0))
ESTIMATORS.append(DPMorse(epsilon=8.0, bounds=(-10.0, 10.0)))
# scikit-learn seeds estimators before it fits them twice, but not estimators inside estimators.
ESTIMATORS.append(
    MorseClustering(DPMoGHard(3, epsilon=8.0, bounds=(-10.0, 10.0), random_state=0), n_clusters=2)
)
ON_TOP = {"DPMorse": Way(DPMorse), "DPMorse of described numbers": Way(DPMorse, numbers)}


@pytest.mark.long
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


FITTED = {}


@pytest.fixture
def fitted(way, blobs):
    """A model that tests share, for they leave it alone."""
    if way not in FITTED:
        FITTED[way] = way.make(3, random_state=0).fit(way.table(blobs[0]))
    return FITTED[way]


@pytest.mark.parametrize("way", [*WAYS.values(), *ON_TOP.values()], ids=[*WAYS, *ON_TOP])
class TestContract:
    def test_clusters_are_found(self, way, blobs):
        """Judged by complete records: a single coordinate of these groups cannot tell two of them apart."""
        X, labels = way.table(blobs[0]), blobs[1]
        complete = ~pd.isna(np.asarray(X, dtype=object)).any(axis=1)
        found = way.make(8, epsilon=8.0, random_state=0).fit_predict(X)
        assert found.shape == labels.shape
        assert found.dtype.kind == "i"
        assert adjusted_rand_score(labels[complete], found[complete]) > 0.5

    def test_fit_predict_is_fit_then_predict(self, way, blobs, fitted):
        X = way.table(blobs[0])
        assert np.array_equal(clone(fitted).fit_predict(X), fitted.predict(X))

    def test_labels_are_withheld_with_a_reason(self, fitted):
        assert not hasattr(fitted, "labels_")
        with pytest.raises(AttributeError, match="not differentially private"):
            _ = fitted.labels_

    def test_fit_and_clone_leave_parameters_alone(self, way, blobs):
        bounds = (np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
        listed = {"bounds": bounds} if "bounds" in way.described(2, 1.0) else {}
        model = way.make(3, random_state=0, **listed)
        before, columns = model.get_params(), list((way.described(2, 1.0).get("columns") or {}).items())
        model.fit(way.table(blobs[0][:300]))
        assert all(model.get_params()[name] is value for name, value in before.items())
        assert bounds[0].tolist() == [-1.0, -1.0]
        assert list((before.get("columns") or {}).items()) == columns
        copied = clone(model)
        assert not hasattr(copied, "mixture_")

    def test_notebook_display_is_quiet(self, fitted):
        """scikit-learn reads our docstrings to show parameters, and complains about sections it does not know."""
        assert "epsilon" in fitted._repr_html_()

    def test_unknown_fit_arguments_are_refused(self, way, blobs):
        with pytest.raises(TypeError, match="sample_weight"):
            way.make(3).fit_predict(way.table(blobs[0]), sample_weight=np.ones(len(blobs[0])))

    def test_pickle_keeps_the_released_model(self, fitted):
        again = pickle.loads(pickle.dumps(fitted))
        assert again.mixture_ == fitted.mixture_
        assert again.privacy_ == fitted.privacy_

    def test_a_file_keeps_the_released_model(self, way, blobs, fitted, tmp_path):
        fitted.save(tmp_path / "model.json")
        if way is WAYS["another package's"]:
            return  # a file of a base that nobody declares is not loaded: tests/bases/test_bases.py
        again = load(tmp_path / "model.json")
        assert again.mixture_ == fitted.mixture_
        assert again.privacy_ == fitted.privacy_
        X = way.table(blobs[0][:200])
        assert np.array_equal(again.predict(X), fitted.predict(X))
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()

    def test_in_a_pipeline_with_a_public_transform(self, way, blobs):
        halve = FunctionTransformer(lambda X: way.table(X / 2))
        pipeline = make_pipeline(halve, way.make(4, epsilon=2.0, random_state=0))
        assert pipeline.fit(blobs[0]).predict(blobs[0]).shape == (len(blobs[0]),)

    def test_a_shared_ledger_counts_every_fit_of_a_search(self, way, blobs):
        """Each fold and the final refit spend; the total is on one ledger, and the next fit is refused."""
        X, ledger = way.table(blobs[0][:300]), Ledger(Budget(1.0, 1e-6))
        model = way.make(epsilon=0.2, ledger=ledger, random_state=0)
        search = GridSearchCV(model, {"n_components": [2, 3]}, cv=3).fit(X)
        first = search.best_estimator_.privacy_.events[0].name
        assert sum(event.name == first for event in ledger.events) == 2 * 3 + 1
        spent = len(ledger.events)
        assert 0.5 < ledger.spent.epsilon(1e-6) <= 1.0
        with pytest.raises(BudgetExceededError, match="Nothing was released"):
            clone(model).set_params(epsilon=0.9).fit(X)
        assert len(ledger.events) == spent
