"""Where the records of a command are: a file, an address, or a query of a database file."""

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records import Query, Reading, is_address, open_tables

_SQLITE = b"SQLite format 3\0"
"""How a database file of SQLite begins."""

_DUCKDB = b"DUCK"
"""What is behind the first eight bytes of a database file of DuckDB."""

_FOR_OTHERS = "For other databases use dpmorse.Query in Python."


def open_data(file: str | None, sql: str | None, database: str | None, reading: Reading) -> list[Any]:
    """Return the tables that a command reads: those of FILE, or the result of --sql."""
    _check(file, sql, database)
    if file is not None:
        return open_tables(file, reading)
    return open_tables(Query(_connector(str(database)), str(sql)), reading)


def inputs(*paths: str | None) -> tuple[str, ...]:
    """Return the files on this machine that a command reads, which its output must not replace."""
    return tuple(path for path in paths if path is not None and not is_address(path))


def _check(file: str | None, sql: str | None, database: str | None) -> None:
    if (sql is None) != (database is None):
        raise typer.BadParameter("--sql and --database go together: a query, and the file of the database.")
    if (file is None) == (sql is None):
        raise typer.BadParameter("give either a FILE, or --sql and --database.")


def _connector(path: str) -> Callable[[], Any]:
    """Return what opens a database file for reading only; nothing is written to it, and none is made."""
    if is_address(path):  # not quoted: it may hold a password
        raise InvalidParameterError(f"--database must be a file of DuckDB or SQLite. {_FOR_OTHERS}")
    if not os.path.isfile(path):
        raise InvalidParameterError(f"there is no database file {path!r}.")
    with open(path, "rb") as file:
        start = file.read(16)
    if start == _SQLITE:
        return partial(sqlite3.connect, f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    if start[8:12] == _DUCKDB:
        return partial(_duckdb().connect, path, read_only=True)
    raise InvalidParameterError(f"{path!r} must be a database file of DuckDB or SQLite. {_FOR_OTHERS}")


def _duckdb() -> Any:
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise InvalidParameterError(
            "a database file of DuckDB needs duckdb: pip install 'dpmorse[duckdb]'"
        ) from None
    return duckdb
