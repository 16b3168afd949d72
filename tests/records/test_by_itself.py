"""Places in which one record changed how others were read; what must hold everywhere is in tests/contracts.

Each of these tests failed before it was mended.
"""

import datetime as dt
import enum
import math
import sqlite3
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpmorse import (
    Boolean,
    Budget,
    Date,
    DPMorse,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    Nominal,
    Numeric,
    PrivateGaussianMixture,
    Query,
    Schema,
)
from dpmorse.records import open_records
from needed import needed
from replay_checks import check_paid_for

pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise

WARDS = Schema.of(
    {"ward": Nominal(["north", "south"]), "joined": Date("2000-01-01", "2030-01-01", missing="ignore")}
)


def encoded(X, schema=None):
    return open_records(X, schema=schema).each(None, np.asarray)


class Cursor:
    """Rows as a driver of Python's database API returns them."""

    def __init__(self, names, rows):
        self.description, self._rows = [(name, None) for name in names], iter(rows)

    def execute(self, sql):
        pass

    def fetchmany(self, n):
        return [row for row, _ in zip(self._rows, range(n), strict=False)]

    def close(self):
        pass


class Connection:
    def __init__(self, names, rows):
        self.cursor = lambda: Cursor(names, rows)

    def close(self):
        pass


def query(names, rows):
    return Query(lambda: Connection(names, rows), "select")


@pytest.fixture
def blobs(tmp_path):
    """A database of SQLite, and the same with one more record whose ward and day are bytes."""

    def stored(rows, name):
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            connection.execute("create table visits (ward text, joined text)")
            connection.executemany("insert into visits values (?, ?)", rows)
        connection.close()
        return Query(lambda: sqlite3.connect(path), "select ward, joined from visits")

    rows = [("north" if i % 2 else "south", f"20{i % 20:02}-05-31") for i in range(500)]
    return stored(rows, "one.db"), stored([(b"north", b"\xff"), *rows], "other.db")


def test_one_blob_changes_no_text_of_its_batch(blobs):
    one, other = (encoded(X, WARDS) for X in blobs)
    assert np.array_equal(other[1:], one)
    assert other[0].tolist() == encoded(query(["ward", "joined"], [("attic", None)]), WARDS)[0].tolist()


def test_one_blob_moves_what_is_paid_for(blobs, monkeypatch):
    def fitted(X):
        columns = dict(WARDS.columns)
        return PrivateGaussianMixture(2, epsilon=1.0, columns=columns, random_state=0).fit(X)

    check_paid_for(monkeypatch, lambda: fitted(blobs[0]), lambda: fitted(blobs[1]))


NAIVE = dt.datetime.combine(dt.date(2024, 5, 31), dt.time(23, 30))
EAST, WEST = dt.timezone(dt.timedelta(hours=14)), dt.timezone(dt.timedelta(hours=-12))


@pytest.mark.parametrize(
    "first",
    [
        dt.datetime(2024, 5, 31, 12, tzinfo=WEST),
        NAIVE.replace(hour=12),
        dt.date(2024, 5, 31),
        "2024-05-31",
        None,
        b"2024",
    ],
    ids=repr,
)
def test_the_day_of_a_time_is_that_of_its_own_offset(first):
    """Whatever was read before: a time of another zone, one without a zone, a date, a text, none, bytes."""
    late = NAIVE
    others = [late.replace(tzinfo=EAST), late.replace(tzinfo=WEST), late, late.date(), late.isoformat()]
    schema = Schema.of({"joined": Date("2024-05-01", "2024-07-01", missing="ignore")})
    rows = encoded(query(["joined"], [(first,), *((value,) for value in others)]), schema)
    assert rows[1:, 1].tolist() == [30.0] * 5


class Code(int, enum.Enum):
    ONE = 1


class Ward(enum.StrEnum):
    NORTH = "north"


@pytest.mark.parametrize(
    ("odd", "plain", "listed"),
    [
        (Code.ONE, 1, [1, 2]),
        (2.0**70, 2**70, [1, "1180591620717411303424"]),
        (2**70, 2.0**70, [1, "1180591620717411303424"]),
        (Ward.NORTH, "north", ["north", "south"]),
        (np.float64(1), 1, [1, 2]),
        (True, 1, [1, 2]),
        (Decimal("1.0"), 1, [1, 2]),
    ],
    ids=repr,
)
def test_equal_values_of_two_types_are_looked_up_one_by_one(odd, plain, listed):
    schema = Schema.of({"a": Nominal(listed, missing="ignore"), "b": Boolean(missing="ignore")})
    alone = encoded([[plain, plain]], schema)[0]
    for rows in ([[odd, odd], [plain, plain]], [[plain, plain], [odd, odd], [plain, plain]]):
        for X in (rows, pd.DataFrame(rows, columns=["a", "b"], dtype=object), query(["a", "b"], rows)):
            assert np.array_equal(encoded(X, schema)[-1], alone)


