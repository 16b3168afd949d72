"""Encoded records: the same from every storage, each by itself, and no value in any error."""

import datetime as dt
import decimal
import math

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from described_tables import SCHEMA, columns, stored
from dpmorse import Boolean, Date, DPMorseError, Nominal, Numeric, Ordinal, Schema
from dpmorse.records import open_records
from dpmorse.records.encoding import encode

TABLE = columns(300)


def encoded(X, schema=SCHEMA, **options):
    return open_records(X, schema=schema, **options).read(None)


def one(column, values):
    """Encode one column, as an array of objects."""
    objects = np.empty((len(values), 1), dtype=object)
    objects[:, 0] = values
    return encoded(objects, Schema.of({"a": column}))


def by_hand(table):
    """Encode records one by one, by plain Python."""
    layout = SCHEMA.layout
    rows = np.zeros((len(table["age"]), layout.width))
    for row, values in zip(rows, zip(*table.values(), strict=True), strict=True):
        record = dict(zip(table, values, strict=True))
        numbers, levels = row[layout.number_part], row[layout.level_part]
        grade = {"low": 0, "mid": 1, "high": 2}.get(record["grade"])
        joined = record["joined"] and (record["joined"] - dt.date(2000, 1, 1)).days
        row[layout.hole_part] = [value is None for value in (record["age"], grade, joined)]
        numbers[:] = [
            60.0 if record["age"] is None else record["age"],
            1.0 if grade is None else grade,
            5479.0 if joined is None else joined,
            record["height"],
        ]
        if record["status"] is not None:
            levels[{"employed": 0, "retired": 1, "NA": 2}.get(record["status"], 3)] = 1
        levels[4 + {False: 0, True: 1, None: 3}[record["smoker"]]] = 1
        if record["ward"] is not None:
            levels[8 + {1: 0, 2: 1, 30: 2}.get(record["ward"], 3)] = 1
        levels[12 + (record["age"] is None)] = 1
    return rows


@pytest.mark.parametrize("name", list(stored(columns(1))))
def test_every_storage_gives_the_same_records(name):
    found = encoded(stored(TABLE)[name])
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    assert np.array_equal(found, by_hand(TABLE))


@pytest.mark.parametrize("name", ["pandas", "pandas objects", "polars", "arrow dictionaries"])
def test_a_record_is_encoded_by_itself(name):
    """The encoding of a table is that of its rows: no record depends on another, or on their number."""
    frame = nw.from_native(stored(TABLE)[name])
    whole = encode(frame, SCHEMA, frame.columns)
    for i in range(0, 300, 17):
        alone = frame[i : i + 1]
        assert np.array_equal(encode(alone, SCHEMA, frame.columns), whole[i : i + 1])


def test_equal_times_in_two_zones_may_be_two_days():
    noon = dt.datetime(2000, 1, 2, 0, 30, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    before = noon.astimezone(dt.UTC)
    column = Date("2000-01-01", "2001-01-01")
    assert one(column, [noon, before]).ravel().tolist() == [1.0, 0.0]
    assert one(column, [before, noon]).ravel().tolist() == [0.0, 1.0]


def test_what_was_encoded_can_be_decoded():
    found = SCHEMA.decode(encoded(pd.DataFrame(TABLE)))
    assert list(found) == list(TABLE)
    unlisted = {"status": ("Employed", "x"), "ward": (4,)}
    for name in ("status", "smoker", "ward"):
        told = ["other" if value in unlisted.get(name, ()) else value for value in TABLE[name]]
        assert found[name].tolist() == told
    assert found["grade"].tolist() == [None if value == "none" else value for value in TABLE["grade"]]
    assert found["height"].tolist() == TABLE["height"]
    assert [None if math.isnan(x) else x for x in found["age"].tolist()] == TABLE["age"]
    first, last = dt.date(2000, 1, 1), dt.date(2030, 1, 1)
    assert found["joined"].tolist() == [day and min(max(day, first), last) for day in TABLE["joined"]]
    again = SCHEMA.decode(encoded(pd.DataFrame(found).astype(object)))
    assert all(pd.Series(again[name]).equals(pd.Series(found[name])) for name in found)


def test_values_of_many_types():
    values = [
        1,
        1.0,
        "1",
        "1.0",
        np.int8(1),
        np.float32(1),
        np.str_("1"),
        decimal.Decimal(1),
        decimal.Decimal("1.0"),
    ]
    assert one(Nominal([0, 1]), values)[:, 1].all()
    others = [
        True,
        np.True_,
        [],
        {},
        b"1",
        object(),
        1.5,
        dt.date(2000, 1, 1),
        decimal.Decimal("1e400"),
        10**5000,
    ]
    assert one(Nominal([0, 1]), others)[:, 2].all()
    missing = [
        None,
        math.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "D"),
        decimal.Decimal("nan"),
    ]
    assert not one(Nominal([0, 1], missing="ignore"), missing).any()
    assert one(Numeric(0, 1, missing="ignore"), missing)[:, 0].all()
    assert one(Date("2000-01-01", "2001-01-01", missing="ignore"), [*missing, *others[:-3]])[:, 0].all()


