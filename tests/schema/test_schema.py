"""A schema: what it refuses, how it orders an encoded record, and that it comes back from a file."""

import json
import pickle

import numpy as np
import pytest

from dpmorse import (
    Boolean,
    Date,
    InvalidParameterError,
    InvalidTypeError,
    ModelFormatError,
    Nominal,
    Numeric,
    Ordinal,
    Schema,
)

COLUMNS = {
    "status": Nominal(["employed", "retired"], missing="ignore"),
    "age": Numeric(0, 120, integer=True, missing="level"),
    "grade": Ordinal(["low", "mid", "high"]),
    "smoker": Boolean(missing="level"),
    "joined": Date("2000-01-01", "2030-01-01", missing="ignore"),
    "visits": Numeric(0.5, 9.5, integer=True),
}


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        (None, InvalidTypeError, "columns must be a dictionary, got None"),
        ([Numeric(0, 1)], InvalidTypeError, "columns must be a dictionary"),
        ({}, InvalidParameterError, "columns must name one column or more"),
        ({1: Numeric(0, 1)}, InvalidTypeError, "names that are text, got 1"),
        ({"a": Numeric}, InvalidTypeError, "'a' must be a column, got the class Numeric"),
        ({"a": (0, 1)}, InvalidTypeError, r"'a' must be a kind of column, got \(0, 1\)"),
        ({"a": Nominal(range(512))}, InvalidParameterError, "at most 512 levels in all, got 513"),
    ],
)
def test_what_is_no_schema_is_refused(columns, error, says):
    with pytest.raises(error, match=says):
        Schema.of(columns)


def test_as_many_levels_as_allowed():
    assert Schema.of({"a": Nominal(range(511))}).layout.n_all_levels == 512


def test_the_order_of_an_encoded_record():
    schema = Schema.of(COLUMNS)
    assert schema.names == tuple(COLUMNS)
    assert schema.number_names == ("age", "grade", "joined", "visits")
    assert schema.layout.holes == (0, 2)
    assert schema.layout.upper == (120.0, 2.0, 10958.0, 9.5)
    assert schema.labels == (
        ("status", ("employed", "retired", "other")),
        ("smoker", ("false", "true", "other", "missing")),
        ("age", ("present", "missing")),
    )
    assert schema.layout.n_levels == (3, 4, 2)
    assert Schema.of(schema) is schema


def test_plain_data_and_back():
    schema = Schema.of(COLUMNS)
    assert Schema.from_plain(json.loads(json.dumps(schema.to_plain()))) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def changed(**parts):
    content = Schema.of({"a": Numeric(0, 1), "b": Nominal(["x", "y"])}).to_plain()
    content["columns"][0] |= parts
    return content


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"columns": {}},
        {"columns": []},
        {"columns": [3]},
        {"columns": [{"name": "a"}]},
        {"columns": [{"name": "a", "kind": ["numeric"]}]},
        changed(kind="object"),
        changed(kind="nominal"),
        changed(name=3),
        changed(name="b"),
        changed(lower=True),
        changed(lower="0"),
        changed(lower=2.0),
        changed(integer=1),
        changed(missing="drop"),
        changed(extra=1),
        {"columns": [{"name": "a", "kind": "nominal", "values": "xy", "missing": "refuse"}]},
        {"columns": [{"name": "a", "kind": "nominal", "values": [["x"], "y"], "missing": "refuse"}]},
        {"columns": [{"name": "a", "kind": "nominal", "values": list(range(600)), "missing": "refuse"}]},
        {
            "columns": [
                {"name": "a", "kind": "date", "earliest": "x", "latest": "2000-01-01", "missing": "refuse"}
            ]
        },
    ],
)
def test_bad_files_are_refused(content):
    with pytest.raises(ModelFormatError):
        Schema.from_plain(content)


def test_whole_numbers_and_ranks_are_rounded_and_clipped():
    schema = Schema.of({"n": Numeric(0.5, 9.5, integer=True), "g": Ordinal(["a", "b"]), "x": Numeric(0, 1)})
    found = schema.decode(np.array([[-3.0, -1.0, 7.25], [3.4, 0.6, 0.5], [99.0, 8.0, -0.5]]))
    assert found["n"].dtype == np.int64
    assert found["n"].tolist() == [1, 3, 9]
    assert found["g"].tolist() == ["a", "b", "b"]
    assert found["x"].tolist() == [7.25, 0.5, -0.5]


def test_the_order_of_the_table_is_kept():
    schema = Schema.of(COLUMNS)
    assert list(schema.decode(np.zeros((2, schema.layout.width)))) == list(COLUMNS)
