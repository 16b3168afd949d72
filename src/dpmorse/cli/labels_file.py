"""Tables that the command line writes, as CSV or Parquet, batch by batch."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from dpmorse.cli.outputs import FORMULA_MARKS, replacing
from dpmorse.exceptions import InvalidParameterError

_FORMULA = f"^[{re.escape(FORMULA_MARKS)}]"


class Writer(Protocol):
    """What pyarrow's writers have in common."""

    def write_table(self, table: Any) -> None:
        """Append rows."""
        ...


@contextmanager
def table_writer(path: str, schema: Any) -> Iterator[Writer]:
    """Write tables of one schema to a file that appears when the block has succeeded."""
    with _problems_told(path), replacing(path) as temporary:
        if path.lower().endswith(".parquet"):
            with pa.parquet.ParquetWriter(temporary, schema) as writer:
                yield writer
        else:
            guarded = pa.schema([_as_csv_field(column) for column in schema])
            with pa.csv.CSVWriter(temporary, guarded) as writer:
                yield _GuardedWriter(writer, guarded)


@contextmanager
def _problems_told(path: str) -> Iterator[None]:
    """Report that a column cannot be written, without quoting it as the error of pyarrow would."""
    try:
        yield
    except pa.ArrowException:
        raise InvalidParameterError(
            f"a column that shall be kept cannot be written to {path!r}. Leave it out of --keep."
        ) from None


class _GuardedWriter:
    """Writes CSV in which no text is a formula to a spreadsheet: such text gets an apostrophe in front."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema

    def write_table(self, table: Any) -> None:
        columns = [
            without_formulas(column.cast(kind.type)) for column, kind in zip(table, self._schema, strict=True)
        ]
        self._writer.write_table(pa.table(columns, schema=self._schema))


def without_formulas(column: Any) -> Any:
    """Return a column in which text that begins like a formula begins with an apostrophe."""
    if not pa.types.is_string(column.type):
        return column
    risky = pc.match_substring_regex(column, _FORMULA)
    quoted = pc.binary_join_element_wise(pa.scalar("'"), column, pa.scalar(""))
    return pc.if_else(risky, quoted, column)


def _as_csv_field(column: Any) -> Any:
    """Return the name and the type of a column in CSV: numbers stay numbers, all else is text."""
    name = without_formulas(pa.array([column.name]))[0].as_py()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return pa.field(name, kind)
    if pa.types.is_nested(kind) or "binary" in str(kind):
        raise InvalidParameterError(f"the column {column.name!r} cannot be written as CSV; use .parquet.")
    return pa.field(name, pa.string())
