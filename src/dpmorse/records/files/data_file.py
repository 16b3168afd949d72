"""Data files: their columns, found without reading a value, and their rows in batches.

Errors name files and columns, never values or rows or their number: pyarrow's own messages quote them.
"""

import csv
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.files.batched_table import Asked, BatchedTable, Part, is_number, is_text
from dpmorse.records.files.packed import COMPRESSIONS, TEXT_ENDINGS, PackedText
from dpmorse.records.files.reading import NOTHING_SAID, Reading
from dpmorse.records.files.remote import RemotePath, is_address, open_bytes, remote_file
from dpmorse.records.files.text.text_file import TextFile
from dpmorse.records.foreign_errors import wrong_with_store
from dpmorse.records.names import listed, refuse_data_as_names

_KINDS = {
    **dict.fromkeys((*TEXT_ENDINGS, ".xlsx"), "csv"),
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
}
"""The kind of a file by the ending of its name; a sheet of a workbook is read as CSV."""

ENDINGS = (*(ending for ending in _KINDS if ending != ".xlsx"), *(f".csv{packed}" for packed in COMPRESSIONS))
"""Endings of the names of data files in a folder, where others are ignored: a workbook may be a legend."""

_BATCH_BYTES = 4 << 20
"""Bytes of a batch of rows in memory, as 64-bit numbers: so few that they stay in a processor's cache while
they are checked, compared and added up."""

_BATCH_ROWS = 1 << 13
"""Rows of a batch where columns are many: with fewer, the overhead of each column would matter, ..."""

_LARGEST_BATCH_BYTES = 8 << 20
"""... up to these bytes of a batch; also where there are ids or text, of which each distinct value of a batch
is looked at."""

_READ_BYTES = 1 << 16
"""Bytes of each Parquet column that are read at a time, because a whole row group may not fit in memory."""

_RENAME = "Rename them where the file is written."
"""The advice for a Parquet or Feather file whose names look like values."""

_OF_ARCHIVES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
"""What reading a damaged archive, or one of an unknown kind, raises."""


@dataclass(frozen=True)
class DataFile(BatchedTable):
    """A table on disk; ``text`` says how it is written, if it is a file of text.

    Files of text do not state the types of their columns.
    """

    path: str
    kind: str
    reading: Reading
    types: Mapping[str, Any]
    text: TextFile | None = None

    @classmethod
    def open(cls, path: str, reading: Reading = NOTHING_SAID) -> "DataFile":
        """Read the names (and types) of the columns, and nothing else."""
        path = remote_file(path) if is_address(path) else path
        kind, packing = kind_of(path)
        with problems_told(path):
            if kind == "csv":
                text = TextFile.open(PackedText(path, packing, reading))
                names = [name for i, name in enumerate(text.names) if name or "" not in text.names[:i]]
                return cls(path, kind, reading, distinct(path, [(name, None) for name in names]), text)
            with open_bytes(path) as file:
                is_parquet = kind == "parquet"
                schema = pa.parquet.read_schema(file) if is_parquet else pa.ipc.open_file(file).schema
            refuse_data_as_names(schema.names, f"the header of {path!r}", _RENAME)
        return cls(path, kind, reading, types_in(path, schema))

    def parts(self, asked: Asked) -> Iterator[Part]:
        """Yield rows of these columns; see ``BatchedTable.parts``."""
        if self.text is not None:
            read = self.text.parts(asked)
        elif self.kind == "parquet":
            read = self._parquet_parts(asked)
        else:
            read = self._feather_parts(asked.columns)
        with problems_told(self.path):
            for batch, done in read:
                yield without_codes(batch, self.reading, texts=not asked.raw), done

    def _parquet_parts(self, asked: Asked) -> Iterator[Part]:
        done, columns, others = 0, asked.columns, asked.others
        options = {"buffer_size": _READ_BYTES, "pre_buffer": False}
        with open_bytes(self.path) as raw, pa.parquet.ParquetFile(raw, **options) as file:
            total = max(file.metadata.num_rows, 1)
            n_rows, threads = rows_of_a_batch(len(columns), len(others)), bool(others)  # text takes longer
            for batch in file.iter_batches(n_rows, columns=columns, use_threads=threads):
                done += len(batch)
                yield intact(batch.select(columns)) if others else batch.select(columns), done / total

    def _feather_parts(self, columns: list[str]) -> Iterator[Part]:
        wanted = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in columns])
        with open_bytes(self.path) as file:
            reader = pa.ipc.open_file(file, options=wanted)
            for i in range(reader.num_record_batches):
                yield intact(reader.get_batch(i).select(columns)), (i + 1) / reader.num_record_batches


