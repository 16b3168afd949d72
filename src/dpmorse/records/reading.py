"""How a file is written: what its owner says of it, and what is looked up where nothing is said."""

import codecs
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError

_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
"""Separators that have a name."""

_DECIMALS = (".", ",")
"""Signs before decimals."""

_ORDERS = ("iso", "day-first", "month-first")
"""How dates are written: 2024-05-31 always; besides, 31.05.2024 or 05/31/2024."""


@dataclass(frozen=True)
class Reading:
    """How a file is written; None where it is not said.

    Attributes
    ----------
    separator : str or None
        What is between the values of CSV; found in its first line if None.
    decimal : str or None
        The sign before decimals; the point if None.
    encoding : str or None
        How characters are written; UTF-8 if None, or what the first bytes of the file say.
    na : tuple of str
        Codes for missing values, beside those that are always known, such as nothing at all and NA.
    dates : str or None
        "day-first" or "month-first" for dates that are not in ISO format only.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    dates: str | None = None

    @classmethod
    def of(
        cls,
        *,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        na: Any = (),
        dates: str | None = None,
    ) -> "Reading":
        """Check what a user says of a file."""
        if decimal is not None:
            _validate.choice(decimal=decimal, among=_DECIMALS)
        if dates is not None:
            _validate.choice(dates=dates, among=_ORDERS)
        separator = None if separator is None else _checked_separator(separator)
        if separator is not None and separator == decimal:
            raise InvalidParameterError(f"separator and decimal must differ, got {separator!r} for both.")
        return cls(separator, decimal, _checked_encoding(encoding), _checked_codes(na), dates)

    def or_else(self, other: "Reading") -> "Reading":
        """Return this, completed by what another one says."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(other, **{name: value for name, value in told.items() if value not in (None, ())})

    @property
    def told(self) -> dict[str, Any]:
        """What is said, by the names of the parameters."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The codes that are numbers: these are compared as numbers."""
        return tuple(float(code) for code in self.na if _is_number(code))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The codes as text; a whole number in both ways in which tables write it."""
        whole = [f"{int(number)}" for number in self.numbers if number.is_integer()]
        return tuple(dict.fromkeys([*self.na, *whole, *(f"{number}.0" for number in whole)]))


def _checked_separator(separator: str) -> str:
    named = _NAMED.get(separator, separator)
    if len(named) != 1 or not named.isascii() or named in '"\r\n':
        raise InvalidParameterError(
            f"separator must be one character, such as ';' or 'tab', got {separator!r}."
        )
    return named


def _checked_encoding(encoding: str | None) -> str | None:
    """Refuse what Python does not know as a way to write text; some of its codecs turn bytes into bytes."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError):
        raise InvalidParameterError(
            f"encoding must be the name of one, such as 'utf-8', 'cp1252' or 'utf-16', got {encoding!r}."
        ) from None


def _checked_codes(na: Any) -> tuple[str, ...]:
    codes = [na] if isinstance(na, str | int | float) else na
    if not isinstance(codes, Sequence) or not all(map(_is_code, codes)):
        raise InvalidParameterError(
            f"na must be codes for missing values, such as [-999, '?'], got {_validate.describe(na)}."
        )
    return tuple(dict.fromkeys(str(code) for code in codes))


def _is_code(code: object) -> bool:
    """Say whether this can be in a file; half of a surrogate pair, of an odd argument, cannot."""
    return isinstance(code, str | int | float) and (str(code).isascii() or str(code).isprintable())


def _is_number(code: str) -> bool:
    try:
        return abs(float(code)) < float("inf")
    except ValueError:
        return False
