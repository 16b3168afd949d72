"""Columns of dates, however they are written. A day is that of the time zone beside it."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.schema.columns.base import Form, Held, NumberColumn, with_missing
from dpmorse.typing import BoolArray, FloatArray

_LONGEST = 40
"""Longer texts are no dates; they need not be looked at."""

_DAY_ZERO = date(1970, 1, 1).toordinal()
"""The day from which NumPy counts days, as Python counts them."""


@dataclass(frozen=True)
class Date(NumberColumn):
    """A column of dates; a date becomes the number of days since the earliest. Times of day are ignored.

    Parameters
    ----------
    earliest, latest : datetime.date or str
        Public bounds; text is in ISO format, such as "2000-01-31". Dates outside are clipped. A value that
        is no date counts as missing.
    missing : {"refuse", "ignore", "level"}
        As for ``Numeric``.
    label : str
        What people call the column, such as "age at admission": for sentences, tables and pictures.

    Examples
    --------
    >>> Date("2000-01-01", "2000-12-31").bounds
    (0.0, 365.0)
    """

    earliest: date | str
    latest: date | str
    _: KW_ONLY
    missing: str = "refuse"
    label: str = field(default="", repr=False)

    parts = (("earliest", str), ("latest", str))
    form = Form(
        needed=("earliest", "latest"),
        optional=(),
        example="{ earliest = 2000-01-01, latest = 2030-01-01 }",
        empty='{ earliest = "?", latest = "?" }',
        lines=(("joined", "{ earliest = 2000-01-01, latest = 2030-01-01 }", "dates"),),
    )
    stored_as = "date"
    shown_as = "date"

    def __post_init__(self) -> None:
        """Refuse what is no date, and an earliest one that is not before the latest."""
        earliest, latest = _checked_day("earliest", self.earliest), _checked_day("latest", self.latest)
        if not earliest < latest:
            raise InvalidParameterError(
                f"Date: earliest must be before latest, got {earliest} and {latest}. Give the first and the "
                "last day that can occur, from public knowledge."
            )
        self._keep(earliest=earliest, latest=latest)

    @property
    def bounds(self) -> tuple[float, float]:
        """No days, and those from the earliest to the latest."""
        return 0.0, float(self.last - self.first)

    @property
    def first(self) -> int:
        """The earliest day, counted as Python counts days."""
        return _checked_day("earliest", self.earliest).toordinal()

    @property
    def last(self) -> int:
        """The latest day, counted as Python counts days."""
        return _checked_day("latest", self.latest).toordinal()

    @property
    def unit(self) -> str:
        """From which day on days are counted."""
        return f"days since {self.earliest}"

    def number_of(self, value: object) -> float:
        """Return the days since the earliest date for a date, a time or text in ISO format, else NaN."""
        day = _parsed_day(value)
        return math.nan if day is None else float(day.toordinal() - self.first)

    def encoded(self, held: Held) -> FloatArray:
        """Return days since the earliest; all at once where the storage says that they are dates."""
        days = held.days()
        if days is None:
            return held.objects().mapped(self.number_of)
        numbers: FloatArray = (days - np.datetime64(-_DAY_ZERO, "D")).astype(np.float64) - self.first
        return with_missing(numbers, np.isnat(days), np.nan)

    def from_codes(self, values: Any, xp: Any) -> Any:
        """Return days since the earliest, which is what codes are; times of day are ignored."""
        return xp.where(xp.isfinite(values), xp.floor(values), xp.nan)

    def decoded(self, values: FloatArray, missing: BoolArray | None) -> npt.NDArray[Any]:
        """Return days, NaT where one is missing."""
        days = (self._whole(values) + (self.first - _DAY_ZERO)).astype("datetime64[D]")
        return with_missing(days, missing, np.datetime64("NaT", "D"))

    def as_written(self, value: Any) -> Any:
        """Return a date."""
        return value

    def _plain(self, value: float) -> str:
        return self.text(value, 0)

    def text(self, value: float, decimals: int) -> str:
        """Write a date in ISO format, inside the bounds."""
        return date.fromordinal(min(max(self.first + round(value), self.first), self.last)).isoformat()

    def _stated(self, shown: Callable[[str], str]) -> str:
        return f"dates from {self.earliest} to {self.latest}"

    @property
    def _domain_in_words(self) -> str:
        return f"a day from {self.earliest} to {self.latest}"


def _parsed_day(value: object) -> date | None:
    """Return the day of a date, of a time or of text in ISO format; None for anything else."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if not isinstance(value, str) or not len(value) <= _LONGEST:
        return None
    try:
        return datetime.fromisoformat(value).date()
    except ValueError:
        return None


def _checked_day(name: str, value: object) -> date:
    """Return the day that a user gives for a column of dates, or say what is wrong with it."""
    day = _parsed_day(value)
    if day is None:
        raise InvalidTypeError(
            f"Date: {name} must be a datetime.date, or text such as '2000-01-31', got "
            f"{_validate.describe(value)}. Write year, month and day."
        )
    return day
