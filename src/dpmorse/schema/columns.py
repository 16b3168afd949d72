"""What a column of a table is: public facts that its owner states, and no value of a record.

Every kind says two things of itself: ``bounds`` if it becomes a number, ``levels`` if it becomes a category.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import cached_property

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema.days import checked_day, parsed_day
from dpmorse.schema.spellings import (
    BOOLEANS,
    MISSING,
    OTHER,
    Value,
    checked_values,
    places_of,
    text_of,
)
from dpmorse.schema.widths import checked_bounds

_RULES = ("refuse", "ignore", "level")
"""What may happen to a record whose value is missing."""

_LONGEST_BOOLEAN = max(map(len, BOOLEANS))
"""Longer texts are neither true nor false; they need not be put in lower case."""


@dataclass(frozen=True)
class Numeric:
    """A column of numbers.

    Parameters
    ----------
    lower, upper : float
        Public bounds, in the units of the column. Values outside are clipped.
    integer : bool
        Whether its values are whole numbers; sampled ones are rounded then.
    missing : {"refuse", "ignore", "level"}
        Missing values are an error; or they are left out of all sums; or, besides, whether the value is
        missing is a category of its own, so that there can be clusters of missing values. A value that is no
        finite number counts as missing: infinity, a date, text that does not write a number.

    Examples
    --------
    >>> Numeric(0, 120, integer=True, missing="ignore")
    Numeric(lower=0.0, upper=120.0, integer=True, missing='ignore')
    """

    lower: float
    upper: float
    _: KW_ONLY
    integer: bool = False
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse bounds that are no interval."""
        lower, upper = checked_bounds(self.lower, self.upper)
        _validate.boolean(integer=self.integer)
        _validate.choice(missing=self.missing, among=_RULES)
        _keep(self, lower=lower, upper=upper)

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the number."""
        return self.lower, self.upper


def numbers_within(lower: float, upper: float) -> Numeric:
    """Return a column whose bounds were checked elsewhere: equal ones are those of a constant column."""
    column = object.__new__(Numeric)
    _keep(column, lower=lower, upper=upper, integer=False, missing="refuse")
    return column


@dataclass(frozen=True)
class Ordinal:
    """A column of values that have an order; a value becomes its rank, 0 for the first.

    Parameters
    ----------
    values : sequence of str or int
        All values, in order, from public knowledge. A value that is not listed counts as missing.
    missing : {"refuse", "ignore", "level"}
        As for ``Numeric``.

    Examples
    --------
    >>> Ordinal(["low", "mid", "high"]).bounds
    (0.0, 2.0)
    """

    values: Sequence[Value]
    _: KW_ONLY
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse a list that is too short or has a value twice."""
        _validate.choice(missing=self.missing, among=_RULES)
        _keep(self, values=checked_values("Ordinal", self.values))

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and the last rank."""
        return 0.0, float(len(self.values) - 1)

    def number_of(self, value: object) -> float:
        """Return the rank of a value; NaN for one that is not listed, and for None."""
        text = text_of(value)
        return math.nan if text is None else self._ranks.get(text, math.nan)

    @cached_property
    def _ranks(self) -> dict[str, float]:
        return {text: float(place) for text, place in places_of(self.values).items()}


@dataclass(frozen=True)
class Date:
    """A column of dates; a date becomes the number of days since the earliest. Times of day are ignored.

    Parameters
    ----------
    earliest, latest : datetime.date or str
        Public bounds; text is in ISO format, such as "2000-01-31". Dates outside are clipped. A value that
        is no date counts as missing.
    missing : {"refuse", "ignore", "level"}
        As for ``Numeric``.

    Examples
    --------
    >>> Date("2000-01-01", "2000-12-31").bounds
    (0.0, 365.0)
    """

    earliest: date | str
    latest: date | str
    _: KW_ONLY
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse what is no date, and an earliest one that is not before the latest."""
        earliest, latest = checked_day("earliest", self.earliest), checked_day("latest", self.latest)
        if not earliest < latest:
            raise InvalidParameterError(
                f"Date: earliest must be before latest, got {earliest} and {latest}. Give the first and the "
                "last day that can occur, from public knowledge."
            )
        _validate.choice(missing=self.missing, among=_RULES)
        _keep(self, earliest=earliest, latest=latest)

    @property
    def bounds(self) -> tuple[float, float]:
        """No days, and those from the earliest to the latest."""
        return 0.0, float(self.last - self.first)

    @property
    def first(self) -> int:
        """The earliest day, counted as Python counts days."""
        return checked_day("earliest", self.earliest).toordinal()

    @property
    def last(self) -> int:
        """The latest day, counted as Python counts days."""
        return checked_day("latest", self.latest).toordinal()

    def number_of(self, value: object) -> float:
        """Return the days since the earliest date for a date, a time or text in ISO format, else NaN."""
        day = parsed_day(value)
        return math.nan if day is None else float(day.toordinal() - self.first)


