"""Records in a database: a query that is run for every pass, in one transaction for all passes of a fit."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from dpmorse import _validate
from dpmorse.exceptions import InvalidTypeError
from dpmorse.records.databases.arrow_tables import checked_batch, duckdb_reader
from dpmorse.records.databases.object_rows import ObjectRows
from dpmorse.records.files.batched_table import Asked, BatchedTable, Part
from dpmorse.records.files.data_file import distinct, rows_of_a_batch, types_in
from dpmorse.records.files.reading import NOTHING_SAID
from dpmorse.records.foreign_errors import foreign_errors_told

_NAME = "the query"
"""What it is called in messages, which do not quote it."""

_PROBE = "dpmorse_columns"
"""A temporary view that tells which columns of a query in SQLite are declared as text."""


@dataclass(frozen=True)
class Query(BatchedTable):
    """Records that a database returns: ``fit`` and ``predict`` take it as X.

    A fit opens one connection, and reads in one transaction, so that all its passes see one state of the
    database where this keeps one for a transaction (SQLite and DuckDB do; others may have to be told, see
    the guide). A fit whose passes see different records is refused in any case. Needs pyarrow:
    ``pip install 'dpmorse[arrow]'``.

    Parameters
    ----------
    connect : callable
        Opens a new connection, which is closed after use: one of Python's database API, of ADBC or of
        DuckDB. It takes no arguments. Passwords stay in it.
    sql : str
        One SELECT. Its columns must have names, each a different one.

    Examples
    --------
    >>> import sqlite3
    >>> from dpmorse import DPMorse, Query
    >>> visits = Query(lambda: sqlite3.connect("visits.db"), "select age, height, patient from visits")
    >>> model = DPMorse(3, epsilon=1.0, bounds=([0, 50], [110, 220]), max_rows_per_group=5)
    >>> model.fit(visits, groups="patient")  # doctest: +SKIP
    """

    connect: Callable[[], Any]
    sql: str
    session: "_Session | None" = field(default=None, kw_only=True)  # of a fit, see ``held``
    lent: bool = field(default=False, kw_only=True)  # whether connect returns a connection that stays open
    path = _NAME
    kind = "query"
    reading = NOTHING_SAID

    def __post_init__(self) -> None:
        """Refuse what is no function, and what is no text."""
        if not callable(self.connect):
            raise InvalidTypeError(
                "connect must be a function that opens a new connection, such as "
                f"lambda: sqlite3.connect(path), got {_validate.describe(type(self.connect))}."
            )
        text: Any = self.sql
        if not isinstance(text, str) or not text.strip():
            raise InvalidTypeError(
                "sql must be the text of a query that selects columns, got "
                f"{'no text' if isinstance(text, str) else _validate.describe(type(text))}."
            )

    def __repr__(self) -> str:
        return "Query(...)"  # the text may hold a password

    @cached_property
    def types(self) -> Mapping[str, Any]:  # type: ignore[override]  # computed once, and never set
        """The columns, in order, and their types; None where the database does not say before it reads."""
        with foreign_errors_told(_NAME), self._opened() as session:
            return session.types(self.sql)

    @contextmanager
    def held(self) -> Iterator["Query"]:
        """Return this query bound to one connection and one transaction."""
        with foreign_errors_told(_NAME):
            session = self._connected()
        with closing(session):
            with foreign_errors_told(_NAME):
                session.begin()
            yield replace(self, session=session)

    def parts(self, asked: Asked) -> Iterator[Part]:
        """Yield rows of these columns; see ``BatchedTable.parts``."""
        n_rows = rows_of_a_batch(len(self.names))
        with foreign_errors_told(_NAME), self._opened() as session:
            for batch in session.batches(self.sql, n_rows):
                if not isinstance(batch, ObjectRows):
                    yield checked_batch(batch, asked.columns), 0.0
                else:
                    yield (batch if asked.raw else batch.arrow(asked.numbers, asked.others, _NAME)), 0.0

    @contextmanager
    def _opened(self) -> Iterator["_Session"]:
        if self.session is not None:
            yield self.session
            return
        with closing(self._connected()) as session:
            yield session

    def _connected(self) -> "_Session":
        """Open a session; refuse a driver whose types depend on values."""
        session = _Session(self.connect(), self.lent)
        connection = session.connection
        try:  # what ADBC says of the database behind it
            told = connection.adbc_get_info() if hasattr(connection, "adbc_get_info") else {}
        except Exception:  # noqa: BLE001 - a driver need not tell, and that of SQLite does
            told = {}
        if "sqlite" in str(told.get("vendor_name", "")).lower():
            session.close()
            raise InvalidTypeError(_TYPES_OF_VALUES)
        if session.library == "sqlite3" and connection.text_factory is str:
            connection.text_factory = _ANY_TEXT
        return session


@dataclass
class _Session:
    """An open connection, of whatever kind."""

    connection: Any
    lent: bool = False
    begun: bool = False  # whether the transaction is ours

    @property
    def library(self) -> str:
        return type(self.connection).__module__.partition(".")[0].lstrip("_")

    def close(self) -> None:
        """Close the connection; leave one that is lent as it was."""
        if not self.lent:
            self.connection.close()
            return
        if self.begun:
            self.connection.rollback()
        if self.connection.text_factory is _ANY_TEXT:
            self.connection.text_factory = str

    def begin(self) -> None:
        """Begin a transaction where that must be said; the database API begins one with the first query."""
        if self.library == "duckdb" or (self.library == "sqlite3" and not self.connection.in_transaction):
            self.connection.execute("begin transaction")
            self.begun = True

    def types(self, sql: str) -> dict[str, Any]:
        """Run the query, and look at the columns of its result only."""
        with self._result(sql, 1) as result:
            if hasattr(result, "schema"):
                return types_in(_NAME, result.schema)
            described = [(str(column[0]), self._type_of(column[1])) for column in result.description]
        known = distinct(_NAME, described)
        if self.library == "sqlite3":
            known |= dict.fromkeys(self._declared_as_text(sql), pa.string())
        return known

    def batches(self, sql: str, n_rows: int) -> Iterator[Any]:
        """Run the query and yield its rows, as Arrow batches or as ``ObjectRows``, with all columns."""
        with self._result(sql, n_rows) as result:
            if hasattr(result, "schema"):
                yield from result
                return
            names = [str(column[0]) for column in result.description]
            while rows := result.fetchmany(n_rows):
                yield ObjectRows.of(names, rows)

    @contextmanager
    def _result(self, sql: str, n_rows: int) -> Iterator[Any]:
        """Run a query; yield an Arrow reader, or a cursor of the database API."""
        if self.library == "duckdb":  # its cursors are connections of their own, with their own transactions
            with closing(duckdb_reader(self.connection.sql(sql), n_rows)) as reader:
                yield reader
            return
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(sql)
            if not hasattr(cursor, "fetch_record_batch"):
                yield cursor
                return
            with closing(cursor.fetch_record_batch()) as reader:
                yield reader

    def _type_of(self, code: Any) -> Any:
        """Return the type that is no number, if the driver has a word for it; None otherwise."""
        driver = sys.modules.get(self.library)
        told = {"STRING": pa.string(), "BINARY": pa.binary(), "DATETIME": pa.timestamp("us")}
        words = [word for word in told if hasattr(driver, word) and code == getattr(driver, word)]
        return told[words[0]] if words else None

    def _declared_as_text(self, sql: str) -> list[str]:
        """Return the columns that are declared as text in tables of SQLite, whose results have no types."""
        try:
            self.connection.execute(f"create temp view {_PROBE} as {sql.strip().rstrip(';')}")
        except Exception:  # noqa: BLE001 - a query that is no view, such as a pragma, has no declarations
            return []
        declared = self.connection.execute(f"pragma table_info({_PROBE})").fetchall()
        self.connection.execute(f"drop view {_PROBE}")
        return [str(row[1]) for row in declared if any(word in row[2].upper() for word in _TEXT)]


_ANY_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
"""Makes a text of bytes that may be none: such a value is one that no list has, and ends no query."""

_TYPES_OF_VALUES = (
    "connect opens SQLite through ADBC, which finds the types of columns in their first values, so that one "
    "record could change how others are read. Use Python's driver: Query(lambda: sqlite3.connect(path), ...)."
)
"""The error about a driver that does not read every value by itself."""


_TEXT = ("CHAR", "CLOB", "TEXT")
"""What the declaration of a column of text contains, by the rules of SQLite."""
