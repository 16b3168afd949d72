"""Where tables are: files of a path, a pattern or a folder, queries, and what is read in Arrow batches."""

import glob
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.databases.arrow_tables import ArrowTable, open_arrow
from dpmorse.records.databases.query import Query
from dpmorse.records.files.batched_table import BatchedTable
from dpmorse.records.files.data_file import ENDINGS, DataFile
from dpmorse.records.files.reading import NOTHING_SAID, READING_OPTIONS, Reading
from dpmorse.records.files.remote import is_address, remote_files, shown_address


def open_tables(source: Any, reading: Reading = NOTHING_SAID) -> list[BatchedTable]:
    """Open every table of a source: the names of its columns are read, no value."""
    if isinstance(source, BatchedTable):
        return [_as_told(source, reading)]
    single = isinstance(source, str | os.PathLike)
    if not (single or isinstance(source, Iterable)) or hasattr(source, "__arrow_c_stream__"):
        backend = source.get_backend() if type(source).__module__.partition(".")[0] == "ibis" else None
        if backend is not None and backend.name == "sqlite":
            # a query, because Ibis would look for one type in all values of a column
            return [_as_told(Query(lambda: backend.con, source.compile(), lent=True), reading)]
        return [_as_told(open_arrow(source), reading)]
    found = [path for one in ([source] if single else source) for path in _paths(one)]
    if not found:
        named = shown_address(source) if is_address(source) else source
        raise InvalidParameterError(
            f"there is no data file in {named!r}: names must end in {', '.join(ENDINGS[:5])} or the "
            "like. Files in other folders are found by a pattern, such as 'folder/*/*.parquet'."
        )
    return [path if isinstance(path, BatchedTable) else DataFile.open(path, reading) for path in found]


def _as_told(table: BatchedTable, reading: Reading) -> BatchedTable:
    """Return a table in which codes for missing values are missing; a query says that itself."""
    if reading == NOTHING_SAID or isinstance(table, DataFile):
        return table
    if not isinstance(table, ArrowTable) or reading != Reading(na=reading.na, na_of=reading.na_of):
        raise InvalidParameterError(
            f"{', '.join(READING_OPTIONS)} are for files. A query states what is missing by itself, such as "
            "select nullif(pressure, -999)."
        )
    return replace(table, reading=reading)


def _paths(path: Any) -> list[Any]:
    """Return the files of a pattern or a folder, in the order of their names; an open file as it is."""
    if isinstance(path, BatchedTable):
        return [path]
    path = os.fspath(path)
    if is_address(path):
        return remote_files(path, ENDINGS)
    if os.path.isdir(path):
        return _files_in(path)
    if glob.has_magic(path) and not os.path.lexists(path):
        return sorted(glob.glob(path))
    return [path]


def _files_in(folder: str) -> list[str]:
    """Return the data files of a folder, and of folders in it that are its partitions, such as year=2026."""
    inside = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name[:1] not in "._"]
    parts = [path for path in inside if "=" in os.path.basename(path) and os.path.isdir(path)]
    own = [path for path in inside if path.lower().endswith(ENDINGS) and not os.path.isdir(path)]
    return [*own, *(path for part in parts for path in _files_in(part))]