@dataclass(frozen=True)
class Nominal:
    """A column of categories without an order.

    Parameters
    ----------
    values : sequence of str, int or bool
        Categories, from public knowledge. All other values become the category "other", which is added.
    missing : {"refuse", "ignore", "level"}
        Missing values are an error; or they are left out of all sums; or they are a further category.

    Examples
    --------
    >>> Nominal(["employed", "retired"], missing="level").levels
    ('employed', 'retired', 'other', 'missing')
    """

    values: Sequence[Value]
    _: KW_ONLY
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse a list that is too short or has a value twice."""
        _validate.choice(missing=self.missing, among=_RULES)
        _keep(self, values=checked_values("Nominal", self.values))

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Names of the categories; "other" and "missing" are added unless they are listed."""
        return _levels([str(text_of(value)) for value in self.values], self.missing)

    def code_of(self, value: object) -> float:
        """Return the place of a value's level. None is a missing value, which may have no level: NaN."""
        if value is None:
            return _code_of_missing(self)
        text = text_of(value)
        return self._other if text is None else self._places.get(text, self._other)

    @property
    def _other(self) -> int:
        return self.levels.index(OTHER)

    @cached_property
    def _places(self) -> dict[str, int]:
        return places_of(self.values)


@dataclass(frozen=True)
class Boolean:
    """A column of true and false; also 1 and 0, and text such as "yes", "no", "T" and "F" in any case.

    Parameters
    ----------
    missing : {"refuse", "ignore", "level"}
        As for ``Nominal``.

    Examples
    --------
    >>> Boolean().levels
    ('false', 'true', 'other')
    """

    _: KW_ONLY
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse an unknown rule."""
        _validate.choice(missing=self.missing, among=_RULES)

    @property
    def values(self) -> tuple[Value, ...]:
        """What the first two levels stand for."""
        return False, True

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the categories."""
        return _levels(["false", "true"], self.missing)

    def code_of(self, value: object) -> float:
        """Return the place of a value's level. None is a missing value, which may have no level: NaN."""
        if value is None:
            return _code_of_missing(self)
        text = text_of(value)
        known = text is not None and len(text) <= _LONGEST_BOOLEAN
        return BOOLEANS.get(str(text).lower(), 2) if known else 2


NumberColumn = Numeric | Ordinal | Date
"""Columns that become a number."""

CategoryColumn = Nominal | Boolean
"""Columns that become a category."""

Column = NumberColumn | CategoryColumn
"""What a column can be."""


def _levels(names: list[str], missing: str) -> tuple[str, ...]:
    """Add the names of the levels that no list must have."""
    added = [OTHER, MISSING] if missing == "level" else [OTHER]
    return (*names, *(name for name in added if name not in names))


def _code_of_missing(column: CategoryColumn) -> float:
    return column.levels.index(MISSING) if column.missing == "level" else math.nan


def _keep(column: object, **parts: object) -> None:
    """Store checked values in a frozen object."""
    for name, value in parts.items():
        object.__setattr__(column, name, value)
