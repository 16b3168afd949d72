"""Records in batches: the same model as in memory, one batch at a time, and nothing that is read only once."""

import numpy as np
import pandas as pd
import pytest

from dpmorse import (
    DPMoGHard,
    DPMorse,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    PrivateGaussianMixture,
)
from dpmorse.records import open_records


class InBatches:
    """A re-iterable of batches."""

    def __init__(self, X, size, make=lambda batch: batch):
        self.X, self.size, self.make, self.passes = X, size, make, 0

    def __iter__(self):
        self.passes += 1
        for start in range(0, len(self.X), self.size):
            yield self.make(self.X[start : start + self.size])


@pytest.fixture
def X(rng):
    return rng.normal(size=(5000, 3)) * 0.3


def model(**options):
    return DPMoGHard(4, epsilon=1.0, bounds=(-1, 1), n_iter=3, random_state=0, **options)


@pytest.mark.parametrize("size", [1, 999, 5000, 10_000])
def test_batches_give_the_model_of_the_array(X, size):
    X = X[:300] if size == 1 else X
    fitted = model().fit(InBatches(X, size))
    assert fitted.mixture_ == model().fit(X).mixture_
    assert np.array_equal(fitted.predict(InBatches(X, size)), fitted.predict(X))
    assert np.array_equal(fitted.predict_proba(InBatches(X, size)), fitted.predict_proba(X))
    assert fitted.score(InBatches(X, size)) == pytest.approx(fitted.score(X))


def test_batches_of_frames_keep_their_names(X):
    frames = InBatches(X, 700, lambda batch: pd.DataFrame(batch, columns=["a", "b", "c"]))
    fitted = model().fit(frames)
    assert fitted.mixture_ == model().fit(X).mixture_
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(fitted.predict(frames), fitted.predict(pd.DataFrame(X, columns=["a", "b", "c"])))


def test_batches_whose_sums_need_more_than_64_bits(X, monkeypatch):
    """Soft cells of residuals, which are the first to: beyond 2^26 rows."""
    base = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-1, 1), random_state=0)
    expected = base.fit(X).mixture_
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", 36 + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", 36)
    assert base.fit(InBatches(X, 700)).mixture_ == expected


def test_options_of_the_engine_are_those_of_one_batch(X):
    engine = InMemoryEngine(chunk_rows=100, n_threads=3)
    assert model(engine=engine).fit(InBatches(X, 700)).mixture_ == model().fit(X).mixture_


def test_empty_batches_count_for_nothing(X):
    class Holes(InBatches):
        def __iter__(self):
            yield self.X[:0]
            yield from super().__iter__()
            yield self.X[:0]

    fitted = model().fit(Holes(X, 2000))
    assert fitted.mixture_ == model().fit(X).mixture_
    assert np.array_equal(fitted.predict(Holes(X, 2000)), fitted.predict(X))


def test_every_pass_begins_anew(X):
    batches = InBatches(X, 1000)
    model().fit(batches)
    assert batches.passes == 1 + 1 + 3, "a look at the columns, a check, three rounds"


@pytest.mark.parametrize("n_features", [1, 2])
def test_the_joint_histogram_of_few_columns(n_features, X):
    few = X[:, :n_features]
    clusters = DPMorse(4, epsilon=1.0, bounds=(-1, 1), random_state=0)
    expected = clusters.fit(few).mixture_
    assert clusters.fit(InBatches(few, 901)).mixture_ == expected


@pytest.mark.parametrize("kind", [DPMoGHard, DPMorse])
def test_groups_go_with_batches(X, kind):
    groups = np.arange(len(X)) // 3
    options = {"epsilon": 2.0, "bounds": (-1, 1), "max_rows_per_group": 2, "random_state": 0}
    expected = kind(3, **options).fit(X, groups=groups).mixture_
    assert kind(3, **options).fit(InBatches(X, 901), groups=groups).mixture_ == expected


def test_what_can_be_read_only_once_is_refused(X):
    with pytest.raises(InvalidTypeError, match="X is an iterator"):
        model().fit(batch for batch in [X])


def test_records_that_change_between_passes_are_refused(X):
    class Growing(InBatches):
        def __iter__(self):
            yield from super().__iter__()
            if self.passes > 2:
                yield self.X[:1]

    with pytest.raises(InvalidParameterError, match="changed between two passes"):
        model().fit(Growing(X, 1000))


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "has no batches"),
        ([np.zeros((0, 2))], "0 sample"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], "other columns than those of the first"),
        ([np.zeros((3, 2)), np.array([[1.0, np.nan]])], r"NaN in the columns 1"),
        ([np.zeros((3, 2)), np.array([[np.inf, 0.0]])], r"infinity in the columns 0"),
        ([np.zeros((3, 2)), np.array([["a", "b"]])], "must hold numbers"),
    ],
)
def test_bad_batches_are_refused_before_anything_is_released(batches, message):
    class Bad:
        def __iter__(self):
            return iter(batches)

    estimator = model()
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message):
        estimator.fit(Bad())
    assert not hasattr(estimator, "mixture_")


def test_other_columns_than_those_of_the_fit_are_refused(X):
    fitted = model().fit(X)
    with pytest.raises(InvalidParameterError, match="X has 2 features, but DPMoGHard is expecting 3"):
        fitted.predict(InBatches(X[:, :2], 100))
    named = model().fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    others = InBatches(X, 100, lambda batch: pd.DataFrame(batch, columns=["a", "c", "b"]))
    with pytest.raises(InvalidParameterError, match="the columns of the fit"):
        named.predict(others)


@pytest.mark.parametrize("X", [[[1.0, 2.0]], ((1.0, 2.0),), np.ones((1, 2)), pd.DataFrame({"a": [1.0]})])
def test_tables_are_no_batches(X):
    assert type(open_records(X)).__name__ == "Table"
