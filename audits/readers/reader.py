"""Readers: ways into the library for records, and how hostile tables are put there."""

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from audits.readers.hostile import FINITE, SCHEMA, HostileTable
from audits.readers.postgres import postgres_server, why_no_postgres
from dpmorse.records import open_records
from dpmorse.typing import FloatArray

ROW = "rid"
"""A column of databases that tells rows apart."""


@dataclass(frozen=True)
class Reader:
    """A way into the library.

    Attributes
    ----------
    name : str
        Name of the reader.
    covers : tuple of str
        Parts of the library it goes through: classes that hold values or tables, endings of files, libraries.
    kinds : tuple of str
        Types that its columns can have; one of them for each column.
    stored : callable
        Puts a table there, and returns what ``fit`` takes.
    alone : callable or None
        Returns what ``fit`` takes for each row alone; by default each row is a table of its own.
    needs : tuple of str
        Modules, attributes of modules (``module:attribute``), "java" or "postgres".
    numbers : tuple of str or None
        Types of columns that are read without a schema; None for all of ``kinds`` that can hold numbers.
    named : bool
        Whether its columns have names, so that one of them can say whose record a row is.
    effort : float
        Part of a long run that is made: less where a table takes long.
    """

    name: str
    covers: tuple[str, ...]
    kinds: tuple[str, ...]
    stored: Callable[[HostileTable, "Shelf"], Any]
    alone: Callable[[HostileTable, "Shelf"], Iterator[Any]] | None = None
    needs: tuple[str, ...] = ()
    numbers: tuple[str, ...] | None = None
    named: bool = True
    effort: float = 1.0

    @property
    def number_kinds(self) -> tuple[str, ...]:
        """Types of columns that are read without a schema."""
        stated = tuple(kind for kind in self.kinds if kind in FINITE and kind != "text")
        return stated if self.numbers is None else self.numbers

    def encoded(self, table: HostileTable, shelf: "Shelf") -> FloatArray:
        """Return all encoded records, read together."""
        return _encoded(self.stored(table, shelf), table)

    def encoded_alone(self, table: HostileTable, shelf: "Shelf") -> FloatArray:
        """Return all encoded records, each read without the others."""
        rows: Iterable[Any] = (self.stored(table.alone(i), shelf) for i in range(len(table.rows)))
        if self.alone is not None:
            rows = self.alone(table, shelf)
        return np.concatenate([_encoded(X, table) for X in rows])

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks, in words; None if there is none."""
        for need in self.needs:
            if need == "postgres" and (why := why_no_postgres()) is not None:
                return why
            if need == "java" and shutil.which("java") is None:
                return "there is no Java"
            if need not in {"postgres", "java"} and not _is_there(need):
                return f"{need} is not installed"
        return None


def _is_there(need: str) -> bool:
    """Say whether a module is there, or ``module:attribute`` of one that has it in newer versions only."""
    if find_spec(need.partition(":")[0]) is None:
        return False
    try:
        resolve_name(need)
    except AttributeError:
        return False
    return True


def _encoded(X: Any, table: HostileTable) -> FloatArray:
    """Return the records of X as they are added up, in order: encoded, unless they are numbers only."""
    schema = SCHEMA if set(SCHEMA.names) <= set(table.names) else None
    found = open_records(X, schema=schema).each(None, np.asarray)
    if hasattr(found, "compute"):  # of Dask
        found = found.compute()
    if hasattr(found, "toPandas"):  # of Spark
        found = np.array([row[-1] for row in found.collect()])
    return np.asarray(found.cpu() if hasattr(found, "cpu") else found)


@dataclass
class Shelf:
    """Where tables are put: a folder, and servers that are started when they are first asked for."""

    folder: Path
    _stack: ExitStack = field(default_factory=ExitStack)
    _count: Iterator[int] = field(default_factory=itertools.count)

    def path(self, ending: str) -> Path:
        """Return the path of a new file."""
        return self.folder / f"table{next(self._count)}{ending}"

    def name(self) -> str:
        """Return the name of a new table."""
        return f"table{next(self._count)}"

    @cached_property
    def postgres(self) -> str:
        """The address of a PostgreSQL server."""
        return self._stack.enter_context(postgres_server())

    @cached_property
    def spark(self) -> Any:
        """A local session of Spark."""
        from audits.readers.clusters import local_spark

        return self._stack.enter_context(local_spark())


@contextmanager
def shelf() -> Iterator[Shelf]:
    """Give a place for tables; all of it is removed at the end."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        yield Shelf(Path(folder), stack)
