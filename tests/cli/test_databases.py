"""Queries of database files on the command line."""

import sqlite3
import sys

import duckdb
import pyarrow as pa
import pyarrow.csv
import pytest

SQL = "select age, pressure from patients"
FIT = ("fit", "--epsilon", 9, "--bounds", "0,220", "--base", "DPMoGHard", "--seed", 1, "-o", "m.json")


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request, here, patients):
    path = here / "patients.db"
    if request.param == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("given", patients)
            connection.execute("create table patients as select *, 'p' || age as name from given")
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("create table patients (age real, pressure real, name text)")
            rows = zip(patients["age"].to_pylist(), patients["pressure"].to_pylist(), strict=True)
            connection.executemany("insert into patients values (?, ?, 'p' || ?1)", rows)
        connection.close()
    return path


def test_fit_and_predict(run, here, database, csv_file):
    of_database = ("--sql", "select * from patients", "--database", database)
    run(*FIT, *of_database)
    from_database = (here / "m.json").read_text()
    run(*FIT, csv_file, "--force")
    assert (here / "m.json").read_text() == from_database, "text is left out by its type"
    run("predict", *of_database, "--model", "m.json", "-o", "a.csv", "--keep", "name", "--keep", "age")
    run("predict", csv_file, "--model", "m.json", "-o", "b.csv", "--keep", "age")
    labels, expected = pa.csv.read_csv(here / "a.csv"), pa.csv.read_csv(here / "b.csv")
    assert labels.drop_columns("name").equals(expected)
    assert "age" in run("bounds", *of_database).stdout


def test_mistakes_say_the_next_step(run, here, database, csv_file):
    def complaint(*args, code=1):
        result = run(*FIT, *args, code=code)
        assert not (here / "m.json").exists()
        assert "SECRET" not in result.output
        return " ".join(result.output.split())

    there = ("--database", database)
    assert "go together" in complaint("--sql", SQL, code=2)
    assert "go together" in complaint(*there, code=2)
    assert "give either a FILE" in complaint(code=2)
    assert "give either a FILE" in complaint(csv_file, "--sql", SQL, *there, code=2)
    assert "no database file" in complaint("--sql", SQL, "--database", "absent.duckdb")
    assert not (here / "absent.duckdb").exists()
    assert "must be a database file of DuckDB or SQLite" in complaint("--sql", SQL, "--database", csv_file)
    postgres = "postgresql://ann:SECRET@host/patients"
    assert "use dpmorse.Query in Python" in complaint("--sql", SQL, "--database", postgres)
    assert "a mistake in its SQL" in complaint("--sql", "selekt 'SECRET'", *there)
    assert "table or a function" in complaint("--sql", "select 'SECRET' from nowhere", *there)
    assert "0 sample" in complaint("--sql", f"{SQL} where age < 0", *there)


def test_the_database_is_not_written_to(run, here, database):
    before = database.read_bytes()
    run(*FIT, "--sql", "delete from patients returning age, pressure", "--database", database, code=1)
    assert database.read_bytes() == before


def test_without_duckdb(run, here, patients, monkeypatch):
    with duckdb.connect(str(here / "x.duckdb")) as connection:
        connection.execute("create table t as select 1.0 as age")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'dpmorse[duckdb]'" in run(*FIT, "--sql", SQL, "--database", "x.duckdb", code=1).output
