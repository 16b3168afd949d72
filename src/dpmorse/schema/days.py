"""Days, however they are written. Times of day are ignored; a day is that of the time zone beside it."""

from datetime import date, datetime

from dpmorse import _validate
from dpmorse.exceptions import InvalidTypeError

_LONGEST = 40
"""Longer texts are no dates; they need not be looked at."""


def parsed_day(value: object) -> date | None:
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


def checked_day(name: str, value: object) -> date:
    """Return the day that a user gives for a column of dates, or say what is wrong with it."""
    day = parsed_day(value)
    if day is None:
        raise InvalidTypeError(
            f"Date: {name} must be a datetime.date, or text such as '2000-01-31', got "
            f"{_validate.describe(value)}. Write year, month and day."
        )
    return day
