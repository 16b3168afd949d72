"""How a file is written: what its owner says of it, and what is looked up where nothing is said."""

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError

MARK_NAMES = {"\t": "tab", "'": "apostrophe", " ": "blank"}
"""Names of marks that are hard to write on a command line."""

_NAMED = {
    **{name: mark for mark, name in MARK_NAMES.items()},
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "bar": "|",
    "point": ".",
}
"""Marks that have a name."""

_DECIMALS = (".", ",")
"""Signs before decimals."""

_OTHER_SIGN = {".": ",", ",": "."}

THOUSANDS = (",", ".", "'", " ")
"""Marks between thousands."""

_ORDERS = ("iso", "day-first", "month-first")
"""How dates are written: 2024-05-31 always; besides, 31.05.2024 or 05/31/2024."""

_MOST_LINES = 1000
"""More lines than these are no title."""


@dataclass(frozen=True)
class Reading:
    """How a file is written; None where it is not said.

    Attributes
    ----------
    sheet : str or None
        The sheet of a workbook; the only one that holds something if None.
    skip, skip_below : int or None
        Lines above the names of the columns, and between the names and the records.
    separator : str or None
        What is between the values of CSV; found in its first line if None.
    decimal : str or None
        The sign before decimals; the point if None.
    thousands : str or None
        The mark between thousands; a blank stands for blanks of every width.
    remove : tuple of str
        Texts that stand before or behind numbers, such as units.
    encoding : str or None
        How characters are written; UTF-8 if None, or what the first bytes of the file say.
    na : tuple of str
        Codes for missing values, beside those that are always known, such as nothing at all and NA.
    na_of : dict of tuple of str
        Codes for missing values of single columns: 99 may be a code in one, and an age in another.
    dates : str or None
        "day-first" or "month-first" for dates that are not in ISO format only.
    """

    sheet: str | None = None
    skip: int | None = None
    skip_below: int | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    remove: tuple[str, ...] = ()
    encoding: str | None = None
    na: tuple[str, ...] = ()
    na_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dates: str | None = None

    @classmethod
    def of(cls, *, na: Any = None, **told: Any) -> "Reading":
        """Check what a user says of a file; codes may go by column, all else by the names above."""
        told["na_of" if isinstance(na, Mapping) else "na"] = na
        return cls(**{name: _CHECKS[name](name, value) for name, value in told.items() if value is not None})

    @property
    def sign(self) -> str:
        """The sign before decimals; it must not be the mark between thousands, too."""
        sign = self.decimal or "."
        if sign == self.thousands:
            raise InvalidParameterError(
                f"thousands and decimal must differ, got {sign!r} for both (the point is the usual decimal): "
                f"give --decimal {_OTHER_SIGN[sign]} (decimal={_OTHER_SIGN[sign]!r}), too."
            )
        return sign

    def or_else(self, other: "Reading") -> "Reading":
        """Return this, completed by what another one says."""
        return replace(other, **self.told)

    @property
    def told(self) -> dict[str, Any]:
        """What is said, by the names of the parameters."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), {})}

    @property
    def plain_numbers(self) -> bool:
        """Whether numbers are written with digits, a sign before decimals and nothing else."""
        return self.thousands is None and not self.remove

    def codes_of(self, column: str) -> tuple[str, ...]:
        """Return the codes for missing values of a column."""
        return (*self.na, *self.na_of.get(column, ()))

    def numbers_of(self, column: str) -> list[float]:
        """Return the codes of a column that are numbers: these are compared as numbers."""
        return [float(code) for code in self.codes_of(column) if _is_number(code)]

    def texts_of(self, column: str) -> list[str]:
        """Return the codes of a column as text; a whole number in both ways in which tables write it."""
        return _as_texts(self.codes_of(column))

    @cached_property
    def nulls(self) -> list[str]:
        """Texts that are missing values in every column; of single columns those that are no numbers."""
        single = [code for codes in self.na_of.values() for code in codes if not _is_number(code)]
        return _as_texts([*self.na, *single])


NOTHING_SAID = Reading()


def _as_texts(codes: Sequence[str]) -> list[str]:
    numbers = [float(code) for code in codes if _is_number(code)]
    whole = [f"{int(number)}" for number in numbers if number.is_integer()]
    return list(dict.fromkeys([*codes, *whole, *(f"{number}.0" for number in whole)]))


def _named_text(name: str, text: Any) -> str:
    if not isinstance(text, str) or not text:
        raise InvalidParameterError(f"{name} must be a text, got {_validate.describe(text)}.")
    return text


def _number_of_lines(name: str, number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _MOST_LINES:
        raise InvalidParameterError(
            f"{name} must be a number of lines from 0 to {_MOST_LINES}, got {_validate.describe(number)}."
        )
    return number


def _checked_separator(name: str, separator: Any) -> str:
    named = _NAMED.get(separator, separator) if isinstance(separator, str) else ""
    if len(named) != 1 or not named.isascii() or named in '"\r\n':
        raise InvalidParameterError(f"{name} must be one character, such as ';' or 'tab', got {separator!r}.")
    return named


def _one_of(among: Sequence[str]) -> Callable[[str, Any], str]:
    def checked(name: str, value: Any) -> str:
        named = _NAMED.get(value, value) if isinstance(value, str) else value
        _validate.choice(among=among, **{name: named})
        return str(named)

    return checked


def _checked_encoding(_: str, encoding: Any) -> str:
    """Refuse what Python does not know as a way to write text; some of its codecs turn bytes into bytes."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError, TypeError):
        raise InvalidParameterError(
            f"encoding must be the name of one, such as 'utf-8', 'cp1252' or 'utf-16', got {encoding!r}."
        ) from None