def intact(batch: Any) -> Any:
    """Return a batch whose buffers were mapped from a file without decoding, after validating them.

    A damaged file can state more values than it has bytes.
    """
    batch.validate(full=True)
    return batch


def rows_of_a_batch(n_columns: int, n_others: int = 0) -> int:
    """Return how many rows are read at a time; ``n_others`` of the columns are not of numbers."""
    bytes_of_row = 8 * max(n_columns, 1)
    at_least = max(1024, min(_BATCH_ROWS, _LARGEST_BATCH_BYTES // bytes_of_row))
    return max(at_least, (_LARGEST_BATCH_BYTES if n_others else _BATCH_BYTES) // bytes_of_row)


def as_floats(column: Any) -> Any:
    """Return a column of numbers as 64-bit floats, each the nearest to its value."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_decimal(column.type):  # whose own conversion is often off by a bit
        column = column.cast(pa.string())
    return column.cast(pa.float64(), safe=False)


def without_codes(batch: Any, reading: Reading, *, texts: bool) -> Any:
    """Return a batch in which codes for missing values are missing: numbers, and text if asked to."""
    if not (reading.na or reading.na_of):
        return batch
    columns = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        kind, found = column.type, None
        if is_number(kind) and not pa.types.is_boolean(kind):
            codes = pa.array(reading.numbers_of(name), pa.float64())
            found = pc.is_in(as_floats(column), value_set=codes)
        elif texts and is_text(kind):
            found = pc.is_in(column, value_set=pa.array(reading.texts_of(name), kind))
        columns[name] = column if found is None else pc.if_else(found, pa.scalar(None, kind), column)
    return pa.RecordBatch.from_pydict(columns)


def kind_of(path: str) -> tuple[str, str]:
    """Return the kind of a file and how it is packed, by its name."""
    if os.path.isdir(path):
        raise InvalidParameterError(
            f"the data must be one file, got the folder {path!r}. Give the path of one of its files."
        )
    root, packing = os.path.splitext(path.lower())
    packed = packing in COMPRESSIONS
    kind = "csv" if packing == ".zip" else _KINDS.get(os.path.splitext(root)[1] if packed else packing)
    if kind is None and not (isinstance(path, RemotePath) or os.path.lexists(path)):
        raise InvalidParameterError(f"there is no file {path!r}.")
    if kind is None or (packed and kind != "csv"):
        raise InvalidParameterError(
            f"the data must be a file .csv, .tsv or .txt (also packed: {', '.join(COMPRESSIONS)}, .zip), "
            f".xlsx, .parquet or .feather, got {os.path.basename(path)!r}. Save it as one of these."
        )
    return kind, packing


def distinct(path: str, columns: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return columns and their types by name; refuse names that occur twice, and tables without columns."""
    names = [name for name, _ in columns]
    twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if twice:
        raise InvalidParameterError(
            f"{path!r} must have distinct column names; twice there: {listed(twice)}. Rename one of them."
        )
    if not names:
        raise InvalidParameterError(f"{path!r} has no columns.")
    return dict(columns)


def types_in(path: str, schema: Any) -> dict[str, Any]:
    """Return the columns of an Arrow schema and their types; refuse as ``distinct`` does."""
    return distinct(path, [(column.name, column.type) for column in schema])


@contextmanager
def problems_told(path: str) -> Iterator[None]:
    """Turn errors about a file into messages that do not quote it."""
    try:
        yield
    except FileNotFoundError:
        raise InvalidParameterError(f"there is no file {path!r}.") from None
    except PermissionError:
        raise InvalidParameterError(f"{path!r} may not be read by you.") from None
    except MemoryError:
        raise  # pyarrow's MemoryError is also an ArrowException, but the file is not damaged
    except (pa.ArrowException, OSError, csv.Error, UnicodeError, *_OF_ARCHIVES) as error:
        store = wrong_with_store(error) if isinstance(path, RemotePath) else None
        if store is not None:
            raise InvalidParameterError(f"{path!r} {store}") from None
        raise InvalidParameterError(f"{path!r} {_what_is_wrong(error)}") from None


def _what_is_wrong(error: Exception) -> str:
    """Translate an error of pyarrow's CSV reader; any other becomes "cannot be read"."""
    message = str(error)
    if isinstance(error, UnicodeError):
        return "is not written in the encoding that was given. `dpmorse inspect` guesses it."
    if "Expected" in message and "columns, got" in message:
        return (
            "has rows with more or fewer values than its first line. Put texts that hold the separator into "
            "quotation marks, and remove notes below the records; lines above the names are left out with "
            "--skip (skip=), and another separator is given with --separator (separator=)."
        )
    if "Empty CSV" in message:
        return "is empty."
    return "cannot be read: it is damaged, or not what its name says."
