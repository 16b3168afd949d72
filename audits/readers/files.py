"""Readers of files."""

import bz2
import csv
import datetime as dt
import gzip
import io
import math
import zipfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet

from audits.readers.hostile import HostileTable
from audits.readers.in_memory import TYPED, arrow_table
from audits.readers.reader import Reader, Shelf
from dpmorse import DataFiles

_TEXTS = ("DataFiles", "DataFile", "ArrowValues")


def _as_csv(table: HostileTable, separator: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows([["" if value is None else str(value) for value in row.values()] for row in table.rows])
    return text.getvalue().encode()


def _packed(ending: str, pack: Callable[[bytes], bytes], separator: str = ",") -> Reader:
    """Return the reader of a file of text with this ending."""

    def stored(table: HostileTable, shelf: Shelf) -> Any:
        path = shelf.path(ending)
        path.write_bytes(pack(_as_csv(table, separator)))
        return path

    return Reader(f"file {ending}", (*_TEXTS, ending), ("cell", "text"), stored, numbers=("cell", "text"))


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("table.csv", content)
    return packed.getvalue()


def _streamed(content: bytes, kind: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, kind) as stream:
        stream.write(content)
    return bytes(sink.getvalue().to_pybytes())


def _other_bytes(table: HostileTable, shelf: Shelf) -> Any:
    """Return a file of text in which a text of every second row is no UTF-8, from the first on."""
    path = shelf.path(".csv")
    lines = _as_csv(table).replace("ö".encode(), b"\xf6").replace(b"north", b"n\xffrth")
    path.write_bytes(lines)
    return path


def _workbook(table: HostileTable, shelf: Shelf) -> Any:
    book = import_module("openpyxl").Workbook()
    sheet = book.active
    sheet.append(table.names)
    for row in table.rows:
        sheet.append([_cell(value) for value in row.values()])
    path = shelf.path(".xlsx")
    book.save(path)
    return path


def _cell(value: Any) -> Any:
    """Return what a cell can hold: no infinity, and no day before the first of a workbook."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if isinstance(value, dt.date) and value.year < 1901 else value


def _parquet(ending: str) -> Reader:
    def stored(table: HostileTable, shelf: Shelf) -> Any:
        path = shelf.path(ending)
        pa.parquet.write_table(arrow_table(table), path, row_group_size=7)
        return path

    return Reader(f"file {ending}", (*_TEXTS, ending), TYPED, stored)


def _feather(ending: str) -> Reader:
    def stored(table: HostileTable, shelf: Shelf) -> Any:
        path = shelf.path(ending)
        pa.feather.write_feather(arrow_table(table), str(path), compression="uncompressed", chunksize=7)
        return path

    return Reader(f"file {ending}", (*_TEXTS, ending), TYPED, stored)


def _dataset(table: HostileTable, shelf: Shelf) -> Any:
    folder = shelf.path("")
    folder.mkdir()
    pa.parquet.write_table(arrow_table(table), folder / "table.parquet", row_group_size=7)
    return pa.dataset.dataset(folder)


def _address(table: HostileTable, shelf: Shelf) -> Any:
    path = shelf.path(".parquet")
    pa.parquet.write_table(arrow_table(table), path, row_group_size=7)
    return DataFiles(path.as_uri())


FILES = (
    _packed(".csv", bytes),
    _packed(".tsv", bytes, "\t"),
    _packed(".txt", bytes, ";"),
    _packed(".csv.gz", gzip.compress),
    _packed(".csv.bz2", bz2.compress),
    _packed(".csv.zst", partial(_streamed, kind="zstd")),
    _packed(".csv.lz4", partial(_streamed, kind="lz4")),
    _packed(".zip", _zipped),
    Reader("file that is no UTF-8", (*_TEXTS, ".csv"), ("text",), _other_bytes, numbers=("text",)),
    Reader("file .xlsx", (*_TEXTS, ".xlsx"), ("cell",), _workbook, needs=("openpyxl",), effort=0.5),
    *(_parquet(ending) for ending in (".parquet", ".pq")),
    *(_feather(ending) for ending in (".feather", ".arrow", ".ipc")),
    Reader("Arrow dataset", ("DataFiles", "ArrowTable", "ArrowValues", "pyarrow"), TYPED, _dataset),
    Reader("file at an address", (*_TEXTS, "RemotePath"), TYPED, _address),
)
"""Readers of files."""
