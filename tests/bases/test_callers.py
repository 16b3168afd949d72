"""What scikit-learn does around a fit is warned of, where the promise does not cover it; nothing else is."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, PolynomialFeatures, StandardScaler

from dpmorse import Budget, DPMoGHard, DPMorse, Ledger, MorseClustering, PrivacyLeakWarning


@pytest.fixture(scope="module")
def records():
    return np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))


def private(**parameters):
    return DPMoGHard(2, **{"epsilon": 1.0, "bounds": (-1, 1), "n_iter": 1, **parameters})


def leaks(call):
    """Return what was warned of as leaks, one text for each, with the file that is blamed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(str(w.message), w.filename) for w in caught if issubclass(w.category, PrivacyLeakWarning)]


@pytest.mark.parametrize("wrap", [lambda base: base, MorseClustering], ids=["base", "MorseClustering"])
def test_a_scaler_that_was_fitted_before_is_warned_of(records, wrap):
    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(), wrap(private()))
    ((text, blamed),) = leaks(lambda: pipeline.fit(records))
    assert text.startswith("StandardScaler in the pipeline was fitted on the records")
    assert blamed == __file__


def test_the_default_estimator_warns_too_and_of_every_learner(records):
    both = FeatureUnion([("same", "passthrough"), ("turned", PCA(1))])
    by_column = ColumnTransformer([("scaled", StandardScaler(), [0])], remainder="passthrough")
    model = DPMorse(1, n_components=2, epsilon=1.0, bounds=(-9, 9))
    ((text, _),) = leaks(lambda: make_pipeline(both, by_column, model).fit_predict(records))
    assert text.startswith("PCA, StandardScaler in the pipeline")


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [FunctionTransformer(lambda X: X / 2)],
        [Normalizer()],
        [PolynomialFeatures(1, include_bias=False)],
        ["passthrough"],
        [ColumnTransformer([("norm", Normalizer(), [0, 1])])],
    ],
    ids=["none", "function", "normalizer", "polynomials", "passthrough", "columns"],
)
def test_steps_that_learn_nothing_are_no_reason_to_warn(records, steps):
    assert not leaks(lambda: make_pipeline(*steps, private()).fit(records))


def test_a_search_without_a_ledger_says_what_it_spends(records):
    search = GridSearchCV(private(), {"n_components": [2, 3, 4]}, cv=2)
    ((text, blamed),) = leaks(lambda: search.fit(records))
    assert "each fit spends epsilon = 1, 7 fits spend up to 7 in all" in text
    assert blamed == __file__
    alone = GridSearchCV(private(), {"n_components": [2, 3, 4]}, cv=2, refit=False)
    assert "6 fits spend up to 6 in all" in leaks(lambda: alone.fit(records))[0][0]


def test_a_cross_validation_says_what_it_spends(records):
    said = leaks(lambda: cross_val_score(private(epsilon=0.5), records, cv=3))
    assert {text.partition(", and the scores")[0].partition("records: ")[2] for text, _ in said} == {
        "each fit spends epsilon = 0.5, 3 fits spend up to 1.5 in all"
    }


def test_a_ledger_counts_itself(records):
    ledger = Ledger(Budget(3.0, delta=1e-5))
    assert not leaks(lambda: cross_val_score(private(ledger=ledger, epsilon=0.2), records, cv=3))
    assert len(ledger.events) == 3


def test_plain_fits_and_loops_are_no_reason_to_warn(records):
    scaled = StandardScaler().fit_transform(records)  # nobody can know
    assert not leaks(lambda: [clone(private()).fit(scaled) for _ in range(3)])


def test_the_warning_comes_before_anything_is_spent(records):
    ledger = Ledger(Budget(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        with pytest.raises(PrivacyLeakWarning, match="StandardScaler"):
            make_pipeline(StandardScaler(), private(ledger=ledger)).fit(records)
    assert ledger.events == ()
