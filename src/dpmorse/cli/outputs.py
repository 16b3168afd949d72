"""Files that the command line writes: completely or not at all, and replacing others only if asked to."""

import csv
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpmorse import _atomic
from dpmorse.exceptions import InvalidParameterError, OutputExistsError

_ENDINGS = (".csv", ".parquet")
"""Endings of the tables that can be written."""

FORMULA_MARKS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""Characters that a spreadsheet takes for the beginning of a formula, also in full-width form."""


def check_output(path: str, *, force: bool, inputs: tuple[str, ...] = ()) -> None:
    """Refuse a place to write to, before any work is done or any budget is spent for it.

    With ``force`` a file that is there may be replaced, but for those that are read, ``inputs``.
    """
    shown = repr(path)
    if os.path.isdir(path):
        raise InvalidParameterError(f"-o must name a file, got the folder {shown}.")
    if os.path.lexists(path):
        if any(_same_file(path, source) for source in inputs):
            raise InvalidParameterError(f"-o must not be the file that is read, {shown}.")
        if not force:
            raise OutputExistsError(f"{shown} exists. Give another -o, or --force to replace it.")
    _check_folder(os.path.dirname(path) or ".")


def check_ending(path: str) -> None:
    """Refuse a table whose name does not end in a known kind."""
    if not path.lower().endswith(_ENDINGS):
        raise InvalidParameterError(
            f"-o must end in {' or '.join(_ENDINGS)}, got {os.path.basename(path)!r}."
        )


def check_folder_output(path: str, *, force: bool) -> None:
    """Refuse a folder that holds something, and make one where there is none."""
    if os.path.lexists(path) and not os.path.isdir(path):
        raise InvalidParameterError(f"-o must name a folder, got the file {path!r}.")
    if os.path.isdir(path) and os.listdir(path) and not force:
        raise InvalidParameterError(
            f"{path!r} is not empty. Give another -o, or --force to write there all the same."
        )
    os.makedirs(path, exist_ok=True)
    _check_folder(path)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Give the name of a temporary file beside ``path``, and put it there when the block has succeeded.

    Whatever happens in the block, ``path`` holds the old file or the new one, never a part of it.
    """
    target = Path(os.path.abspath(path))
    _atomic.remove_strays(target)
    name = f"{_atomic.temporary_prefix(target)}{uuid.uuid4().hex}{_atomic.STRAY}{target.suffix}"
    temporary = os.fspath(target.parent / name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:  # on disk before it has its name: else it could be empty
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_text(path: str, text: str) -> None:
    """Write a small text file."""
    _atomic.write_bytes(path, text.encode())


def write_columns(path: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of plain values, None where one is missing; the file appears when it is complete."""
    if path.lower().endswith(".parquet"):
        _write_parquet(path, columns)
        return
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(_in_csv, columns))
        writer.writerows(zip(*(map(_in_csv, values) for values in columns.values()), strict=True))


def _check_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        raise InvalidParameterError(f"the folder {folder!r} does not exist. Make it first.")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InvalidParameterError(
            f"nothing can be written to the folder {folder!r}: {error.strerror}."
        ) from None


def _same_file(path: str, source: str) -> bool:
    try:
        return os.path.samefile(path, source)
    except OSError:
        return False


def _write_parquet(path: str, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    from dpmorse.cli.labels_file import table_writer  # noqa: PLC0415 - needs it, too

    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with table_writer(path, table.schema) as write:
        write(table)


def _in_csv(value: Any) -> Any:
    """Return a value as it is written: no text is a formula to a spreadsheet, and 2.0 is 2."""
    if isinstance(value, str):
        return f"'{value}" if value[:1] in FORMULA_MARKS and value else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0") if isinstance(value, float) else value
