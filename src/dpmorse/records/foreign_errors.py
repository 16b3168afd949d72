"""Errors of databases, of stores in other places and of allocators, in our own words.

What their libraries say may quote values of records, or a password in an address; sizes that do not fit in
memory reveal numbers of rows. It is looked at for a few known beginnings, and never repeated.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dpmorse.exceptions import DPMorseError, InvalidParameterError

Known = Sequence[tuple[str, str]]
"""How an error begins, as a regular expression, and what is said instead. The first that matches counts.
Only beginnings are compared, because values are quoted behind them."""

_NOT_SHOWN = "(What the database says is not shown: it may quote values.)"

_SQLITE = r"(operational|programming|database)error: ([\w ]+: )?(\[sqlite\] [\w ]+: )?(\(\d+\) )?"
"""How errors of SQLite begin, in Python's module and in ADBC."""

_OF_QUERIES: Known = (
    (
        rf"{_SQLITE}database (table )?is locked|ioexception: io error: could not set lock",
        "cannot be run: the database is locked by another program. Close that one, or try again later.",
    ),
    (
        rf"{_SQLITE}unable to open|ioexception: io error: cannot open",
        "cannot be run: the database cannot be opened. Is its path right?",
    ),
    (
        rf"{_SQLITE}file is not a database|ioexception: io error: the file",
        "cannot be run: the file is no database, or a damaged one.",
    ),
    (
        rf"{_SQLITE}cannot operate on a closed|connectionexception",
        "needs a connection that is open: connect must open a new one each time it is called.",
    ),
    (
        rf"{_SQLITE}no such (table|function)|catalogexception|undefinedtable|undefinedfunction",
        "names a table or a function that the database does not have.",
    ),
    (
        rf"{_SQLITE}no such column|binderexception|undefinedcolumn|columnnotfounderror",
        "names a column that is not there, or that has another type than its place needs.",
    ),
    (
        rf"{_SQLITE}near |{_SQLITE}incomplete input|parserexception|syntaxerror",
        "has a mistake in its SQL.",
    ),
    (
        r"conversionexception|invalidoperationerror: conversion|(arrowinvalid|oserror): [\w ]*conversion",
        "converts values, and some of them cannot be converted. Leave out such rows in the query.",
    ),
)
"""Classes of DuckDB, PostgreSQL and polars, and beginnings of SQLite's messages."""

_OTHERWISE = "could not be read to its end. Run it by itself to see why."

_ANYWHERE = r"(?s).*"
"""Stores are quoted nowhere else than between quotes, and these are left out."""

_SET_CREDENTIALS = (
    "may not be read by you: the store refuses. Set its credentials where its own tools look for them, such "
    "as AWS_PROFILE for s3:// or GOOGLE_APPLICATION_CREDENTIALS for gs://."
)

_OF_STORES: Known = (
    (
        rf"{_ANYWHERE}(access.denied|forbidden|unauthenticated|permission.denied|credential|invalid_access)",
        _SET_CREDENTIALS,
    ),
    (
        rf"{_ANYWHERE}(no.such.bucket|bucket.not.found|does not exist|not.found)",
        "is not there. Are the bucket, the path and the region right?",
    ),
    (
        rf"{_ANYWHERE}(network|resolv|connect|time.?out|timed out|unavailable|curl)",
        "cannot be reached: the store does not answer. Is the network up, are endpoint and region right?",
    ),
    (
        rf"{_ANYWHERE}(unrecognized filesystem|without|not built|protocol)",
        "is in a place that pyarrow cannot read from. Copy the file to this machine, and give its path.",
    ),
)

_TOO_LARGE = (
    "There is not enough memory for these records. Give them as files, as batches or as a Dask collection, "
    "or use fewer columns. (Sizes are not shown: they would tell how many records there are.)"
)
"""The error in place of an allocator's own."""


@contextmanager
def foreign_errors_told(name: str) -> Iterator[None]:
    """Turn any error of a database or of another library into a message that quotes nothing of it."""
    try:
        yield
    except (DPMorseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - libraries of databases have no error in common
        found = _said(f"{type(error).__name__}: {error}", _OF_QUERIES) or _OTHERWISE
        raise InvalidParameterError(f"{name} {found} {_NOT_SHOWN}") from None


def wrong_with_store(error: Exception) -> str | None:
    """Return what is wrong with a file in another place, by what pyarrow says of the place; None if nothing.

    An error about what is in a file may quote it: these are no errors of the operating system.
    """
    told = isinstance(error, OSError) or str(error).startswith("Unrecognized filesystem")
    return _said(re.sub("'[^']*'", "", str(error)), _OF_STORES) if told else None


def _said(message: str, known: Known) -> str | None:
    heard = message.lower()
    return next((said for begin, said in known if re.match(begin, heard)), None)


@contextmanager
def without_sizes() -> Iterator[None]:
    """Replace the message of a MemoryError, and of the errors that other libraries raise instead of it."""
    try:
        yield
    except MemoryError:
        raise MemoryError(_TOO_LARGE) from None
    except RuntimeError as error:
        told = f"{type(error).__name__}: {error}"  # by torch, on a device or on the host
        if any(sign in told for sign in ("OutOfMemoryError: ", "out of memory", "DefaultCPUAllocator")):
            raise MemoryError(_TOO_LARGE) from None
        raise
