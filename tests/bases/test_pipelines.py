"""Steps of a pipeline that learnt from the records are warned of; nothing else is."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
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


def test_a_ledger_counts_the_fits_of_a_cross_validation(records):
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
