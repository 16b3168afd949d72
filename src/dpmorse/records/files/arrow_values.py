"""Columns of data files that a schema describes: batches of a file as encoded records.

Of a column of text, each distinct value of a batch is looked at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.databases.object_rows import ObjectRows, texts_among
from dpmorse.records.encoding import encode_values
from dpmorse.records.files.batched_table import Asked, BatchedTable, is_number, is_text
from dpmorse.records.files.data_file import as_floats
from dpmorse.records.files.text.looks import NULLS
from dpmorse.records.files.text.number_texts import numbers_in
from dpmorse.records.persons.arrow_ids import ColumnOwners
from dpmorse.records.persons.owners import Batch
from dpmorse.records.values import ArrayValues, Objects, ObjectValues, Values
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

_OTHER_DATE = r"^\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?:[T ].*)?$"
"""A date with the year last, perhaps with a time of day, which is ignored."""

_DAY_AND_MONTH = {"day-first": r"\3-\2-\1", "month-first": r"\3-\1-\2"}
"""Year, month and day, by what comes first."""

_PADDING = ((r"^(\d{4})-(\d)-", r"\1-0\2-"), (r"^(\d{4}-\d{2})-(\d)$", r"\1-0\2"))
"""Months and days of one digit get a zero in front."""


@dataclass(frozen=True)
class ArrowValues:
    """A column of a batch, whose type is stated and not found in its values."""

    column: Any

    def __len__(self) -> int:
        return len(self.column)

    def floats(self) -> FloatArray | None:
        """Return numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
        column = self.column
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if is_text(column.type):
            return _as_array(numbers_in(column))
        return _as_array(as_floats(column)) if is_number(column.type) else None

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        column, kind = self.column, self.column.type
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            return None
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            column = pc.local_timestamp(column)
        return np.asarray(column.to_numpy(zero_copy_only=False)).astype("datetime64[D]")

    def objects(self) -> Objects:
        """Return distinct values, and which of them each row has."""
        column, days = self.column, self.days()
        if days is not None:
            return ArrayValues(days).objects()
        try:
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        except pa.ArrowNotImplementedError:  # lists, structures and the like
            return Objects(column.to_pylist())
        values = encoded.dictionary.to_pylist()
        places = encoded.indices.cast(pa.int64()).fill_null(len(values)).to_numpy(zero_copy_only=False)
        return Objects([*values, None], places)


def _as_array(column: Any) -> FloatArray:
    return np.array(column.to_numpy(zero_copy_only=False))


def encoded_batch(columns: Mapping[str, Values], schema: Schema, unit: str | None) -> Batch:
    """Return records, encoded, and their owners if a column says whose they are."""
    owners = None
    if unit is not None:
        ids = as_arrow(columns[unit])
        if ids.null_count:
            raise InvalidParameterError(
                f"values are missing in the column {unit!r}. Every row must say whose it is: leave out "
                "others."
            )
        owners = ColumnOwners(ids, unit)
    return Batch(encode_values({name: columns[name] for name in schema.names}, schema), owners)


def read_described(
    table: BatchedTable, schema: Schema, besides: Sequence[str] = ()
) -> Iterator[tuple[dict[str, Values], float]]:
    """Yield the columns of a schema and some besides, a batch at a time, and how much was read.

    In CSV, where text may stand for a missing value, values that the schema lists do not.
    """
    numbers = [name for name, column in schema.columns if column.stored_as == "number"]
    others = [name for name in schema.names if name not in numbers]
    lenient = [name for name, column in schema.columns if column.missing != "refuse"]
    for batch, done in table.parts(Asked(numbers, [*others, *besides], raw=True, lenient=lenient)):
        yield (batch.values if isinstance(batch, ObjectRows) else _values(batch, table, schema)), done


def _values(batch: Any, table: BatchedTable, schema: Schema) -> dict[str, Values]:
    """Return the columns of an Arrow batch, missing where their texts say so, and dates as ISO has them."""
    dates = {name for name, column in schema.columns if column.stored_as == "date"}
    columns = {name: _with_nulls(batch.column(name), name, table, schema) for name in batch.schema.names}
    columns |= {name: _as_iso(columns[name], table.reading.dates) for name in dates}
    return {name: ArrowValues(column) for name, column in columns.items()}


def as_table(columns: Mapping[str, Values], names: Sequence[str]) -> Any:
    """Return columns as a table that a model can label; objects of a database as rows."""
    held = [columns[name] for name in names]
    if any(isinstance(values, ObjectValues) for values in held):
        return [list(row) for row in zip(*(values.objects().values for values in held), strict=True)]
    return pa.table({name: as_arrow(values) for name, values in zip(names, held, strict=True)})


def as_arrow(values: Values) -> Any:
    """Return a column as an Arrow array; objects of a database as whole numbers, or as text."""
    return values.column if isinstance(values, ArrowValues) else texts_among(values.objects().values)


def _with_nulls(column: Any, name: str, table: BatchedTable, schema: Schema) -> Any:
    """Tell which texts stand for missing values; columns of numbers know it already.

    None does that a schema lists, since "NA" may be a category.
    """
    if not is_text(column.type):
        return column
    listed = [value for other, column in schema.columns if other == name for value in column.listed]
    known = (*(NULLS if table.kind == "csv" else ()), *table.reading.texts_of(name))
    nulls = [text for text in known if text not in listed]
    if not nulls:
        return column
    found = pc.is_in(column, value_set=pa.array(nulls, column.type))
    return pc.if_else(found, pa.scalar(None, column.type), column)


def _as_iso(column: Any, order: str | None) -> Any:
    """Write dates such as 31.05.2024 as 2024-05-31; text that is no such date stays as it is."""
    if order not in _DAY_AND_MONTH or not is_text(column.type):
        return column
    for pattern, replacement in ((_OTHER_DATE, _DAY_AND_MONTH[order]), *_PADDING):
        column = pc.replace_substring_regex(column, pattern, replacement)
    return column
