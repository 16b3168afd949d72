"""Tables that the command line writes, as CSV or Parquet, batch by batch."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from dpmorse.cli.outputs import FORMULA_MARKS, replacing
from dpmorse.exceptions import InvalidParameterError

_FORMULA = f"^[{re.escape(FORMULA_MARKS)}]"


@contextmanager
def table_writer(path: str, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Give what writes tables of one schema to a file, which appears when the block has succeeded."""
    try:
        with replacing(path) as temporary:
            if path.lower().endswith(".parquet"):
                with pa.parquet.ParquetWriter(temporary, schema) as writer:
                    yield writer.write_table
            else:
                guarded = pa.schema([_as_csv_field(column) for column in schema])
                with pa.csv.CSVWriter(temporary, guarded) as writer:
                    yield lambda table: writer.write_table(_guarded(table, guarded))
    except pa.ArrowException:  # whose error quotes values
        raise InvalidParameterError(
            f"a column that shall be kept cannot be written to {path!r}. Leave it out of --keep."
        ) from None


def _guarded(table: Any, schema: Any) -> Any:
    """Return a table for CSV, in which no text is a formula to a spreadsheet."""
    cast = (column.cast(kind) for column, kind in zip(table, schema.types, strict=True))
    return pa.table([without_formulas(column) for column in cast], schema=schema)


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
