"""A sheet of a workbook (.xlsx) as CSV: openpyxl reads it row by row, and the text is read like any other."""

import csv
import io
import shlex
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime
from typing import Any

import openpyxl

from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.records.files.reading import Reading

_MOST_CHARACTERS = 1 << 30
"""Most characters of a sheet as CSV, which is kept in memory. A small file can hold a huge sheet."""


def sheet_as_csv(path: str, file: Any, reading: Reading) -> bytes:
    """Return a sheet as CSV with commas, in UTF-8; rows above the names are left out.

    Numbers are written in full: they are read as the same numbers. ``path`` is for messages.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and the like
            with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
                sheet = _chosen_sheet(path, book.worksheets, reading.sheet)
                return _as_csv(path, _rows(sheet, (reading.skip or 0) + 1), reading.sign)
    except (DPMorseError, FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - of archives and XML: many kinds, and they quote what they read
        raise InvalidParameterError(
            f"{path!r} cannot be read: it is damaged, locked by a password, or no workbook. Save the "
            "sheet as CSV."
        ) from None


def _chosen_sheet(path: str, sheets: Sequence[Any], wanted: str | None) -> Any:
    """Return the sheet of this name, or the only one that holds something; else name those that do."""
    filled = [sheet for sheet in sheets if any(_rows(sheet))]
    chosen = filled if wanted is None else [sheet for sheet in filled if sheet.title == wanted]
    if len(chosen) == 1:
        return chosen[0]
    if not filled:
        raise InvalidParameterError(f"{path!r} is empty: none of its sheets holds something.")
    options = " or ".join(f"--sheet {shlex.quote(sheet.title)}" for sheet in filled)
    wrong = "has several sheets that hold something" if wanted is None else f"has no such sheet as {wanted!r}"
    raise InvalidParameterError(
        f"{path!r} {wrong}. Say which one has the records: {options} (sheet={filled[0].title!r})."
    )


def _rows(sheet: Any, first: int = 1) -> Iterator[Sequence[Any]]:
    """Yield the rows from this one on, without empty cells at their end; empty rows have none."""
    for row in sheet.iter_rows(min_row=first, values_only=True):
        yield row[: next((i for i in range(len(row), 0, -1) if row[i - 1] is not None), 0)]


def _as_csv(path: str, rows: Iterable[Sequence[Any]], decimal: str) -> bytes:
    """Write rows; an empty one is an empty line, so that lines are counted as the sheet counts its rows."""
    text, width = io.StringIO(newline=""), 0
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        width = width or len(row)  # names of columns come first
        filled = [_text(value, decimal) for value in row] + [""] * (width - len(row))
        writer.writerow(filled if row else [])
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