def _checked_codes(name: str, na: Any) -> tuple[str, ...]:
    codes = [na] if isinstance(na, str | int | float) else na
    # half of a surrogate pair, of an odd argument, can be in no file
    if not isinstance(codes, Sequence) or not all(
        isinstance(code, str | int | float) and (str(code).isascii() or str(code).isprintable())
        for code in codes
    ):
        raise InvalidParameterError(
            f"{name} must be codes for missing values, such as [-999, '?'], got {_validate.describe(na)}."
        )
    return tuple(dict.fromkeys(str(code) for code in codes))


def _checked_remove(_: str, remove: Any) -> tuple[str, ...]:
    """Refuse what may be part of a number: what is left would be another one."""
    texts = [remove] if isinstance(remove, str) else remove
    kept = [text.strip() for text in texts if isinstance(text, str)] if isinstance(texts, Sequence) else []
    in_numbers = any(c.isdigit() or c in ".,+-<>" for text in kept for c in text)
    odd = in_numbers or not all(text and text.isprintable() for text in kept)
    if odd or not isinstance(texts, Sequence) or len(kept) < len(texts):
        raise InvalidParameterError(
            "remove must be texts that stand beside numbers, such as ['kg', '%'], without digits, points, "
            f"commas and signs, got {_validate.describe(remove)}."
        )
    return tuple(dict.fromkeys(kept))


def _is_number(code: str) -> bool:
    try:
        return abs(float(code)) < float("inf")
    except ValueError:
        return False


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "sheet": _named_text,
    "skip": _number_of_lines,
    "skip_below": _number_of_lines,
    "separator": _checked_separator,
    "decimal": _one_of(_DECIMALS),
    "thousands": _one_of(THOUSANDS),
    "remove": _checked_remove,
    "encoding": _checked_encoding,
    "na": _checked_codes,
    "na_of": lambda _, na: {
        str(column): _checked_codes(f"na of {column!r}", codes) for column, codes in na.items()
    },
    "dates": _one_of(_ORDERS),
}
"""What checks each attribute."""

READING_OPTIONS = tuple(part.name for part in fields(Reading) if part.name != "na_of")
"""Names of the parameters that say how a file is written."""
