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
from dpmorse.records.arrow_ids import ColumnOwners
from dpmorse.records.batches import Batch
from dpmorse.records.data_file import is_number
from dpmorse.records.encoding import encode_values
from dpmorse.records.looks import NULLS
from dpmorse.records.values import ArrayValues, Objects
from dpmorse.schema import Date, Numeric, Schema
from dpmorse.typing import FloatArray

_OTHER_DATE = r"^\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?:[T ].*)?$"
"""A date with the year last, perhaps with a time of day, which is ignored."""

_DAY_AND_MONTH = {"day-first": r"\3-\2-\1", "month-first": r"\3-\1-\2"}
"""Year, month and day, by what comes first."""

_PADDING = ((r"^(\d{4})-(\d)-", r"\1-0\2-"), (r"^(\d{4}-\d{2})-(\d)$", r"\1-0\2"))
"""Months and days of one digit get a zero in front."""


@dataclass(frozen=True)
class ArrowValues:
    """A column of a batch."""

    column: Any

    def __len__(self) -> int:
        return len(self.column)

    def floats(self) -> FloatArray | None:
        """Return numbers, NaN where they are missing; None if there are other values."""
        column = self.column
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not is_number(column.type):
            return None
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        return np.array(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

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


def encoded_batch(columns: Mapping[str, Any], schema: Schema, unit: str | None) -> Batch:
    """Return records, encoded, and their owners if a column says whose they are."""
    owners = None if unit is None else _owners(columns[unit], unit)
    values = {name: ArrowValues(columns[name]) for name in schema.names}
    return Batch(encode_values(values, schema), owners)


def read_described(
    table: Any, schema: Schema, besides: Sequence[str] = ()
) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield the columns of a schema and some besides, a batch at a time, and how much was read.

    Parameters
    ----------
    table : DataFile, ArrowTable or Query
        The table.
    schema : Schema
        What its columns are. In CSV, where text may stand for a missing value, listed values do not.
    besides : sequence of str
        Other columns, of any type.
    """
    numbers = [name for name, column in schema.columns if isinstance(column, Numeric)]
    others = [name for name in schema.names if name not in numbers]
    dates = [name for name, column in schema.columns if isinstance(column, Date)]
    for batch, done in table.parts(numbers, [*others, *besides], told_nulls=False):
        columns = {name: batch.column(name) for name in batch.schema.names}
        columns |= {name: _with_nulls(columns[name], _nulls(table, schema, name)) for name in columns}
        columns |= {name: _as_iso(columns[name], table.reading.dates) for name in dates}
        yield columns, done


def _owners(column: Any, unit: str) -> ColumnOwners:
    if column.null_count:
        raise InvalidParameterError(
            f"values are missing in the column {unit!r}. Every row must say whose it is: leave out others."
        )
    return ColumnOwners(column, unit)


def _nulls(table: Any, schema: Schema, name: str) -> list[str]:
    """Return which texts stand for missing values: none that a schema lists, since "NA" may be a category."""
    listed = getattr(dict(schema.columns).get(name), "values", ())
    known = (*(NULLS if table.kind == "csv" else ()), *table.reading.texts_of(name))
    return [text for text in known if text not in listed]


def _with_nulls(column: Any, nulls: list[str]) -> Any:
    """Tell which texts stand for missing values; columns of numbers know it already."""
    if not nulls or not pa.types.is_string(column.type):
        return column
    return pc.if_else(pc.is_in(column, value_set=pa.array(nulls)), pa.scalar(None, pa.string()), column)


def _as_iso(column: Any, order: str | None) -> Any:
    """Write dates such as 31.05.2024 as 2024-05-31; text that is no such date stays as it is."""
    if order not in _DAY_AND_MONTH or not pa.types.is_string(column.type):
        return column
    for pattern, replacement in ((_OTHER_DATE, _DAY_AND_MONTH[order]), *_PADDING):
        column = pc.replace_substring_regex(column, pattern, replacement)
    return column
