"""Columns of encoded records as values that people read."""

from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse.schema.columns import CategoryColumn, Date, NumberColumn, Numeric, Ordinal
from dpmorse.schema.spellings import MISSING
from dpmorse.typing import BoolArray, FloatArray

_DAY_ZERO = date(1970, 1, 1).toordinal()
"""The day from which NumPy counts."""

_EXACT = 2.0**53
"""Whole numbers up to this size are exact as floats."""


def decoded_number(column: NumberColumn, values: FloatArray, holes: FloatArray | None) -> npt.NDArray[Any]:
    """Return the values of a column that became a number; ``holes`` is 1 where one is missing."""
    missing = None if holes is None else holes > 0.5
    if isinstance(column, Ordinal):
        return _with_gaps(
            np.array([*column.values, None], dtype=object)[_ranks(column, values)], missing, None
        )
    if isinstance(column, Date):
        days = (_within(column, values) + (column.first - _DAY_ZERO)).astype("datetime64[D]")
        return _with_gaps(days, missing, np.datetime64("NaT", "D"))
    if not column.integer:
        return _with_gaps(np.array(values, dtype=np.float64), missing, np.nan)
    return _whole_numbers(column, values, missing)


def decoded_category(column: CategoryColumn, levels: FloatArray) -> npt.NDArray[Any]:
    """Return the values of a column that became a category; one without a level is missing."""
    n_values = len(column.values)
    names = [*column.values, *column.levels[n_values:], None]
    if column.missing == "level":
        names[column.levels.index(MISSING)] = None
    # A list of texts would become an array of texts, and None one of them.
    choices = np.empty(len(names), dtype=object)
    choices[:] = names
    places = np.where(levels.max(axis=1) > 0, levels.argmax(axis=1), len(names) - 1)
    return np.asarray(choices[places])


def _whole_numbers(column: Numeric, values: FloatArray, missing: BoolArray | None) -> npt.NDArray[Any]:
    """Round and clip; numbers that may be missing stay floats, because integers have no NaN."""
    rounded = _within(column, values)
    if missing is not None:
        return _with_gaps(rounded, missing, np.nan)
    small = max(map(abs, column.bounds)) <= _EXACT
    return rounded.astype(np.int64) if small else rounded


def _ranks(column: Ordinal, values: FloatArray) -> npt.NDArray[np.int64]:
    return _within(column, values).astype(np.int64)


def _within(column: NumberColumn, values: FloatArray) -> FloatArray:
    """Round to whole numbers inside the bounds; to the nearest one where there is none inside."""
    lower, upper = np.ceil(column.bounds[0]), np.floor(column.bounds[1])
    return np.asarray(np.clip(np.rint(values), lower, max(lower, upper)))


def _with_gaps(values: npt.NDArray[Any], missing: BoolArray | None, gap: Any) -> npt.NDArray[Any]:
    if missing is not None:
        values[missing] = gap
    return values
