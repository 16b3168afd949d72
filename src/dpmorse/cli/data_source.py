"""Where the records of a command are, and what is said about how they are read."""

import os
import sqlite3
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import typer

from dpmorse.cli.messages import note
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records import Query, Reading, in_words, is_address, open_tables, reasons_to_leave_out

_SQLITE = b"SQLite format 3\0"
"""How a database file of SQLite begins."""

_DUCKDB = b"DUCK"
"""What is behind the first eight bytes of a database file of DuckDB."""

_FOR_OTHERS = "For other databases use dpmorse.Query in Python."

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""Separators in words; commas are what everybody expects."""


def open_data(file: str | None, sql: str | None, database: str | None, reading: Reading) -> list[Any]:
    """Return the tables that a command reads: those of FILE, or the result of --sql."""
    if (sql is None) != (database is None):
        raise typer.BadParameter("--sql and --database go together: a query, and the file of the database.")
    if (file is None) == (sql is None):
        raise typer.BadParameter("give either a FILE, or --sql and --database.")
    if file is not None:
        return open_tables(file, reading)
    return open_tables(Query(_connector(str(database)), str(sql)), reading)


def inputs(*paths: str | None) -> tuple[str, ...]:
    """Return the files on this machine that a command reads, which its output must not replace."""
    return tuple(path for path in paths if path is not None and not is_address(path))


def tell_reading(table: Any) -> None:
    """Say which separator and encoding were found in a file."""
    text = getattr(table, "text", None)
    if text is not None and table.reading.separator is None and text.separator in _SEPARATORS:
        note(f"{table.path!r} is read as values with {_SEPARATORS[text.separator]} between (--separator).")
    if text is not None and table.reading.encoding is None and text.encoding != "utf-8":
        note(f"{table.path!r} is read as {text.encoding.upper()}, by its first bytes (--encoding).")


def tell_left_out(table: Any, known: Collection[str | None]) -> None:
    """Say which columns are left out by their names or types, where nobody has named columns.

    ``known`` are those that are used, have another use or were excluded: about these there is nothing to say.
    """
    reasons = reasons_to_leave_out(table.types, table.numeric)
    out = {name: reason for name, reason in reasons.items() if name not in known}
    if out:
        note(f"Left out: {in_words(out)}. Name columns with --columns to use them.")


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
    if start[8:12] != _DUCKDB:
        raise InvalidParameterError(f"{path!r} must be a database file of DuckDB or SQLite. {_FOR_OTHERS}")
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise InvalidParameterError(
            "a database file of DuckDB needs duckdb: pip install 'dpmorse[duckdb]'"
        ) from None
    return partial(duckdb.connect, path, read_only=True)
