"""Readers of databases: SQLite, DuckDB, PostgreSQL, through Python's database API, ADBC and Ibis."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pyarrow as pa

from audits.readers.hostile import HostileTable
from audits.readers.in_memory import TYPED, ZONE, arrow_table
from audits.readers.reader import ROW, Reader, Shelf
from dpmorse import Query

_QUERY = ("DataFiles", "Query")

_POSTGRES = {
    "int64": "bigint",
    "double": "double precision",
    "decimal": "numeric(20, 4)",
    "bool": "boolean",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "binary": "bytea",
}
"""Types of PostgreSQL."""


def _columns(table: HostileTable) -> str:
    return ", ".join(table.names)


def _select(table: HostileTable, held: str, rows: str = "") -> str:
    return f"select {_columns(table)} from {held} {rows} order by {ROW}"  # noqa: S608 - names of our own


def _alone(table: HostileTable, held: str) -> Iterator[str]:
    return (_select(table, held, f"where {ROW} = {i}") for i in range(len(table.rows)))


def _in_sqlite(table: HostileTable, shelf: Shelf) -> str:
    """Return the path of a database whose columns have no types: each value has its own."""
    path = str(shelf.path(".db"))
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table held ({ROW}, {_columns(table)})")
        marks = ", ".join("?" * (len(table.names) + 1))
        rows = [(i, *row.values()) for i, row in enumerate(table.rows)]
        connection.executemany(f"insert into held values ({marks})", rows)  # noqa: S608
    connection.close()
    return path


def _sqlite(table: HostileTable, shelf: Shelf) -> Query:
    path = _in_sqlite(table, shelf)
    return Query(lambda: sqlite3.connect(path), _select(table, "held"))


def _sqlite_alone(table: HostileTable, shelf: Shelf) -> Iterator[Query]:
    path = _in_sqlite(table, shelf)
    return (Query(lambda: sqlite3.connect(path), sql) for sql in _alone(table, "held"))


def _broken(table: HostileTable) -> str:
    """Return a query in which one text is no UTF-8."""
    bad = "cast(x'6eff' as text)"
    cases = (f"case {name} when 'north' then {bad} else {name} end as {name}" for name in table.names)
    return f"(select {ROW}, {', '.join(cases)} from held)"  # noqa: S608


def _sqlite_bytes(table: HostileTable, shelf: Shelf) -> Query:
    path = _in_sqlite(table, shelf)
    return Query(lambda: sqlite3.connect(path), _select(table, _broken(table)))


def _sqlite_bytes_alone(table: HostileTable, shelf: Shelf) -> Iterator[Query]:
    path = _in_sqlite(table, shelf)
    return (Query(lambda: sqlite3.connect(path), sql) for sql in _alone(table, _broken(table)))


def _in_duckdb(table: HostileTable) -> Any:
    connection = import_module("duckdb").connect()
    connection.execute(f"set timezone = '{ZONE}'")
    given = arrow_table(table).append_column(ROW, pa.array(range(len(table.rows))))
    connection.register("given", given)
    connection.execute("create table held as select * from given")
    return connection


def _duckdb(table: HostileTable, _: Shelf) -> Query:
    return Query(_in_duckdb(table).cursor, _select(table, "held"))


def _duckdb_alone(table: HostileTable, _: Shelf) -> Iterator[Query]:
    connection = _in_duckdb(table)
    return (Query(connection.cursor, sql) for sql in _alone(table, "held"))


def _relation(table: HostileTable, _: Shelf) -> Any:
    return _in_duckdb(table).sql(_select(table, "held"))


def _relation_alone(table: HostileTable, _: Shelf) -> Iterator[Any]:
    connection = _in_duckdb(table)
    return (connection.sql(sql) for sql in _alone(table, "held"))


def _in_postgres(table: HostileTable, shelf: Shelf) -> str:
    psycopg = import_module("psycopg")
    held = shelf.name()
    types = ", ".join(f"{name} {_POSTGRES[kind]}" for name, kind in table.types.items())
    marks = ", ".join(["%s"] * (len(table.names) + 1))
    with psycopg.connect(shelf.postgres) as connection, connection.cursor() as cursor:
        cursor.execute(f"create table {held} ({ROW} bigint, {types})")
        rows = [(i, *row.values()) for i, row in enumerate(table.rows)]
        cursor.executemany(f"insert into {held} values ({marks})", rows)  # noqa: S608
    return held


def _psycopg(shelf: Shelf) -> Any:
    psycopg = import_module("psycopg")
    return lambda: psycopg.connect(shelf.postgres)


def _adbc(shelf: Shelf) -> Any:
    adbc = import_module("adbc_driver_postgresql.dbapi")
    return lambda: adbc.connect(shelf.postgres)


def _of_postgres(name: str, connect: Any, covers: tuple[str, ...], module: str) -> Reader:
    """Return the reader of PostgreSQL through a driver."""

    def stored(table: HostileTable, shelf: Shelf) -> Query:
        return Query(connect(shelf), _select(table, _in_postgres(table, shelf)))

    def alone(table: HostileTable, shelf: Shelf) -> Iterator[Query]:
        held = _in_postgres(table, shelf)
        return (Query(connect(shelf), sql) for sql in _alone(table, held))

    return Reader(name, covers, tuple(_POSTGRES), stored, alone, needs=(module, "postgres"), effort=0.3)


def _ibis_duckdb(table: HostileTable, _: Shelf) -> Any:
    connection = import_module("ibis").duckdb.from_connection(_in_duckdb(table))
    return connection.table("held").order_by(ROW).select(table.names)


def _ibis_sqlite(table: HostileTable, shelf: Shelf) -> Any:
    held = import_module("ibis").sqlite.connect(_in_sqlite(table, shelf)).table("held")
    return held.order_by(ROW).select(table.names)


DATABASES = (
    Reader("SQLite", (*_QUERY, "ObjectValues"), ("sqlite",), _sqlite, _sqlite_alone),
    Reader(
        "SQLite, texts that are no UTF-8",
        (*_QUERY, "ObjectValues"),
        ("sqlite",),
        _sqlite_bytes,
        _sqlite_bytes_alone,
        numbers=(),
    ),
    Reader("DuckDB", (*_QUERY, "ArrowValues", "duckdb"), TYPED, _duckdb, _duckdb_alone, ("duckdb",)),
    Reader(
        "DuckDB relation",
        ("DataFiles", "ArrowTable", "ArrowValues", "duckdb"),
        TYPED,
        _relation,
        _relation_alone,
        ("duckdb",),
    ),
    _of_postgres("PostgreSQL", _psycopg, (*_QUERY, "ObjectValues"), "psycopg"),
    replace(
        _of_postgres("PostgreSQL, ADBC", _adbc, (*_QUERY, "ArrowValues", "ADBC"), "adbc_driver_postgresql"),
        numbers=("int64", "double"),  # decimals come as text
        effort=0.15,
    ),
    Reader(
        "Ibis",
        ("DataFiles", "ArrowTable", "ArrowValues", "ibis"),
        TYPED,
        _ibis_duckdb,
        needs=("ibis",),
        effort=0.4,
    ),
    Reader("Ibis, SQLite", (*_QUERY, "ObjectValues"), ("sqlite",), _ibis_sqlite, needs=("ibis",), effort=0.4),
)
"""Readers of databases."""