def test_booleans_and_numbers_stay_apart_in_any_order():
    column = Nominal([1, True])
    for values in ([1, True], [True, 1]):
        codes = one(column, values).argmax(axis=1)
        assert codes.tolist() == [0 if value is not True else 1 for value in values]


def test_times_are_cut_to_days_before_1970_too():
    times = np.array([["1969-12-31T23:59:59"], ["1970-01-01T00:00:01"]], dtype="datetime64[ns]")
    found = encoded(times, Schema.of({"a": Date("1969-12-30", "1971-01-01")}))
    assert found.ravel().tolist() == [1.0, 2.0]


def test_integers_that_floats_round():
    table = pa.table({"a": pa.array([2**53 + 1, None])})
    found = encoded(table, Schema.of({"a": Numeric(0, 1, missing="ignore")}))
    assert found.tolist() == [[0.0, 2.0**53], [1.0, 0.5]]
    named = Schema.of({"a": Nominal([2**53, 2**53 + 1], missing="ignore")})
    assert encoded(table, named).tolist() == [[0, 1, 0], [0, 0, 0]]


def test_a_column_without_any_value():
    for X in (
        pd.DataFrame({"a": [None, None]}),
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": pa.nulls(2)}),
    ):
        assert encoded(X, Schema.of({"a": Numeric(0, 1, missing="ignore")})).tolist() == [[1, 0.5]] * 2
        assert not encoded(X, Schema.of({"a": Boolean(missing="ignore")})).any()


def test_a_million_levels_and_levels_of_a_megabyte():
    schema = Schema.of({"a": Nominal(["5", "x" * 10**6])})
    many = pd.DataFrame({"a": [str(i) for i in range(10**6)]})
    assert encoded(many, schema).sum(axis=0).tolist() == [1, 0, 10**6 - 1]
    long = pl.DataFrame({"a": ["x" * 10**6, "x" * (10**6 + 1), "x" * 10**6]})
    assert encoded(long, schema).sum(axis=0).tolist() == [0, 2, 1]


def test_categories_of_a_type_are_no_public_list():
    kept = pd.DataFrame({"a": pd.Categorical(["a", "b"], categories=["secret", "b", "a"])})
    assert encoded(kept, Schema.of({"a": Nominal(["a", "b"])})).tolist() == [[1, 0, 0], [0, 1, 0]]


SECRET = "Zebulon"
ALL = Schema.of(
    {"n": Numeric(0, 1), "o": Ordinal([0, 1]), "c": Nominal([0, 1]), "d": Date("2000-01-01", "2001-01-01")}
)
GOOD = {"n": [0.5, 1], "o": [0, 1], "c": [SECRET, 1], "d": ["2000-01-02", "2000-01-03"]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": [SECRET, 1]}, "must hold finite numbers in the columns 'n'"),
        ({"n": [dt.date(2000, 1, 1)] * 2}, "must hold finite numbers in the columns 'n'"),
        ({"n": [math.inf, 3719]}, "must hold finite numbers in the columns 'n'"),
        ({"n": [10**400, 3719]}, "must hold finite numbers in the columns 'n'"),
        ({"n": [None, 3719]}, "missing values .* in the columns 'n'"),
        ({"o": [SECRET, 1]}, "missing values .* in the columns 'o'"),
        ({"c": [None, SECRET], "d": [SECRET, SECRET]}, "missing values .* in the columns 'c', 'd'"),
        ({"Zoe": [3719, 3719]}, "columns that columns does not describe: 'Zoe'"),
        ({"3719": [1, 1]}, "columns that columns does not describe: 4"),
        ({"n": None}, "lacks 'n'"),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, lambda table: pd.DataFrame(table, dtype=object)])
def test_errors_name_columns_only(change, says, frame):
    table = {name: values for name, values in {**GOOD, **change}.items() if values is not None}
    with pytest.raises(DPMorseError, match=says) as raised:
        encoded(frame(table), ALL)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
    assert not [told for told in (SECRET, "3719", "2000") if told in str(raised.value)]


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (np.array([[SECRET, "0", "1", "2000-01-02"]]), "must hold finite numbers in the columns 'n'"),
        (np.zeros((3, 4), dtype="datetime64[s]"), "must hold numbers in the columns 'n'; by their type"),
        (np.zeros((3719, 3)), "X has 3 features, but columns describes 4"),
        (np.zeros((0, 4)), "no rows"),
        (np.zeros(3719), "two dimensions"),
        ([[1, 2], [1]], "two dimensions|different lengths"),
        (csr_matrix(np.zeros((3719, 4))), "sparse data are not supported"),
        (np.ma.zeros((3719, 4)), "masked"),
    ],
)
def test_arrays_that_cannot_be(X, says):
    with pytest.raises(DPMorseError, match=says) as raised:
        encoded(X, ALL)
    assert "3719" not in str(raised.value)


def test_columns_are_those_of_the_schema():
    frame = pd.DataFrame(TABLE)
    records = open_records(frame[list(frame)[::-1]], schema=SCHEMA)
    assert records.columns.n_features_in_ == 7
    assert records.columns.feature_names_in_.tolist() == list(SCHEMA.names)
    assert open_records(frame.to_numpy(), schema=SCHEMA).columns.names is None
    assert open_records(frame.set_axis(range(7), axis=1), schema=SCHEMA).columns.names is None
