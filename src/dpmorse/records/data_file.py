"""Data files: their columns, found without reading a value, and their rows in batches.

Errors name files and columns, never values or rows or their number: pyarrow's own messages quote them.
"""

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from dpmorse import _atomic
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.names import listed, refuse_data_as_names

_KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
}
"""The kind of a file by the ending of its name."""

_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""The compression of a CSV file by the last ending of its name, as pyarrow calls it."""

ENDINGS = (*_KINDS, *(f".csv{packed}" for packed in _COMPRESSIONS))
"""Endings of the names of data files. In a folder, files with other names are ignored."""

_LARGEST_HEADER = 1 << 20
"""Most bytes of a CSV file's first line. A compressed file could otherwise hold a line that fills the
memory."""

_BATCH_BYTES = 16 << 20
"""Bytes of a batch of rows in memory, as 64-bit numbers: small beside the memory of any machine, and large
enough that the overhead of a batch does not matter."""

_BLOCK_BYTES = 8 << 20
"""Bytes of CSV text that are parsed at a time, which give about as many rows as a batch has."""

_READ_BYTES = 1 << 20
"""Bytes of each Parquet column that are read at a time, because a whole row group may not fit in memory."""

_ADD_NAMES = "Put a line with names above it."
"""The advice for a CSV file whose first line looks like a record."""

_RENAME = "Rename them where the file is written."
"""The advice for a Parquet or Feather file whose names look like values."""

Part = tuple[Any, float]
"""Some rows, as a pyarrow RecordBatch, and the fraction of the file that has been read with them."""


@dataclass(frozen=True)
class DataFile:
    """A table on disk.

    Attributes
    ----------
    path : str
        Where it is.
    kind : str
        "csv", "parquet" or "feather".
    compression : str or None
        How the whole file is packed (CSV only: the others compress inside).
    separator : str
        What is between the values of CSV.
    types : dict
        The columns, in order, and their types; None where the file does not say (CSV).
    """

    path: str
    kind: str
    compression: str | None
    separator: str
    types: Mapping[str, Any]

    @classmethod
    def open(cls, path: str, separator: str | None = None) -> "DataFile":
        """Read the names (and types) of the columns, and nothing else."""
        kind, compression, usual = _kind_of(path)
        separator = usual if separator is None else _checked_separator(separator)
        bare = cls(path, kind, compression, separator, {})
        with problems_told(path):
            columns = bare._csv_header() if kind == "csv" else bare._schema()
        return cls(path, kind, compression, separator, distinct(path, columns))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)

    @property
    def numeric(self) -> list[str]:
        """Columns that hold numbers by their type; all of them where the file states no types."""
        return [name for name, kind in self.types.items() if kind is None or is_number(kind)]

    def parts(
        self, numbers: Sequence[str], others: Sequence[str] = (), *, told_nulls: bool = True
    ) -> Iterator[Part]:
        """Yield rows of these columns: ``numbers``, then ``others`` in their own type, or as text.

        With ``told_nulls``, text that usually stands for a missing value, such as NA, is read as missing.
        """
        with problems_told(self.path, self.names):
            if self.kind == "csv":
                yield from self._csv_parts(list(numbers), list(others), told_nulls=told_nulls)
            else:
                read = self._parquet_parts if self.kind == "parquet" else self._feather_parts
                yield from read(list(numbers), list(others))

    def _csv_header(self) -> list[tuple[str, Any]]:
        """Read the first line; the bytes behind it are not decoded."""
        with self._bytes()[1] as stream:
            start = _atomic.read_bytes(stream, _LARGEST_HEADER)  # a packed file can hold an endless line
        text = io.TextIOWrapper(io.BytesIO(start), encoding="utf-8-sig", errors="surrogateescape", newline="")
        names = next(csv.reader(text, delimiter=self.separator), [])
        if len(start) > _LARGEST_HEADER and not text.read(1):
            raise InvalidParameterError(f"the first line of {self.path!r} is too long for names of columns.")
        if not names or any("\udc80" <= character <= "\udcff" for name in names for character in name):
            raise InvalidParameterError(f"{self.path!r} must begin with the names of its columns, in UTF-8.")
        refuse_data_as_names(names, f"the first line of {self.path!r}", _ADD_NAMES)
        return [(name, None) for name in names]

    def _schema(self) -> list[tuple[str, Any]]:
        if self.kind == "parquet":
            schema = pa.parquet.read_schema(self.path)
        else:
            with pa.OSFile(self.path) as file:
                schema = pa.ipc.open_file(file).schema
        refuse_data_as_names(schema.names, f"the header of {self.path!r}", _RENAME)
        return [(column.name, column.type) for column in schema]

    def _csv_parts(self, numbers: list[str], others: list[str], *, told_nulls: bool) -> Iterator[Part]:
        size = max(os.path.getsize(self.path), 1)
        raw, stream = self._bytes()
        kinds = {**dict.fromkeys(others, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        with stream, self._csv_reader(stream, kinds, told_nulls=told_nulls) as reader:
            for batch in reader:
                yield batch.select([*numbers, *others]), min(raw.tell() / size, 1.0)

    def _csv_reader(self, stream: Any, kinds: Mapping[str, Any], *, told_nulls: bool) -> Any:
        return pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict(kinds), include_columns=list(kinds), strings_can_be_null=told_nulls
            ),
        )

    def _bytes(self) -> tuple[Any, Any]:
        """Return the file, and the stream of what is packed in it."""
        raw = pa.OSFile(self.path)
        return raw, raw if self.compression is None else pa.CompressedInputStream(raw, self.compression)

    def _parquet_parts(self, numbers: list[str], others: list[str]) -> Iterator[Part]:
        columns, done = [*numbers, *others], 0
        with pa.parquet.ParquetFile(self.path, buffer_size=_READ_BYTES, pre_buffer=False) as file:
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(rows_of_a_batch(len(columns)), columns=columns):
                done += len(batch)
                yield intact(batch.select(columns)) if others else batch.select(columns), done / total

    def _feather_parts(self, numbers: list[str], others: list[str]) -> Iterator[Part]:
        columns = [*numbers, *others]
        wanted = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in columns])
        with pa.OSFile(self.path) as file:
            reader = pa.ipc.open_file(file, options=wanted)
            for i in range(reader.num_record_batches):
                yield intact(reader.get_batch(i).select(columns)), (i + 1) / reader.num_record_batches


def intact(batch: Any) -> Any:
    """Return a batch whose buffers were mapped from a file without decoding, after validating them.

    A damaged file can state more values than it has bytes.
    """
    batch.validate(full=True)
    return batch


def rows_of_a_batch(n_columns: int) -> int:
    """Return how many rows are read at a time, given the memory of a batch."""
    return max(1024, _BATCH_BYTES // (8 * max(n_columns, 1)))


def is_number(kind: Any) -> bool:
    """Say whether values of a type can be used as numbers."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def _kind_of(path: str) -> tuple[str, str | None, str]:
    """Return the kind, the compression and the usual separator by the name of a file."""
    if os.path.isdir(path):
        raise InvalidParameterError(f"the data must be one file, got the folder {path!r}.")
    root, ending = os.path.splitext(path.lower())
    compression = _COMPRESSIONS.get(ending)
    if compression is not None:
        ending = os.path.splitext(root)[1]
    kind = _KINDS.get(ending)
    if kind is None or (compression is not None and kind != "csv"):
        raise InvalidParameterError(
            f"the data must be a file .csv or .tsv (also packed: {', '.join(_COMPRESSIONS)}), .parquet or "
            f".feather, got {os.path.basename(path)!r}."
        )
    return kind, compression, "\t" if ending == ".tsv" else ","


