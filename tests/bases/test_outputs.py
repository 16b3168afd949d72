"""Synthetic records, tables and probabilities come in the container of the fit, or in the one chosen."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn
from sklearn.base import clone

from dpmorse import Boolean, Date, DPMoGHard, DPMorse, MorseClustering, Nominal, Numeric, load
from dpmorse.bases import outputs
from dpmorse.datasets import make_patient_table
from dpmorse.exceptions import InvalidParameterError

NAMES = ["age", "pressure"]
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
SCHEMA = {
    "age": Numeric(0, 110, integer=True),
    "pressure": Numeric(60, 220, missing="ignore"),
    "sex": Nominal(["female", "male"]),
    "smoker": Boolean(missing="ignore"),
    "ward": Nominal(["surgery", "medicine", "cardiology"]),
    "admitted": Date("2010-01-01", "2030-01-01"),
}


@pytest.fixture(scope="module")
def records():
    return np.random.default_rng(0).uniform([20, 100], [80, 180], size=(800, 2))


def as_kind(library, columns):
    arrow = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    return {"pandas": arrow.to_pandas, "polars": lambda: pl.from_arrow(arrow), "pyarrow": lambda: arrow}[
        library
    ]()


def fitted(X):
    return DPMoGHard(2, epsilon=1.0, bounds=([0, 60], [110, 220]), random_state=0).fit(X)


@pytest.mark.parametrize("library", KINDS)
def test_a_sample_is_a_frame_of_the_input_s_kind_with_its_columns(records, library):
    X = as_kind(library, dict(zip(NAMES, records.T, strict=True)))
    base = fitted(X)
    model = MorseClustering(DPMoGHard(2, epsilon=1.0, bounds=([0, 60], [110, 220]), random_state=0), 1).fit(X)
    for each in (base, model):
        sample, labels = each.sample(7, random_state=1)
        assert type(sample) is KINDS[library]
        assert list(as_columns(sample)) == NAMES
        assert len(labels) == len(each.predict(sample)) == 7
    assert np.array_equal(np.column_stack(list(as_columns(base.sample(7, random_state=1)[0]).values())),
                          fitted(records).sample(7, random_state=1)[0])  # fmt: skip


def as_columns(frame):
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    return {name: np.asarray(frame[name]) for name in names}


def test_arrays_give_arrays(records):
    assert type(fitted(records).sample(3)[0]) is np.ndarray


def test_files_and_loaded_models_give_frames_of_the_first_library(records, tmp_path):
    pq.write_table(pa.table(dict(zip(NAMES, records.T, strict=True))), tmp_path / "records.parquet")
    model = fitted(tmp_path / "records.parquet")
    model.save(tmp_path / "model.json")
    for each in (model, load(tmp_path / "model.json")):
        sample, _ = each.sample(3)
        assert isinstance(sample, pd.DataFrame)
        assert list(sample.columns) == NAMES


def test_without_a_library_of_frames_a_sample_is_an_array(records, monkeypatch):
    model = fitted(pd.DataFrame(records, columns=NAMES))
    model._library = None
    monkeypatch.setattr(outputs, "first_installed", lambda: None)
    assert type(model.sample(3)[0]) is np.ndarray


def test_without_a_library_of_frames_a_table_s_sample_is_a_dict_of_columns(monkeypatch):
    columns = make_patient_table(800, random_state=0)[0]
    X = np.array([values.astype(object) for values in columns.values()], dtype=object).T
    model = DPMorse(2, epsilon=3.0, columns=SCHEMA, random_state=0).fit(X)
    monkeypatch.setattr(outputs, "first_installed", lambda: None)
    sample, labels = model.sample(5)
    assert {name: len(values) for name, values in sample.items()} == dict.fromkeys(SCHEMA, 5)
    assert len(labels) == 5


@pytest.mark.parametrize("library", KINDS)
def test_a_table_s_sample_has_its_categories_and_dates_in_the_input_s_kind(library):
    X = as_kind(library, make_patient_table(1500, random_state=0)[0])
    model = DPMorse(2, epsilon=3.0, columns=SCHEMA, random_state=0).fit(X)
    sample, labels = model.sample(50, random_state=0)
    assert type(sample) is KINDS[library]
    columns = as_columns(sample)
    assert list(columns) == list(SCHEMA)
    assert set(columns["ward"]) <= {"surgery", "medicine", "cardiology", "other"}
    assert columns["age"].dtype.kind == "i"
    assert columns["admitted"].dtype.kind == "M" or library == "pyarrow"
    assert len(model.predict(sample)) == len(labels) == 50
    assert type(model.summary()) is KINDS[library]


def test_set_output_chooses_the_container_and_survives_clones_and_cuts(records):
    model = DPMorse(2, epsilon=3.0, bounds=([0, 60], [110, 220]), random_state=0).set_output(
        transform="polars"
    )
    X = pd.DataFrame(records, columns=NAMES)
    model = clone(model).fit(X)
    for each in (model, model.cut(1)):
        assert type(each.sample(3)[0]) is pl.DataFrame
        assert type(each.summary()) is pl.DataFrame
        shares = each.predict_proba(X[:5])
        assert shares.columns == [f"cluster {i}" for i in range(each.n_clusters_)]
    model.set_output(transform=None)
    assert type(model.sample(3)[0]) is pl.DataFrame
    assert type(model.summary(library="pandas")) is pd.DataFrame
    model.set_output(transform="default")
    assert type(model.sample(3)[0]) is pd.DataFrame
    assert type(model.predict_proba(X[:5])) is np.ndarray


def test_probabilities_keep_the_index_of_pandas(records):
    frame = pd.DataFrame(records, columns=NAMES)
    some = frame.iloc[7:3:-1]
    shares = fitted(frame).set_output(transform="pandas").predict_proba(some)
    assert shares.index.equals(some.index)
    assert list(shares.columns) == ["component 0", "component 1"]
    assert np.allclose(shares.sum(axis=1), 1)


def test_scikit_learn_s_choice_for_everything_counts(records):
    with sklearn.config_context(transform_output="polars"):
        sample, _ = fitted(records).sample(3)
    assert type(sample) is pl.DataFrame
    assert sample.columns == ["column 0", "column 1"]


def test_other_containers_are_refused():
    with pytest.raises(InvalidParameterError, match="transform must be one of 'default', 'pandas'"):
        DPMorse(epsilon=1.0).set_output(transform="excel")
