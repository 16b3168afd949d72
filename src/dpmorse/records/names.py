"""Distinguish names of columns, which are published with a model, from a record in their place.

A table that was read without its header has its first record as names. This is mostly visible from the names
alone: no value is read, and no name is quoted in an error, because it may be a value.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Any

from dpmorse.exceptions import InvalidParameterError

_SIGN = r"[-+\u2212]?"
"""A sign, or none; U+2212 is the typographic minus."""

_DIGITS = r"(?:\d+(?:[.,'_]\d+)*[.,]?|[.,]\d+)"
"""Digits with marks of decimals and of thousands, as different countries write them."""

_NUMBER = rf"(?:[<>\u2264\u2265=~\u2248]=?)?[$€£]?{_SIGN}[$€£]?{_DIGITS}(?:e{_SIGN}\d+)?[%‰$€£]?"
"""A number, perhaps with a relation, a currency, an exponent or a percent sign."""

_DAY = r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{2,4}\.?)"
"""A date: year first or last, with the same separator twice."""

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[ap]\.?m\.?)?(?:z|utc|[-+]\d{2}:?\d{2})?"
"""A time of day, perhaps with seconds, am or pm, and a time zone."""

_AGAIN = r"(?:\.\d+)?"
"""What pandas appends to a name that occurs twice."""

_VALUE = re.compile(rf"(?:{_NUMBER}|{_DAY}(?:t?{_CLOCK})?|{_CLOCK}){_AGAIN}", re.IGNORECASE)
"""A number, a date, a time, or a date and a time."""

_LONGEST_VALUE = 64
"""Most characters that are matched with ``_VALUE``, which limits the time of the regular expression."""

_MOST_LISTED = 5
"""Names that an error shows; it says how many more there are."""


def refuse_data_as_names(names: Sequence[Any], what: str, hint: str) -> None:
    """Refuse names that look like a record: if one is a number, a date or a time.

    Names that count the first columns, and three or more whole numbers one after the other, such as years,
    are no record. The message says ``what`` the names are and has a ``hint``, but does not quote them.
    """
    if look_like_data([str(name) for name in names]):
        raise InvalidParameterError(
            f"{what} looks like a record, not like names of columns, which are published with a model. "
            f"{hint} A name must not be a number, a date or a time. (They are not shown: they may be values.)"
        )


def look_like_data(names: Sequence[str]) -> bool:
    """Say whether there are values among names."""
    values = [name for name in names if looks_like_a_value(name)]
    first, counted = list(names[: len(values)]), [str(i) for i in range(len(values) + 1)]
    if first == counted[:-1] or (len(first) > 1 and first == counted[1:]):  # a single 1 may be a value
        return False
    numbers = [int(value) if value.isdecimal() else None for value in values]
    are_a_run = all(a is not None and b == a + 1 for a, b in itertools.pairwise(numbers))
    return not (len(values) >= 3 and are_a_run)


def looks_like_a_value(name: str) -> bool:
    """Say whether a name is a number, a date or a time; ranges such as 0-17 and 65+ are none.

    So are several of them with another separator between than that of the file.
    """
    pieces = [piece for piece in re.split(r"[;|\t]", name) if piece.strip()]
    return bool(pieces) and all(map(_is_value, pieces))


def _is_value(piece: str) -> bool:
    try:
        float(piece)
    except ValueError:
        text = "".join(piece.split())
        return len(text) <= _LONGEST_VALUE and _VALUE.fullmatch(text) is not None
    return True


def shown(names: Sequence[Any]) -> list[Any]:
    """Return how errors refer to columns: by name, or by position where the names may be values."""
    plain = all(isinstance(name, str | int) for name in names)
    if plain and not look_like_data([str(name) for name in names]):
        return list(names)
    return list(range(len(names)))


def listed(names: Sequence[Any]) -> str:
    """Return the first five names as text, and how many more there are."""
    first, n_more = ", ".join(repr(name) for name in names[:_MOST_LISTED]), len(names) - _MOST_LISTED
    return f"{first} and {n_more} more" if n_more > 0 else first
