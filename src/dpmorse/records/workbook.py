"""A sheet of a workbook (.xlsx) as CSV: openpyxl reads it row by row, and the text is read like any other."""

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

import openpyxl

from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.records.names import listed

_MOST_CHARACTERS = 1 << 30
"""Most characters of a sheet as CSV, which is kept in memory. A small file can hold a huge sheet."""


def sheet_as_csv(path: str, file: Any, decimal: str = ".") -> bytes:
    """Return the one sheet that holds something as CSV with commas, in UTF-8.

    Parameters
    ----------
    path : str
        Where the workbook is, for messages.
    file : file object
        The workbook, opened for reading bytes.
    decimal : str
        The sign before decimals. Numbers are written in full: they are read as the same numbers.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and the like
            return _sheet_as_csv(path, file, decimal)
    except (DPMorseError, FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - of archives and XML: many kinds, and they quote what they read
        raise InvalidParameterError(
            f"{path!r} cannot be read: it is damaged, locked by a password, or no workbook. Save the "
            "sheet as CSV."
        ) from None


def _sheet_as_csv(path: str, file: Any, decimal: str) -> bytes:
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        sheets = [sheet for sheet in book.worksheets if next(_rows(sheet), None) is not None]
        if len(sheets) != 1:
            held = (
                f"these hold something: {listed([sheet.title for sheet in sheets])}"
                if sheets
                else "none does"
            )
            raise InvalidParameterError(
                f"{path!r} must have one sheet that holds something; {held}. Save the one with the records "
                "as a file of its own."
            )
        return _as_csv(path, _rows(sheets[0]), decimal)
    finally:
        book.close()


def _rows(sheet: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows that are not empty, without empty cells at their end."""
    for row in sheet.iter_rows(values_only=True):
        width = next((i for i in range(len(row), 0, -1) if row[i - 1] is not None), 0)
        if width:
            yield row[:width]


def _as_csv(path: str, rows: Iterable[Sequence[Any]], decimal: str) -> bytes:
    text, width = io.StringIO(newline=""), 0
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        width = width or len(row)  # names of columns come first
        writer.writerow([_text(value, decimal) for value in row] + [""] * (width - len(row)))
        if text.tell() > _MOST_CHARACTERS:
            raise InvalidParameterError(f"{path!r} is too large for a workbook. Save the sheet as CSV.")
    return text.getvalue().encode()


def _text(value: Any, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value) if value.is_integer() and abs(value) < 1e15 else value).replace(".", decimal)
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second or value.microsecond):
        value = value.date()
    return value.isoformat() if isinstance(value, date) else str(value)
