"""The values of one column, whatever holds them: as numbers, as days, or as plain Python objects.

A value is read by itself: what it becomes depends on it and on the type that its column states, and on no
other value, batch or partition. Objects are made plain one by one, and looked up by type and value: those
that are equal may mean two things if they are of two types. Many values at once are read by the same rule.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt

from dpmorse.schema import number_of
from dpmorse.typing import FloatArray, IntArray

_PLAIN = {str, int, float, date, type(None)}
"""Types that are used as they are. Not bool: True equals 1."""

_NUMBERS = {int, float, type(None)}
"""Types of objects that NumPy converts as ``number_of`` does."""

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
        values, kinds = self.values, set(map(type, self.values))
        if not kinds <= _PLAIN:
            values = [plain(value) for value in values]
            kinds = set(map(type, values))
        keys: list[Any] = values
        if len(kinds - {type(None)}) > 1:
            keys = list(zip(map(type, values), values, strict=True))
        found = {key: function(_value(key)) for key in set(keys)}
        numbers = np.fromiter(map(found.__getitem__, keys), np.float64, len(keys))
        return numbers if self.places is None else numbers[self.places]


def _value(key: Any) -> object:
    """Return the value of a key, which is the value itself or its type and it; None if it is missing."""
    value = key[1] if isinstance(key, tuple) else key
    return None if isinstance(value, float) and math.isnan(value) else value


class Values(Protocol):
    """The values of one column."""

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def floats(self) -> FloatArray | None:
        """Return numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
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
        """Return numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
        if self.array.dtype.kind in "biuf":
            return self.array.astype(np.float64)
        return None if self.array.dtype.kind in "mM" else floats_among(self.array.tolist())

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
        """Return numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
        kind = self.series.dtype
        if kind.is_temporal() or kind.is_nested():
            return None
        if kind == nw.Boolean or (kind.is_numeric() and not (kind.is_decimal() or "128" in str(kind))):
            values = self.series.to_numpy()
            if values.dtype.kind in "biuf":
                return np.asarray(values, dtype=np.float64)
        return floats_among(self.series.to_list())

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        kind = self.series.dtype
        if kind not in {nw.Date, nw.Datetime}:
            return None
        zoned = isinstance(kind, nw.Datetime) and kind.time_zone is not None
        local = np.asarray((self.series.dt.replace_time_zone(None) if zoned else self.series).to_numpy())
        return local.astype("datetime64[D]") if local.dtype.kind == "M" else None  # pandas may hold objects

    def objects(self) -> Objects:
        """Return the values themselves."""
        return Objects(self.series.to_list())


@dataclass(frozen=True)
class ObjectValues:
    """A column of Python objects, such as rows of a database have."""

    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def floats(self) -> FloatArray:
        """Return numbers: NaN for missing ones, infinity for what is none."""
        return floats_among(list(self.values))

    def days(self) -> None:
        """Return None: each object says by itself whether it is a date."""

    def objects(self) -> Objects:
        """Return the values themselves."""
        return Objects(list(self.values))


def plain(value: Any) -> Any:
    """Return Python's own object for a value: text, number or date; None if it is missing.

    The day of a time is the one that is written beside it: that of its own offset, if it has one.
    """
    return _maker(type(value))(value)  # type: ignore[arg-type]  # mypy holds types for unhashable


@lru_cache(maxsize=1024)
def _maker(kind: type) -> Callable[[Any], Any]:
    """Return what makes values of a type plain."""
    if kind.__name__ in _MISSING_TYPES:
        return _nothing
    return next((make for base, make in _MAKERS if issubclass(kind, base)), lambda _: _STRANGE)


def _nothing(_: object) -> None:
    """Return None: the value is missing."""


def floats_among(values: list[Any]) -> FloatArray:
    """Return objects as numbers: NaN for missing ones, infinity for what is none."""
    if set(map(type, values)) <= _NUMBERS:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # an integer larger than every float, which is none of its numbers
            pass
    return np.fromiter((number_of(plain(value)) for value in values), np.float64, len(values))


def _of_numpy(value: Any) -> Any:
    """Return what Python's object for a scalar of NumPy becomes; nanoseconds would become whole numbers."""
    if isinstance(value, np.floating):
        return float(value)
    made = (value.astype("datetime64[D]") if isinstance(value, np.datetime64) else value).item()
    return _STRANGE if isinstance(made, np.generic) else plain(made)


def _of_decimal(value: Decimal) -> float | int | None:
    if value.is_nan():
        return None
    whole = value.is_finite() and value.adjusted() <= 20 and value == value.to_integral_value()
    return int(value) if whole else float(value)


def _of_fraction(value: Fraction) -> float | int:
    try:
        return int(value) if value.denominator == 1 else float(value)
    except OverflowError:  # larger than every float
        return math.inf


def _of_time(value: date) -> Any:
    """Return the day of a date or a time; some libraries have times that are no days of Python's calendar."""
    try:
        return date(value.year, value.month, value.day)
    except (OverflowError, TypeError, ValueError):
        return _STRANGE


_MAKERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (np.generic, _of_numpy),
    (type(None), _nothing),
    (bool, lambda value: "true" if value else "false"),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (date, _of_time),
    (Decimal, _of_decimal),
    (Fraction, _of_fraction),
)
"""Types that mean something, and what makes values of them and of their subclasses plain."""
