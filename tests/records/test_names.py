"""Names of columns are published with a model; a record that stands in their place is not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from audits.attacks.malformed_records import Batches
from dpmorse import DPMoGHard, InvalidParameterError, load
from dpmorse.records.names import listed, looks_like_a_value

GOOD = np.full((9, 2), 0.25)


def model():
    return DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1)


VALUES = [
    *(
        "5",
        "5.1",
        "-5",
        "+3",
        ".5",
        "5.",
        "1e5",
        "1.5E-3",
        "nan",
        "inf",
        "1,5",
        "-1,5",
        "1.234,5",
        "1,234.5",
        "1 234",
    ),
    *(
        "<5",
        "< 5",
        ">=5",
        "5%",
        "5 %",
        "$5",
        "5.1.1",
        "1,5.1",
        "<5.1.1",
        " 5 ",
        "2020-01-01",
        "1.2.2020",
        "01/02/20",
    ),
    *(
        "2020/1/5",
        "1-2-2020",
        "2020-01-01.1",
        "2020-01-01T12:00:00Z",
        "2020-01-01 12:00:00+01:00",
        "12:30",
        "12:30:05",
    ),
]
NAMES = [
    "a",
    "age",
    "0-17",
    "65+",
    "18-24",
    "2020-01",
    "Unnamed: 3",
    "",
    "5mg",
    "1/2",
    "a.1",
    "v5.1.1",
    "Q1",
    "1st",
    "x 1",
]
HOLDERS = {
    "pandas": lambda names: pd.DataFrame(GOOD, columns=names),
    "polars": lambda names: pl.DataFrame(GOOD, schema=names),
    "pyarrow": lambda names: pa.table([pa.array(GOOD[:, 0])] * len(names), names=names),
    "batches": lambda names: Batches(pd.DataFrame(GOOD, columns=names)),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_no_names(name):
    X = pd.DataFrame(GOOD, columns=["Smith", name])
    with pytest.raises(InvalidParameterError, match="looks like a record") as raised:
        model().fit(X)
    assert "Smith" not in str(raised.value)
    assert f"'{name}'" not in str(raised.value)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_names(name):
    assert model().fit(pd.DataFrame(GOOD, columns=["Smith", name])).feature_names_in_.tolist() == [
        "Smith",
        name,
    ]


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_record_is_not_published_as_names_by_any_holder(holder):
    with pytest.raises(InvalidParameterError, match="looks like a record"):
        model().fit(HOLDERS[holder](["Smith", "34"]))


@pytest.mark.parametrize(
    "names", [["0", "1"], ["1", "2"], ["2019", "2020", "2021"], ["id", "0", "1", "2"]], ids=str
)
def test_positions_and_years_are_names(names):
    X = pd.DataFrame(np.zeros((9, len(names))), columns=names)
    assert model().fit(X).feature_names_in_.tolist() == names


def test_some_names_that_are_positions_do_not_excuse_a_record():
    with pytest.raises(InvalidParameterError, match="looks like a record"):
        model().fit(pd.DataFrame(GOOD, columns=["Smith", "1"]))


@pytest.mark.parametrize("names", [[0, 1], [34, 120], [5.1, 3.5]], ids=str)
def test_numbers_as_names_are_never_published(names):
    assert not hasattr(model().fit(pd.DataFrame(GOOD, columns=names)), "feature_names_in_")


def test_a_headerless_file_that_pandas_read(tmp_path):
    """The second 5.1 becomes 5.1.1, the gap Unnamed: 2."""
    path = tmp_path / "records.csv"
    path.write_text("5.1,5.1,,Smith\n" + "1,2,3,4\n" * 9)
    X = pd.read_csv(path)
    assert X.columns.tolist() == ["5.1", "5.1.1", "Unnamed: 2", "Smith"]
    with pytest.raises(InvalidParameterError, match="header=None"):
        model().fit(X)


def test_a_record_as_names_in_a_file_that_states_them(tmp_path):
    path = tmp_path / "records.parquet"
    pa.parquet.write_table(HOLDERS["pyarrow"](["Smith", "34.5"]), path)
    with pytest.raises(InvalidParameterError, match="looks like a record") as raised:
        model().fit(path)
    assert "34.5" not in str(raised.value)


def test_a_model_that_has_such_names_is_still_read(tmp_path):
    """They were published already."""
    path = tmp_path / "model.json"
    older = model().fit(HOLDERS["pandas"](["alpha", "beta"]))
    older.feature_names_in_ = np.array(["34.5", "beta"], dtype=object)
    older.save(path)
    assert load(path).feature_names_in_.tolist() == ["34.5", "beta"]


@pytest.mark.parametrize("name", ["1" * 5000 + "x", "1," * 5000 + "x", " " * 5000 + "x", "1 " * 5000 + "x"])
def test_a_hostile_name_takes_no_time(name):
    assert not looks_like_a_value(name)


def test_names_of_any_kind_are_taken_where_records_are_only_labelled(tmp_path):
    """A model file may state names that look like values; they are not published again."""
    fitted = model().fit(pd.DataFrame(GOOD, columns=["a", "b"]))
    fitted.feature_names_in_ = np.array(["a", "5.1"], dtype=object)
    fitted.save(tmp_path / "model.json")
    labels = load(tmp_path / "model.json").predict(pd.DataFrame(GOOD, columns=["a", "5.1"]))
    assert labels.shape == (len(GOOD),)


def test_a_list_of_names_says_how_many_it_leaves_out():
    assert listed(["a", 1]) == "'a', 1"
    assert listed(list("abcde")) == "'a', 'b', 'c', 'd', 'e'"
    assert listed(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e' and 3 more"
