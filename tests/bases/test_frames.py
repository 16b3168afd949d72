"""pandas, polars and pyarrow give the model of the array they hold, and keep their column names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpmorse import DPMoG, DPMoGHard, InvalidParameterError, InvalidTypeError, load

NAMES = ["age", "income", "visits"]
MAKERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas-nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
}

frames = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture
def X(rng):
    return rng.uniform(-1, 1, size=(400, 3))


def model(kind=DPMoGHard):
    return kind(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0)


@frames
@pytest.mark.parametrize("kind", [DPMoGHard, DPMoG])
def test_same_model_as_the_array(make, kind, X):
    fitted = model(kind).fit(make(X))
    assert fitted.mixture_ == model(kind).fit(X).mixture_
    assert fitted.feature_names_in_.tolist() == NAMES
    assert np.array_equal(fitted.predict(make(X)), fitted.mixture_.labels(X))


@frames
def test_names_survive_saving_and_are_checked_afterwards(make, X, tmp_path):
    model().fit(make(X)).save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.feature_names_in_.tolist() == NAMES
    assert loaded.predict(make(X)).shape == (400,)
    other = pd.DataFrame(X, columns=["age", "income", "height"])
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(other)


@frames
def test_columns_in_another_order_are_refused(make, X):
    fitted = model().fit(make(X))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(pd.DataFrame(X[:, ::-1], columns=NAMES[::-1]))


def test_float32_frames_stay_float32_and_integers_are_exact(X):
    single = X.astype(np.float32)
    assert model().fit(pl.DataFrame(single, schema=NAMES)).mixture_ == model().fit(single).mixture_
    whole = np.round(X * 3).astype(np.int32)
    mixed = pd.DataFrame({"a": whole[:, 0], "b": whole[:, 1].astype(float), "c": whole[:, 2] > 0})
    expected = np.column_stack([whole[:, 0], whole[:, 1], whole[:, 2] > 0]).astype(float)
    assert model().fit(mixed).mixture_ == model().fit(expected).mixture_


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": [1.0, np.nan], "income": [1.0, 2.0]}),
        pd.DataFrame({"age": [1.0, None], "income": [1.0, 2.0]}).astype("Float64"),
        pl.DataFrame({"age": [1.0, None], "income": [1.0, 2.0]}),
        pa.table({"age": [1.0, None], "income": [1.0, 2.0]}),
    ],
    ids=["pandas", "pandas-nullable", "polars", "pyarrow"],
)
def test_missing_values_name_the_column(frame):
    with pytest.raises(InvalidParameterError, match="missing values in the columns 'age'"):
        model().fit(frame)


def test_nan_that_is_not_null_is_refused_too():
    with pytest.raises(ValueError, match="contains NaN"):
        model().fit(pl.DataFrame({"a": [1.0, float("nan")], "b": [1.0, 2.0]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"name": ["Ann", "Bob"], "x": [1.0, 2.0]}),
        pl.DataFrame({"name": ["Ann", "Bob"], "x": [1.0, 2.0]}),
        pa.table({"name": ["Ann", "Bob"], "x": [1.0, 2.0]}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_text_columns_are_named_without_their_values(frame):
    with pytest.raises(InvalidTypeError, match="these columns do not: 'name'") as raised:
        model().fit(frame)
    assert "Ann" not in str(raised.value)


def test_lazy_frames_of_an_older_polars_are_explained(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    with pytest.raises(InvalidTypeError, match=r"lazy frame; collect\(\) it first"):
        model().fit(pl.LazyFrame({"a": [1.0]}))


def test_integer_column_labels_are_no_names(X):
    fitted = model().fit(pd.DataFrame(X))
    assert fitted.mixture_ == model().fit(X).mixture_
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.predict(pd.DataFrame(X)).shape == (400,)


def test_repeated_column_names_are_refused(X):
    with pytest.raises(InvalidParameterError, match="distinct column names"):
        model().fit(pd.DataFrame(X, columns=["a", "b", "a"]))


def test_refusals_of_frames_say_how_to_go_on():
    """What a person with categories, dates and gaps does next, as it can be pasted."""
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(9), "D")
    ages = pd.array([41, None, *range(7)], dtype="Int64")
    frame = pd.DataFrame({"age": ages, "ward": pd.Categorical(["a"] * 9), "day": days, "ill": True})
    with pytest.raises(
        InvalidTypeError, match=r"do not: 'ward', 'day'.* X.drop\(columns=.*columns={\"age\": Numeric"
    ):
        model().fit(frame)
    with pytest.raises(InvalidParameterError, match=r"the columns 'age'.*X.dropna\(\).*missing=\"ignore\""):
        model().fit(frame[["age", "ill"]])
    with pytest.raises(InvalidParameterError, match=r"a series: X.to_frame\(\)"):
        model().fit(frame["ill"])
    with pytest.raises(InvalidTypeError, match=r"got dict. Make it one, such as by pandas.DataFrame\(X\)"):
        model().fit({"age": [1, 2]})
    fitted = model().fit(frame[["age", "ill"]].dropna())
    assert fitted.feature_names_in_.tolist() == ["age", "ill"]