def _checked_separator(separator: str) -> str:
    named = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    if len(named) != 1 or not named.isascii() or named in '"\r\n':
        raise InvalidParameterError(
            f"separator must be one character, such as ';' or 'tab', got {separator!r}."
        )
    return named


def distinct(path: str, columns: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return columns by name; refuse names that occur twice, and no columns at all."""
    names = [name for name, _ in columns]
    twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if twice:
        raise InvalidParameterError(
            f"{path!r} must have distinct column names; twice there: {listed(twice)}."
        )
    if not columns:
        raise InvalidParameterError(f"{path!r} has no columns.")
    return dict(columns)


@contextmanager
def problems_told(path: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Turn errors about a file into messages that do not quote it; ``names`` are its columns, if known."""
    try:
        yield
    except FileNotFoundError:
        raise InvalidParameterError(f"there is no file {path!r}.") from None
    except PermissionError:
        raise InvalidParameterError(f"{path!r} may not be read by you.") from None
    except MemoryError:
        raise  # pyarrow's MemoryError is also an ArrowException, but the file is not damaged
    except (pa.ArrowException, OSError, csv.Error, UnicodeError) as error:
        raise InvalidParameterError(f"{path!r} {_what_is_wrong(str(error), names)}") from None


def _what_is_wrong(message: str, names: Sequence[str]) -> str:
    """Translate a message of pyarrow's CSV reader; any other becomes "cannot be read"."""
    column = re.match(r"In CSV column #(\d+)", message)
    if column is not None and int(column[1]) < len(names):
        name = names[int(column[1])]
        return (
            f"must hold numbers in the column {name!r}; some of its values are not. Mend them, or leave the "
            "column out. (Values are not shown: an error message is an output too.)"
        )
    if "Expected" in message and "columns, got" in message:
        return "has rows with more or fewer values than its first line. Is the separator another one?"
    if "Empty CSV" in message:
        return "is empty."
    return "cannot be read: it is damaged, or not what its name says."
