"""Small tables that are made here, as CSV, for which nothing but Python is needed, or as Parquet."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from dpmorse.cli.outputs import replacing

FORMULA_MARKS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""Characters that a spreadsheet takes for the beginning of a formula, also in full-width form."""


def write_columns(path: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of plain values, None where one is missing; the file appears when it is complete."""
    if path.lower().endswith(".parquet"):
        _write_parquet(path, columns)
        return
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(_in_csv, columns))
        writer.writerows(zip(*(map(_in_csv, values) for values in columns.values()), strict=True))


def _write_parquet(path: str, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    from dpmorse.cli.labels_file import table_writer  # noqa: PLC0415 - needs it, too

    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with table_writer(path, table.schema) as writer:
        writer.write_table(table)


def _in_csv(value: Any) -> Any:
    """Return a value as it is written: no text is a formula to a spreadsheet, and 2.0 is 2."""
    if isinstance(value, str):
        return f"'{value}" if value[:1] in FORMULA_MARKS and value else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0") if isinstance(value, float) else value
