"""The values of one column, whatever holds them: as numbers, as days, or as plain Python objects.

Objects are made plain one by one, so that equal ones mean the same: values are looked up once for each
distinct one, and what a record becomes must not depend on which equal value came first.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt

from dpmorse.typing import FloatArray, IntArray

_PLAIN = {str, int, float, date, type(None)}
"""Types that are used as they are. Not bool: True equals 1."""

_MISSING_TYPES = {"NAType", "NaTType"}
"""Names of the types of pandas.NA and pandas.NaT, which is a datetime but no date."""

_STRANGE = object()
"""Stands for objects that are neither text nor numbers nor dates; many could not be looked up."""


@dataclass(frozen=True)
class Objects:
    """Plain objects: those of all rows, or distinct ones and which of them each row has."""

    values: list[Any]
    places: IntArray | None = None

    def mapped(self, function: Callable[[object], float]) -> FloatArray:
        """Return a function of each row's value, None if it is missing; distinct ones are looked at once."""
        values = self.values
        if not set(map(type, values)) <= _PLAIN:
            values = [plain(value) for value in values]
        found = {value: function(None if _is_nan(value) else value) for value in set(values)}
        numbers = np.fromiter(map(found.__getitem__, values), np.float64, len(values))
        return numbers if self.places is None else numbers[self.places]


class Values(Protocol):
    """The values of one column."""

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def floats(self) -> FloatArray | None:
        """Return numbers, NaN where they are missing; None if there are other values."""
        ...

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        ...

    def objects(self) -> Objects:
        """Return the values themselves."""
        ...


@dataclass(frozen=True)
class ArrayValues:
    """A column of an array."""

    array: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.array)

    def floats(self) -> FloatArray | None:
        """Return numbers, NaN where they are missing; None if there are other values."""
        if self.array.dtype.kind in "biuf":
            return self.array.astype(np.float64)
        return None if self.array.dtype.kind in "mM" else numbers_among(self.array.tolist())

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        return self.array.astype("datetime64[D]") if self.array.dtype.kind == "M" else None

    def objects(self) -> Objects:
        """Return the values themselves."""
        days = self.days()  # a list of times would hold their numbers
        return Objects((self.array if days is None else days).tolist())


@dataclass(frozen=True)
class SeriesValues:
    """A column of a data frame of any library. Lists of categories that it keeps are not looked at."""

    series: "nw.Series[Any]"

    def __len__(self) -> int:
        return len(self.series)

    def floats(self) -> FloatArray | None:
        """Return numbers, NaN where they are missing; None if there are other values."""
        kind = self.series.dtype
        if kind.is_numeric() or kind == nw.Boolean:
            return self._as_floats()
        return numbers_among(self.series.to_list())

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        kind = self.series.dtype
        if kind not in {nw.Date, nw.Datetime}:
            return None
        zoned = isinstance(kind, nw.Datetime) and kind.time_zone is not None
        local = self.series.dt.replace_time_zone(None) if zoned else self.series
        return np.asarray(local.to_numpy()).astype("datetime64[D]")

    def objects(self) -> Objects:
        """Return the values themselves."""
        return Objects(self.series.to_list())

    def _as_floats(self) -> FloatArray | None:
        try:
            return np.asarray(self.series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):  # pyarrow refuses, and quotes, integers that a float has to round
            return numbers_among(self.series.to_list())


def plain(value: Any) -> Any:
    """Return Python's own object for a value: text, number or date; None if it is missing."""
    if isinstance(value, np.generic):
        value = _of_numpy(value)
    if type(value).__name__ in _MISSING_TYPES:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date()  # equal times in two time zones may be on two days
    if isinstance(value, Decimal):
        return _of_decimal(value)
    return value if value is None or isinstance(value, str | int | float | date) else _STRANGE


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def numbers_among(values: list[Any]) -> FloatArray | None:
    """Return objects as numbers, NaN where one is missing; None if one is something else, such as text."""
    try:
        return np.fromiter(map(_number, values), np.float64, len(values))
    except TypeError:
        return None


def _number(value: Any) -> float:
    if isinstance(value, bool | np.bool_):
        return float(value)
    value = value if type(value) is float else plain(value)
    if value is None:
        return math.nan
    if not isinstance(value, int | float):
        raise TypeError
    try:
        return float(value)
    except OverflowError:  # an integer larger than every float
        return math.inf


def _of_numpy(value: Any) -> Any:
    """Return NumPy's scalars as Python's; times in nanoseconds would become whole numbers."""
    return (value.astype("datetime64[D]") if isinstance(value, np.datetime64) else value).item()


def _of_decimal(value: Decimal) -> float | int | None:
    if value.is_nan():
        return None
    return float(value) if value.is_infinite() or value.adjusted() > 20 or value % 1 else int(value)
