"""When a value of a record is one of a public list: both are compared as text, exactly.

Tables lose types on their way: 1 becomes "1" in a CSV file, and 1.0 in a column with missing values. A listed
number therefore stands for all three, and a listed boolean for what files call it. Text is compared character
by character: nothing is stripped, folded or normalised, so that look-alikes stay different.
"""

import math
import re
from collections.abc import Mapping

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
