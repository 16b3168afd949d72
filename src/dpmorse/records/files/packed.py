"""Files of text, however they are packed: plain, compressed, in an archive, or as a sheet of a workbook."""

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import pyarrow as pa

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.files.reading import NOTHING_SAID, Reading
from dpmorse.records.files.remote import open_bytes
from dpmorse.records.names import listed

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""The compression of a CSV file by the last ending of its name, as pyarrow calls it."""

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
"""Endings of files of text."""

_NOT_DATA = ("__MACOSX/", ".DS_Store", "Thumbs.db")
"""What operating systems put into archives by themselves."""

Fraction = Callable[[], float]
"""Says how much of a file has been read."""


@dataclass(frozen=True)
class PackedText:
    """A file of text, and what was said of how it is written."""

    path: str
    packing: str
    """The last ending of its name, in lower case: that of a compression, ".zip", ".xlsx" or another one."""

    reading: Reading = NOTHING_SAID

    def __post_init__(self) -> None:
        if self.reading.sheet is not None and self.packing != ".xlsx":
            raise InvalidParameterError(
                f"sheet is for workbooks (.xlsx), and {self.path!r} is none. Leave --sheet (sheet=) out."
            )

    @property
    def text_reading(self) -> Reading:
        """How the text is written: that of a workbook is made here, whatever was said."""
        if self.packing != ".xlsx":
            return self.reading
        return replace(self.reading, separator=",", encoding="utf-8", skip=0)

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, Fraction]]:
        """Give the text as a stream of bytes, and a function that says how much of it has been read."""
        with ExitStack() as stack:
            if self.packing == ".xlsx":
                raw, size = stack.enter_context(pa.BufferReader(self._sheet)), len(self._sheet)
                stream = raw
            elif self.packing == ".zip":
                raw = stack.enter_context(open_bytes(self.path))
                size = raw.size()
                archive = stack.enter_context(zipfile.ZipFile(raw))
                member = stack.enter_context(archive.open(_only_member(self.path, archive)))
                stream = stack.enter_context(pa.PythonFile(member, "r"))
            else:
                raw = stack.enter_context(open_bytes(self.path))
                size = raw.size()
                compression = COMPRESSIONS.get(self.packing)
                stream = raw if compression is None else pa.CompressedInputStream(raw, compression)
                stack.enter_context(stream)
            yield stream, lambda: min(raw.tell() / max(size, 1), 1.0)

    @property
    def inner_name(self) -> str:
        """The name of the file that is packed, in lower case."""
        if self.packing == ".zip":
            with open_bytes(self.path) as raw, zipfile.ZipFile(raw) as archive:
                return _only_member(self.path, archive).lower()
        name = self.path.lower()
        return name.removesuffix(self.packing) if self.packing in COMPRESSIONS else name

    @cached_property
    def _sheet(self) -> bytes:
        """The sheet of a workbook as CSV: made once, because every pass would read it anew."""
        try:
            workbook = import_module("dpmorse.records.files.workbook")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "openpyxl":
                raise
            raise InvalidTypeError(
                f"{self.path!r} needs openpyxl: pip install 'dpmorse[excel]'; or save the sheet as CSV."
            ) from None
        with open_bytes(self.path) as raw:
            content: bytes = workbook.sheet_as_csv(self.path, raw, self.reading)
        return content


def _only_member(path: str, archive: zipfile.ZipFile) -> str:
    """Return the one file of an archive; refuse others, and what needs a password."""
    files = [info for info in archive.infolist() if not info.is_dir()]
    data = [info for info in files if not info.filename.startswith(_NOT_DATA)]
    names = [info.filename for info in data if os.path.basename(info.filename) not in _NOT_DATA]
    if len(names) != 1:
        held = f"it holds {listed(names)}" if names else "it is empty"
        raise InvalidParameterError(
            f"{path!r} must hold one file; {held}. Unpack it, and give the file with the records."
        )
    if not names[0].lower().endswith(TEXT_ENDINGS):
        raise InvalidParameterError(
            f"{path!r} must hold a file {', '.join(TEXT_ENDINGS)}; it holds {names[0]!r}. Unpack it first."
        )
    if archive.getinfo(names[0]).flag_bits & 1:
        raise InvalidParameterError(f"{path!r} is locked by a password. Unpack it first.")
    return names[0]
