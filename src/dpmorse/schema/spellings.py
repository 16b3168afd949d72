"""When a value of a record is one of a public list: both are compared as text, exactly.

Tables lose types on their way: 1 becomes "1" in a CSV file, and 1.0 in a column that has holes. Therefore a
listed number stands for all three, and a listed boolean for what files call it. Text is compared character by
character: nothing is stripped, folded or normalised, so that look-alikes stay different.
"""

import math
import re
from collections.abc import Mapping, Sequence

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError

Value = str | int | bool
"""What a list may hold."""

OTHER = "other"
"""The level of values that are not listed."""

MISSING = "missing"
"""The level of missing values, and one of the two levels that tell whether a number is there."""

PRESENT = "present"
"""The level that tells that a number is there."""

BOOLEANS: Mapping[str, int] = {
    **dict.fromkeys(("false", "no", "f", "n", "0", "0.0", "nein", "falsch", "non", "faux"), 0),
    **dict.fromkeys(("true", "yes", "t", "y", "1", "1.0", "ja", "j", "wahr", "oui", "vrai"), 1),
}
"""What is false and what is true, in lower case: in English, German and French."""


TRUE_WORDS, FALSE_WORDS = (
    tuple(word for word, truth in BOOLEANS.items() if truth == wanted and word.isalpha() and len(word) > 1)
    for wanted in (1, 0)
)
"""Words for true and false; single letters may be codes for something else."""

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""How a number is written, as a regular expression."""

NO_NUMBER = r"[+-]?[nN][aA][nN]"
"""How programs write that there is no number."""

_NUMBER, _NO_NUMBER = re.compile(NUMBER), re.compile(NO_NUMBER)

_TRUTHS = {**dict.fromkeys(TRUE_WORDS, 1.0), **dict.fromkeys(FALSE_WORDS, 0.0)}


def number_written(text: str) -> float:
    """Return the number that a text writes, 1 for true, 0 for false, NaN for NaN; infinity if it writes none.

    Examples
    --------
    >>> number_written("1.5e3"), number_written(" yes "), number_written("12 kg")
    (1500.0, 1.0, inf)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    return math.nan if _NO_NUMBER.fullmatch(text) else _TRUTHS.get(text.lower(), math.inf)


def number_of(value: object) -> float:
    """Return a number, or that which text writes; NaN for None, and infinity for all that is no number."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return number_written(value)
    try:
        return float(value) if isinstance(value, int | float) else math.inf
    except OverflowError:  # an integer larger than every float
        return math.inf


def text_of(value: object) -> str | None:
    """Return a value as text, the same for 1 and 1.0; None for what is neither text nor a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int) and abs(value) < 1 << 64 else None


def places_of(values: Sequence[Value]) -> dict[str, int]:
    """Return the place in a list for every way to write one of its values."""
    places: dict[str, int] = {}
    for place, value in enumerate(values):
        places |= dict.fromkeys(_ways_to_write(value), place)
    return places


def checked_values(kind: str, values: object) -> tuple[Value, ...]:
    """Return a list of two or more different values, or say what is wrong with it."""
    wanted = f'{kind}: values must list two or more texts or whole numbers, such as ["low", "high"]'
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidTypeError(f"{wanted}, got {_validate.describe(values)}. Give a list of public values.")
    odd = [value for value in values if not _can_be_listed(value)]
    if odd:
        raise InvalidTypeError(f"{wanted}; {_validate.describe(odd[0])} is neither. Write it as text.")
    if len(values) < 2:
        raise InvalidParameterError(f"{wanted}, got {_validate.describe(values)}. Leave out such a column.")
    _refuse_two_alike(kind, values)
    return tuple(values)


def _ways_to_write(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bool):
        return ("true", "True") if value else ("false", "False")
    return str(value), f"{value}.0"


def _can_be_listed(value: object) -> bool:
    """Say whether a value is of a kind that can be listed; whole numbers of more than 64 bits are none."""
    return isinstance(value, str) or (text_of(value) is not None and not isinstance(value, float))


def _refuse_two_alike(kind: str, values: Sequence[Value]) -> None:
    """Refuse values that are written alike, such as 1 and "1": a record could have either."""
    seen: set[str] = set()
    for value in values:
        ways = set(_ways_to_write(value))
        if ways & seen:
            raise InvalidParameterError(
                f"{kind}: values must be different when written as text, got {_validate.describe(value)} "
                "twice. List each value once."
            )
        seen |= ways
