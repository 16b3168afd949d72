"""Tables of numbers, categories, dates and missing values as arrays of numbers: each record by itself.

A schema says what the columns are. What a record becomes depends on it and on that record alone. Errors name
columns, never a value, or how many rows or different values there are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import places_in
from dpmorse.records.foreign_errors import without_sizes
from dpmorse.records.names import listed
from dpmorse.records.values import ArrayValues, SeriesValues, Values
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

_SAY_MISSING = (
    'Say what happens to records without a value, such as missing="ignore" in its description, or replace '
    "missing values by a rule that does not look at other records. Ordinal values must be listed in its "
    "description, and dates be dates or text such as 2024-05-31."
)
"""The advice for missing values."""

_SAY_UNREADABLE = (
    'Replace such values record by record, or say that they are missing: missing="ignore" in its description.'
)
"""The advice for values that are no finite numbers."""


def encode(table: Any, schema: Schema, names: Sequence[Any] | None = None) -> FloatArray:
    """Return an opened table as an array of encoded records, of shape (n_samples, layout.width).

    Its columns go by these names or, without names, by their position.
    """
    places = places_in(names, table.shape[1], schema)
    if isinstance(table, nw.DataFrame):
        held: list[Values] = [SeriesValues(table.get_column(table.columns[place])) for place in places]
    else:
        held = [ArrayValues(table[:, place]) for place in places]
    return encode_values(dict(zip(schema.names, held, strict=True)), schema)


@without_sizes()
def encode_values(held: Mapping[str, Values], schema: Schema) -> FloatArray:
    """Return the encoded records of columns that go by the names of a schema."""
    numbers = _numbers(held, schema)
    categories = {name: column.encoded(held[name]) for name, column in schema.categories}
    both = {**numbers, **categories}
    refuse_missing([name for name, values in both.items() if np.isnan(values).any()], schema)
    n_rows = len(held[schema.names[0]])
    return _assembled(list(numbers.values()), list(categories.values()), schema, n_rows)


def _numbers(held: Mapping[str, Values], schema: Schema) -> dict[str, FloatArray]:
    """Return the numbers of each column, NaN where one is missing or cannot be read; refuse by the schema."""
    found = {name: column.encoded(held[name]) for name, column in schema.numbers}
    odd = [name for name, values in found.items() if values is None]
    if odd:
        raise InvalidTypeError(
            f"X must hold numbers in the columns {listed(odd)}; by their type they hold something else, such "
            "as dates. Convert them to numbers, or describe them as Date, Nominal or Ordinal."
        )
    numbers = {name: values for name, values in found.items() if values is not None}
    infinite = [name for name, values in numbers.items() if np.isinf(values).any()]
    refuse_unreadable(infinite, schema)
    return numbers | {name: np.where(np.isinf(numbers[name]), np.nan, numbers[name]) for name in infinite}


def refuse_unreadable(names: Sequence[str], schema: Schema) -> None:
    """Refuse values that are no finite numbers, in these columns, unless the schema lets them be missing."""
    refused = _refused(names, schema)
    if refused:
        raise InvalidParameterError(
            f"X must hold finite numbers in the columns {listed(refused)}; something else is there: "
            f"infinity, or text that is no number. {_SAY_UNREADABLE}"
        )


def refuse_missing(names: Sequence[str], schema: Schema) -> None:
    """Refuse missing values, which are in these columns, unless the schema says what happens to them."""
    refused = _refused(names, schema)
    if refused:
        raise InvalidParameterError(
            "X has missing values (or, where they are ordinal or dates, values that are none of those "
            f"described) in the columns {listed(refused)}. {_SAY_MISSING}"
        )


def _refused(names: Sequence[str], schema: Schema) -> list[str]:
    columns = dict(schema.columns)
    return [name for name in schema.names if name in names and columns[name].missing == "refuse"]


def _assembled(numbers: list[FloatArray], codes: list[FloatArray], schema: Schema, n_rows: int) -> FloatArray:
    """Put what is missing, numbers and levels where the layout says."""
    layout = schema.layout
    encoded = np.zeros((n_rows, layout.width))
    holes = [np.isnan(values) for values in numbers]
    for j, (values, hole) in enumerate(zip(numbers, holes, strict=True), layout.number_part.start):
        encoded[:, j] = np.where(hole, layout.middle[j - layout.n_holes], values)
    for i, j in enumerate(layout.holes):
        encoded[:, i] = holes[j]
    tracked = [holes[j].astype(np.float64) for j in schema.tracked]
    for part, code in zip(layout.levels, [*codes, *tracked], strict=True):
        rows = np.flatnonzero(~np.isnan(code))
        encoded[rows, layout.level_part.start + part.start + code[rows].astype(np.int64)] = 1
    return encoded
