"""Open what a user passes as X. Objects of optional libraries are opened by a module for each library."""

import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import narwhals as nw

from dpmorse.exceptions import InvalidTypeError
from dpmorse.records.base import Records, names_of
from dpmorse.records.memory.table import Table
from dpmorse.records.streams import TableStream
from dpmorse.schema import Schema

_NO_BATCHES = (list, tuple, dict, set, frozenset, str, bytes, range)
"""Iterable types that are one table, or an error, but never a sequence of batches."""

_OF_DATABASES = {"duckdb", "_duckdb", "ibis", "dpmorse"}
"""Libraries whose tables are in a database; of our own, ``Query`` is one."""


def open_records(
    X: Any, groups: Any = None, schema: Schema | None = None, columns: list[str] | None = None
) -> Records:
    """Return X as records, with owners if groups are given, without looking at a value.

    A schema that was stated says what the columns are; records are then encoded when they are read. Where
    ``columns`` are given, only these are used of files and of Spark.
    """
    schema = schema if schema is not None and schema.stated else None
    if isinstance(X, Records):
        records = X if groups is None else X.owned_by(groups)
        return records if schema is None else records.described_by(schema)
    X = X.to_native() if isinstance(X, nw.LazyFrame) else X
    library = type(X).__module__.partition(".")[0]
    opened: Records
    if isinstance(X, str | os.PathLike) or _is_read_again(X, library):
        opened = _load("files.data_files", "pyarrow", "arrow").open_files(X, groups, schema, columns)
    elif library == "dask":
        opened = _load("clusters.dask", "dask", "dask").DaskRecords(X, groups, schema)
    elif library == "pyspark":
        opened = _load("clusters.spark", "pyspark", "spark").SparkRecords(X, groups, schema, columns)
    elif library in {"torch", "cupy"} and hasattr(X, "ndim"):
        opened = _load("tensors.tensors", "torch", "gpu").TensorRecords(X, groups, schema)
    else:
        opened = (TableStream if _has_batches(X) else Table)(X, groups, schema)
    return opened


def open_matching(X: Any, estimator: Any) -> Records:
    """Return X as records with the columns of a fitted estimator; in files they are found by name."""
    names, schema = names_of(estimator), estimator.schema_
    if names is None and schema.stated:
        names = schema.names
    columns = None if names is None else [str(name) for name in names]
    return open_records(X, None, schema, columns).matching(estimator)


def unowned(X: Any, groups: Any) -> Any:
    """Return what a model that was fitted on X with these groups can label: X without its column of ids."""
    if not isinstance(groups, str):
        return X
    return open_records(X, groups).unowned


def _is_read_again(X: Any, library: str) -> bool:
    """Say whether X is no table in memory, but can be read again and again as Arrow batches."""
    if library == "pyarrow":
        return hasattr(X, "get_fragments") or hasattr(X, "read_next_batch")  # datasets; readers are refused
    if library in _OF_DATABASES:
        return True
    if library == "polars":
        return hasattr(X, "collect_schema") and not hasattr(X, "to_arrow")
    is_array = hasattr(X, "__array__") or hasattr(X, "__dataframe__")
    return hasattr(X, "__arrow_c_stream__") and not is_array and nw.from_native(X, pass_through=True) is X


def _has_batches(X: Any) -> bool:
    """Say whether X is an iterable of batches, and not a table itself."""
    is_array = hasattr(X, "__array__") or hasattr(X, "shape") or hasattr(X, "__dataframe__")
    if is_array or isinstance(X, _NO_BATCHES) or not isinstance(X, Iterable):
        return False
    return nw.from_native(X, pass_through=True) is X


def _load(module: str, library: str, extra: str) -> Any:
    """Import the module for an optional library."""
    try:
        return import_module(f"dpmorse.records.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise InvalidTypeError(f"X of this kind needs {library}: pip install 'dpmorse[{extra}]'") from None