def test_rows_that_are_mappings_are_read_by_their_values():
    """As cursors of psycopg's dict_row return them; gone through, such a row would give its names."""
    rows = [("north", "2020-05-31"), ("south", None)]
    names = ["ward", "joined"]
    mappings = [dict(zip(names, row, strict=True)) for row in rows]
    assert np.array_equal(encoded(query(names, mappings), WARDS), encoded(query(names, rows), WARDS))


def test_a_member_of_an_enumeration_is_its_value():
    schema = Schema.of({"a": Nominal([1, 2]), "b": Nominal(["north", "south"])})
    assert np.array_equal(encoded([[Code.ONE, Ward.NORTH]], schema), encoded([[1, "north"]], schema))


@pytest.mark.parametrize("schema", [None, Schema.of({"a": Numeric(0, 9), "b": Numeric(0, 9)})])
@pytest.mark.parametrize("kind", ["arrow", "pandas on arrow"])
def test_one_value_changes_the_conversion_of_no_column(kind, schema):
    """A whole number that floats must round in one column; decimals in another, or in the same."""
    decimals = [Decimal(int(i)).scaleb(-4) for i in np.random.default_rng(0).integers(0, 10**15, 2000)]
    for big in (pa.array([2**53 + 1, *range(1999)]), pa.array([Decimal("1e15"), *decimals[1:]])):
        table = pa.table({"a": big, "b": pa.array(decimals)})
        frame = table if kind == "arrow" else table.to_pandas(types_mapper=pd.ArrowDtype)
        rest = frame.slice(1) if kind == "arrow" else frame.iloc[1:]
        assert np.array_equal(encoded(frame, schema)[1:], encoded(rest, schema))
        assert np.array_equal(encoded(frame, schema)[:, 1], [float(value) for value in decimals])


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0, 1e-300), (-1e-200, 1e-200), (1e10, np.nextafter(1e10, 2e10)), (1.0, 1.0 + 2**-41), (-5e-324, 0)],
)
def test_widths_that_are_too_small_are_refused_before_anything_is_spent(lower, upper):
    ledger = Ledger(Budget(1.0, 1e-6))
    with pytest.raises(InvalidParameterError, match=r"upper - lower must be at least .*Rescale"):
        Numeric(lower, upper)
    with pytest.raises(InvalidParameterError, match=r"bounds: column 0 is .* wide, less than .*Rescale"):
        DPMorse(2, epsilon=1.0, bounds=(lower, upper), ledger=ledger).fit([[lower, lower], [upper, upper]])
    assert not ledger.events


@pytest.mark.parametrize("scale", [1e-149, 1e-20, 1.0, 1e12, 1e148])
def test_the_smallest_widths_that_are_not_refused_can_be_fitted(scale, rng):
    lower, upper = scale, scale * (1 + 2**-38)
    if upper - lower < 1e-150:
        lower, upper = 0.0, scale
    X = lower + (upper - lower) * rng.random((300, 2))
    columns = {"a": Numeric(lower, upper), "b": Numeric(lower, upper, missing="ignore")}
    for model in (
        DPMorse(2, epsilon=1.0, bounds=(lower, upper), random_state=0).fit(X),
        DPMorse(2, epsilon=1.0, columns=columns, random_state=0).fit(X),
    ):
        assert len(model.predict(X)) == 300
        model.sample(5)


@pytest.mark.parametrize(
    "odd", ["Zebulon", b"Zebulon", math.inf, -math.inf, 10**400, dt.date(2000, 1, 1), [1]]
)
def test_an_odd_value_is_missing_by_itself_unless_the_schema_refuses(odd):
    rows = [[float(i)] for i in range(20)]
    for missing in ("ignore", "level"):
        schema = Schema.of({"a": Numeric(0, 20, missing=missing)})
        for X, none in (
            ([[odd], *rows], [[None], *rows]),
            (query(["a"], [[odd], *rows]), query(["a"], [[None], *rows])),
        ):
            assert np.array_equal(encoded(X, schema), encoded(X=none, schema=schema))
    with pytest.raises(InvalidParameterError, match="finite numbers in the columns 'a'") as raised:
        encoded([[odd], *rows], Schema.of({"a": Numeric(0, 20)}))
    assert "Zebulon" not in str(raised.value)


def test_a_driver_that_infers_types_is_refused(tmp_path):
    adbc, path = needed("adbc_driver_sqlite.dbapi"), tmp_path / "x.db"
    sqlite3.connect(path).close()
    with pytest.raises(InvalidTypeError, match=r"SQLite through ADBC.*sqlite3\.connect"):
        open_records(Query(lambda: adbc.connect(f"file:{path}"), "select 1 as a"))
