"""What the texts of a column look like: kinds of values, told apart by their form. No value is kept.

A refusal says it of columns that should hold numbers, and ``dpmorse inspect`` of all.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv


class Look(StrEnum):
    """A kind of values, in words."""

    NUMBERS = "numbers"
    COMMA = "numbers with a decimal comma"
    POINT = "numbers with a decimal point"
    THOUSANDS = "numbers with marks of thousands, or a decimal comma"
    SIGNED = "numbers with a sign before them, such as <"
    DATES = "dates"
    DAY_FIRST = "dates, the day first"
    MONTH_FIRST = "dates, the month first"
    EITHER_FIRST = "dates, the day or the month first"
    SHORT_DATES = "dates with two digits for the year"
    TRUTH = "true and false, or yes and no"
    CODES = "codes for missing values"
    TEXT = "text"


NULLS = tuple(pa.csv.ConvertOptions().null_values)
"""What stands for a missing value in a file of text, such as nothing at all, or NA; unless it is listed."""

TEXT_CODES = (
    *(
        "?",
        ".",
        "-",
        "--",
        "---",
        "*",
        "unknown",
        "unk",
        "missing",
        "none",
        "nil",
        "na",
        "n.a.",
        "not available",
    ),
    *(
        "not known",
        "not recorded",
        "not applicable",
        "not done",
        "nd",
        "unbekannt",
        "k.a.",
        "k. a.",
        "keine angabe",
    ),
    *("#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "null", "(null)", "\\n", "na()"),
)
"""Texts that often stand for a missing value, in lower case: a public list."""

_TRUE, _FALSE = ("true", "yes"), ("false", "no")

TRUE_TEXTS, FALSE_TEXTS = (
    tuple(form(word) for word in words for form in (str.lower, str.title, str.upper))
    for words in (_TRUE, _FALSE)
)
"""What is read as 1 and as 0 where a column holds nothing else."""

_DIGITS = r"(?:\d+(?:{0}\d*)?|{0}\d+)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"\d{4}"
_CLOCK = r"(?:[T ]+\d{1,2}:\d{2}.*)?"


def kinds_in(texts: Any, decimal: str = ".") -> set[Look]:
    """Return the kinds of the values of a column of text, missing ones aside.

    Parameters
    ----------
    texts : pyarrow Array
        The values.
    decimal : str
        The sign before decimals.
    """
    rest = pc.utf8_trim_whitespace(texts.drop_null())
    rest = rest.filter(pc.invert(pc.is_in(rest, value_set=pa.array(NULLS))))
    found: set[Look] = set()
    for kind, pattern in _patterns(decimal):
        if not len(rest):
            return found
        matches = pc.match_substring_regex(rest, f"(?i)^(?:{pattern})$")
        if pc.any(matches).as_py():
            found.add(kind)
            rest = rest.filter(pc.invert(matches))
    return found | ({Look.TEXT} if len(rest) else set())


def codes_in(texts: Any) -> set[str]:
    """Return which codes of the public list are among the values of a column, as they are written there."""
    trimmed = pc.utf8_trim_whitespace(texts.drop_null())
    known = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(TEXT_CODES))
    written = set(pc.unique(trimmed.filter(known)).to_pylist())
    return written - set(NULLS)


def _patterns(decimal: str) -> Iterator[tuple[Look, str]]:
    """Yield kinds and the form of their values, in the order in which they are tried."""
    number = r"[+-]?" + _DIGITS.format(re.escape(decimal)) + r"(?:e[+-]?\d+)?"
    other, other_kind = (",", Look.COMMA) if decimal == "." else (".", Look.POINT)
    yield Look.NUMBERS, rf"{number}|[+-]?inf(?:inity)?|[+-]?nan"
    yield (
        Look.THOUSANDS,
        r"[+-]?[1-9]\d{0,2}(?:,\d{3})+|[+-]?\d{1,3}(?:[.' ]\d{3})+(?:,\d+)?|[+-]?\d{1,3}(?:,\d{3})+\.\d+",
    )
    yield other_kind, rf"[+-]?\d*{re.escape(other)}\d+(?:e[+-]?\d+)?"
    yield Look.SIGNED, r"[<>≤≥~=]+\s*[+-]?\d+(?:[.,]\d+)?"
    yield Look.DATES, rf"\d{{4}}-\d{{2}}-\d{{2}}{_CLOCK}"
    yield Look.EITHER_FIRST, rf"{_MONTH}[/-]{_MONTH}[/-]{_YEAR}{_CLOCK}"
    yield Look.DAY_FIRST, rf"{_DAY}[/-]{_MONTH}[/-]{_YEAR}{_CLOCK}|{_DAY}\.{_MONTH}\.{_YEAR}{_CLOCK}"
    yield Look.MONTH_FIRST, rf"{_MONTH}[/-]{_DAY}[/-]{_YEAR}{_CLOCK}"
    yield Look.SHORT_DATES, rf"\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2}}{_CLOCK}"
    yield Look.TRUTH, "|".join((*_TRUE, *_FALSE))
    yield Look.CODES, "|".join(map(re.escape, TEXT_CODES))


def simplified(kinds: set[Look]) -> set[Look]:
    """Leave out kinds that another kind of the same column explains."""
    if Look.COMMA in kinds:
        kinds = kinds - {Look.THOUSANDS}
    decided = kinds & {Look.DAY_FIRST, Look.MONTH_FIRST}
    return kinds - {Look.EITHER_FIRST} if len(decided) == 1 else kinds
