"""Records in a real PostgreSQL, by the drivers that people use: the model of the same records in memory."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from dpmorse import Boolean, Date, DPMorse, Nominal, Numeric, Query
from needed import needed

N = 600
SQL = "select age, height, weight from visits order by id"
WARDS = ["surgery", "medicine", "cardiology"]
COLUMNS = {
    "age": Numeric(0, 110, missing="ignore"),
    "ward": Nominal(WARDS, missing="ignore"),
    "smoker": Boolean(missing="ignore"),
    "admitted": Date("2010-01-01", "2030-01-01", missing="ignore"),
}


@pytest.fixture(autouse=True)
def _every_pass_asks_the_database(monkeypatch):
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", 0)
    monkeypatch.setattr("dpmorse.records.databases.query.rows_of_a_batch", lambda *_: 200)


@pytest.fixture(params=["psycopg", "adbc_driver_postgresql.dbapi"])
def connect(request, postgres_uri):
    """A function that opens a new connection."""
    driver = needed(request.param)
    return lambda: driver.connect(postgres_uri)


def created(uri, table, declared, rows):
    """Create a table whose rows are numbered, then wait for tests, then drop it."""
    psycopg = needed("psycopg")
    marks = ", ".join(["%s"] * (len(declared.split(",")) + 1))
    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"create table {table} (id integer primary key, {declared})")
        cursor.executemany(f"insert into {table} values ({marks})", [(i, *row) for i, row in enumerate(rows)])
    yield
    with psycopg.connect(uri) as connection:
        connection.execute(f"drop table {table}")


@pytest.fixture(scope="module")
def X(postgres_uri):
    """Numbers, which are also in the table visits."""
    X = np.random.default_rng(3).normal(size=(N, 3)) * 0.3
    declared = "age double precision, height double precision, weight double precision"
    for _ in created(postgres_uri, "visits", declared, X.tolist()):
        yield X


@pytest.fixture(scope="module")
def patients(postgres_uri):
    """Records with missing values in every column, which are also in the table patients."""
    rng = np.random.default_rng(5)

    def with_holes(values):
        return [None if hole else value for value, hole in zip(values, rng.random(N) < 0.1, strict=True)]

    frame = pd.DataFrame(
        {
            "age": with_holes(rng.normal(50, 15, N).tolist()),
            "ward": with_holes(rng.choice([*WARDS, "attic"], N).tolist()),
            "smoker": with_holes((rng.random(N) < 0.4).tolist()),
            "admitted": with_holes(
                dt.date(2015, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(0, 3000, N)
            ),
        },
        dtype=object,
    )
    declared = "age double precision, ward text, smoker boolean, admitted date"
    for _ in created(postgres_uri, "patients", declared, frame.itertuples(index=False)):
        yield frame


def same(one, other):
    """Whether two fits have released the same, at the same price."""
    return one.mixture_ == other.mixture_ and one.privacy_ == other.privacy_


def test_numbers(connect, X):
    model = DPMorse(3, epsilon=1.0, bounds=(-1, 1), random_state=0)
    X_there, expected = Query(connect, SQL), DPMorse(**model.get_params()).fit(X)
    assert same(model.fit(X_there), expected)
    assert np.array_equal(model.predict(X_there), expected.predict(X))


def test_a_table_of_categories_dates_and_holes(connect, patients):
    model = DPMorse(3, epsilon=1.0, columns=COLUMNS, random_state=0)
    X_there = Query(connect, "select age, ward, smoker, admitted from patients order by id")
    expected = DPMorse(**model.get_params()).fit(patients)
    assert same(model.fit(X_there), expected)
    assert np.array_equal(model.predict(X_there), expected.predict(patients))
