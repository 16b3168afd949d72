"""What is said about how a file is read: what was found in its first line, and what is left out."""

from collections.abc import Collection
from typing import Any

from dpmorse.cli.messages import note
from dpmorse.records import in_words, reasons_to_leave_out

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""Separators in words; commas are what everybody expects."""


def tell_reading(table: Any) -> None:
    """Say which separator and encoding were found in a file."""
    text = getattr(table, "text", None)
    if text is not None and table.reading.separator is None and text.separator in _SEPARATORS:
        note(f"{table.path!r} is read as values with {_SEPARATORS[text.separator]} between (--separator).")
    if text is not None and table.reading.encoding is None and text.encoding != "utf-8":
        note(f"{table.path!r} is read as {text.encoding.upper()}, by its first bytes (--encoding).")


def tell_left_out(table: Any, known: Collection[str | None]) -> None:
    """Say which columns are left out by their names or types, where nobody has named columns.

    Parameters
    ----------
    table : DataFile or DatasetTable
        The file.
    known : collection of str
        Columns that are used, have another use or were excluded: about these there is nothing to say.
    """
    reasons = reasons_to_leave_out(table.types, table.numeric)
    out = {name: reason for name, reason in reasons.items() if name not in known}
    if out:
        note(f"Left out: {in_words(out)}. Name columns with --columns to use them.")
