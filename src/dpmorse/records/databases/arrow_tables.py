"""Tables that can be read again as Arrow batches: Arrow datasets, DuckDB, polars, Ibis, and Arrow streams.

Opening one finds names and types of its columns, and reads no value. Each pass reads it anew, and closes its
reader also where it is given up: some databases allow one at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dpmorse.exceptions import InvalidTypeError
from dpmorse.records.files.batched_table import Asked, BatchedTable, Part
from dpmorse.records.files.data_file import (
    intact,
    problems_told,
    rows_of_a_batch,
    types_in,
    without_codes,
)
from dpmorse.records.files.reading import NOTHING_SAID, Reading
from dpmorse.records.foreign_errors import foreign_errors_told

Start = Callable[[list[str], int], Iterable[Any]]
"""Begins a pass: given columns and how many rows are wanted at a time, yields Arrow batches."""

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Types of text that few functions of pyarrow know yet, and the usual ones."""


@dataclass(frozen=True)
class ArrowTable(BatchedTable):
    """A table of another library; its reading says no more than codes for missing values.

    ``start`` begins a pass, and ``errors_told`` makes the context that turns errors into messages which quote
    no value.
    """

    path: str
    types: Mapping[str, Any]
    start: Start
    errors_told: Callable[[str], AbstractContextManager[None]] = foreign_errors_told
    kind: str = "arrow"
    reading: Reading = NOTHING_SAID

    def parts(self, asked: Asked) -> Iterator[Part]:
        """Yield rows of these columns; see ``BatchedTable.parts``."""
        columns = asked.columns
        with self.errors_told(self.path):
            for batch in self.start(columns, rows_of_a_batch(len(columns), len(asked.others))):
                yield without_codes(checked_batch(batch, columns), self.reading, texts=not asked.raw), 0.0


def open_arrow(X: Any) -> ArrowTable:
    """Open an object that can be read again as Arrow batches."""
    library = type(X).__module__.partition(".")[0].lstrip("_")
    opener = _OPENERS.get(library, _of_stream)
    with foreign_errors_told(_CALLED.get(library, "X")):
        return opener(X)


def checked_batch(batch: Any, columns: Sequence[str]) -> Any:
    """Return the columns of a batch that are wanted, in types that pyarrow can work with."""
    usual = {}
    for name in columns:
        column = batch.column(name)
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage  # what a type of its database is stored as
        kind = column.type
        if kind in _VIEWS:
            column = column.cast(_VIEWS[kind])
        elif pa.types.is_dictionary(kind) and kind.value_type in _VIEWS:
            column = column.cast(pa.dictionary(kind.index_type, _VIEWS[kind.value_type]))
        usual[name] = column
    return intact(pa.RecordBatch.from_pydict(usual))


def _of_dataset(dataset: Any) -> ArrowTable:
    def start(columns: list[str], n_rows: int) -> Iterable[Any]:
        options = {"batch_size": n_rows, "batch_readahead": 2, "fragment_readahead": 1}
        batches: Iterable[Any] = dataset.to_batches(columns=columns, **options)
        return batches

    name = _CALLED["pyarrow"]
    return ArrowTable(name, types_in(name, dataset.schema), start, errors_told=problems_told)


def _of_duckdb(relation: Any) -> ArrowTable:
    if not hasattr(relation, "project"):
        raise InvalidTypeError(
            "X is a connection of DuckDB, whose result can be read only once. Give a relation, which "
            'connection.sql("select ...") returns, or dpmorse.Query(connect, "select ...").'
        )

    def start(columns: list[str], n_rows: int) -> Iterator[Any]:
        quoted = (name.replace('"', '""') for name in columns)
        wanted = relation.project(", ".join(f'"{name}"' for name in quoted))
        with closing(duckdb_reader(wanted, n_rows)) as read:
            yield from read

    name = _CALLED["duckdb"]
    with closing(duckdb_reader(relation.limit(0), 1)) as empty:
        return ArrowTable(name, types_in(name, empty.schema), start)


def duckdb_reader(result: Any, n_rows: int) -> Any:
    """Return a reader of a result of DuckDB; the method has an older name, too."""
    read = result.to_arrow_reader if hasattr(result, "to_arrow_reader") else result.fetch_record_batch
    return read(n_rows)


def _of_polars(frame: Any) -> ArrowTable:
    if not hasattr(frame, "collect_batches"):
        raise InvalidTypeError(
            "X is a lazy frame; collect() it first, or update polars: since 1.34 lazy frames come in batches."
        )

    def start(columns: list[str], n_rows: int) -> Iterator[Any]:
        for batch in frame.select(columns).collect_batches(chunk_size=n_rows, maintain_order=True):
            yield from batch.to_arrow().to_batches()

    name = _CALLED["polars"]
    return ArrowTable(name, types_in(name, frame.collect_schema().to_frame().to_arrow().schema), start)


def _of_ibis(table: Any) -> ArrowTable:
    name, backend = _CALLED["ibis"], table.get_backend()
    if backend.name == "duckdb":  # read as a relation, whatever version of DuckDB Ibis knows
        return replace(_of_duckdb(backend.con.sql(table.compile())), path=name)

    def start(columns: list[str], n_rows: int) -> Iterator[Any]:
        with closing(table.select(columns).to_pyarrow_batches(chunk_size=n_rows)) as read:
            yield from read

    return ArrowTable(name, types_in(name, table.schema().to_pyarrow()), start)


def _of_stream(X: Any) -> ArrowTable:
    """Open any object that makes a new Arrow stream each time it is asked to."""
    if hasattr(X, "read_next_batch") or (hasattr(X, "__iter__") and iter(X) is X):
        raise InvalidTypeError(
            f"X is a {type(X).__name__}, which can be read only once, and a fit reads its records several "
            "times. Give what it was made from (a dataset, a relation, a query), or read_all() of it."
        )

    def start(columns: list[str], _: int) -> Iterator[Any]:
        with closing(pa.RecordBatchReader.from_stream(X)) as read:
            for batch in read:
                yield batch.select(columns)

    with closing(pa.RecordBatchReader.from_stream(X)) as read:
        return ArrowTable("X", types_in("X", read.schema), start)


_CALLED = {
    "duckdb": "the relation",
    "ibis": "the Ibis table",
    "polars": "the lazy frame",
    "pyarrow": "the dataset",
}
"""What tables of a library are called in messages."""

_OPENERS: dict[str, Callable[[Any], ArrowTable]] = {
    "duckdb": _of_duckdb,
    "ibis": _of_ibis,
    "polars": _of_polars,
    "pyarrow": lambda X: _of_dataset(X) if hasattr(X, "get_fragments") else _of_stream(X),
}
"""What opens tables of a library; all others must make Arrow streams."""
