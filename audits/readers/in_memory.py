"""Readers of records in memory: lists, arrays, data frames, and batches of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # no stubs
import pyarrow as pa

from audits.readers.hostile import HostileTable
from audits.readers.reader import Reader, Shelf

TYPED = ("int64", "double", "decimal", "bool", "text", "date", "timestamp", "timestamptz", "binary")
"""Types of columns that Arrow, polars and databases have."""

ZONE = "Asia/Tokyo"
"""The time zone that a column of times with one states."""

_ARROW = {
    "int64": pa.int64(),
    "double": pa.float64(),
    "decimal": pa.decimal128(20, 4),
    "bool": pa.bool_(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz=ZONE),
    "binary": pa.binary(),
}

_PANDAS = {
    "int64": "Int64",
    "double": "float64",
    "bool": "boolean",
    "text": "object",
    "date": "object",
    "timestamp": "datetime64[us]",
    "timestamptz": f"datetime64[us, {ZONE}]",
}


def arrow_table(table: HostileTable) -> Any:
    """Return a table of Arrow whose columns have the types that are stated."""
    return pa.table({name: pa.array(table.column(name), _ARROW[kind]) for name, kind in table.types.items()})


def polars_frame(table: HostileTable) -> Any:
    """Return a frame of polars whose columns have the types that are stated."""
    return import_module("polars").from_arrow(arrow_table(table))


def object_frame(table: HostileTable) -> Any:
    """Return a frame of pandas that keeps Python's objects."""
    return pd.DataFrame({name: pd.Series(table.column(name), dtype=object) for name in table.names})


def _pandas_frame(table: HostileTable) -> Any:
    return pd.DataFrame(
        {name: pd.Series(_converted(table.column(name), kind)) for name, kind in table.types.items()}
    )


def _converted(values: list[Any], kind: str) -> Any:
    if kind == "timestamptz":
        return pd.to_datetime(pd.Series(values, dtype=object), utc=True).dt.tz_convert(ZONE)
    return pd.Series(values, dtype=_PANDAS[kind])


def _pandas_on_arrow(table: HostileTable) -> Any:
    return arrow_table(table).to_pandas(types_mapper=pd.ArrowDtype)


def _arrow_dictionaries(table: HostileTable) -> Any:
    held = arrow_table(table)
    texts = [name for name, kind in table.types.items() if kind == "text"]
    return pa.table({n: held[n].dictionary_encode() if n in texts else held[n] for n in table.names})


def _pandas_categories(table: HostileTable) -> Any:
    return _pandas_frame(table).astype({n: "category" for n, kind in table.types.items() if kind == "text"})


def _array(table: HostileTable) -> Any:
    return object_frame(table).to_numpy()


def _rows(table: HostileTable) -> list[list[Any]]:
    return [list(row.values()) for row in table.rows]


def _floats(table: HostileTable) -> Any:
    return np.array(_rows(table), dtype=np.float64)


class Batches:
    """Tables that can be gone through again and again."""

    def __init__(self, tables: Sequence[Any]) -> None:
        self._tables = tables

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tables)


class ArrowStream:
    """An object of another library that makes Arrow streams."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Begin a stream."""
        return self._table.__arrow_c_stream__(requested_schema)


def _batches(table: HostileTable, _: Shelf) -> Batches:
    frame = object_frame(table)
    return Batches([frame[i : i + 3] for i in range(0, len(frame), 3)])


def _array_reader(name: str, kind: str, make: Callable[[HostileTable], Any]) -> Reader:
    return Reader(name, ("Table", "ArrayValues"), (kind,), lambda table, _: make(table), named=False)


def _frame_reader(
    name: str, kinds: tuple[str, ...], make: Callable[[HostileTable], Any], *needs: str
) -> Reader:
    return Reader(name, ("Table", "SeriesValues"), kinds, lambda table, _: make(table), needs=needs)


def _arrow_reader(name: str, make: Callable[[HostileTable], Any], library: str, *needs: str) -> Reader:
    covers = ("DataFiles", "ArrowTable", "ArrowValues", library)
    return Reader(name, covers, TYPED, lambda table, _: make(table), needs=needs)


IN_MEMORY = (
    _array_reader("lists", "any object", _rows),
    _array_reader("array of objects", "any object", _array),
    _array_reader("array of floats", "double", _floats),
    replace(_frame_reader("pandas objects", ("any object",), object_frame), numbers=()),
    _frame_reader("pandas", tuple(_PANDAS), _pandas_frame),
    _frame_reader("pandas categories", ("text", "int64"), _pandas_categories),
    _frame_reader("pandas on Arrow", TYPED, _pandas_on_arrow),
    _frame_reader("polars", TYPED, polars_frame, "polars"),
    _frame_reader("Arrow table", TYPED, arrow_table),
    _frame_reader("Arrow dictionaries", ("text", "int64"), _arrow_dictionaries),
    Reader("batches", ("TableStream",), ("any object",), _batches, numbers=()),
    _arrow_reader(
        "polars lazy", lambda table: polars_frame(table).lazy(), "polars", "polars:LazyFrame.collect_batches"
    ),
    _arrow_reader("Arrow stream", lambda table: ArrowStream(arrow_table(table)), "stream"),
)
"""Readers of what is in memory. Objects of a frame need a schema, because their type does not say numbers."""
