"""What the texts of a column look like: kinds of values, told apart by their form. No value is kept.

A refusal says it of columns that should hold numbers, and ``dpmorse inspect`` of all. Both may name what is
in the public lists below: these are no values of records, but what everybody writes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dpmorse.records.files.reading import Reading
from dpmorse.records.files.text.number_texts import without_marks
from dpmorse.schema import FALSE_WORDS, TRUE_WORDS


class Look(StrEnum):
    """A kind of values, in words."""

    NUMBERS = "numbers"
    PADDED = "numbers with zeros in front"
    COMMA = "numbers with a decimal comma"
    POINT = "numbers with a decimal point"
    COMMAS = "numbers with commas between thousands"
    POINTS = "numbers with points between thousands"
    APOSTROPHES = "numbers with apostrophes between thousands"
    BLANKS = "numbers with blanks between thousands"
    UNITS = "numbers with a unit beside them"
    SIGNED = "numbers with a sign before them, such as <"
    DATES = "dates"
    DAY_FIRST = "dates, the day first"
    MONTH_FIRST = "dates, the month first"
    EITHER_FIRST = "dates, the day or the month first"
    SHORT_DATES = "dates with two digits for the year"
    TIMES = "times of day"
    TRUTH = "true and false, or yes and no"
    CODES = "codes for missing values"
    SUMS = "words of a line of sums"
    TEXT = "text"


NUMBERS = frozenset({Look.NUMBERS, Look.PADDED})
"""Kinds of values that are read as numbers."""

MARKS = {Look.COMMAS: ",", Look.POINTS: ".", Look.APOSTROPHES: "'", Look.BLANKS: " "}
"""Marks between thousands, by the kind of numbers that have them."""

NULLS = tuple(pa.csv.ConvertOptions().null_values)
"""What stands for a missing value in a file of text, such as nothing at all, or NA; unless it is listed."""

NUMBER_CODES = (
    *(-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -888.0, -999.0, -9999.0, -99999.0),
    *(7.0, 8.0, 9.0, 77.0, 88.0, 96.0, 97.0, 98.0, 99.0),
    *(777.0, 888.0, 997.0, 998.0, 999.0, 9998.0, 9999.0, 99999.0, 999999.0),
)
"""Numbers that often stand for a missing value."""

_TEXT_CODES = (
    *("?", ".", "-", "--", "---", "*", "unknown", "unk", "missing", "none", "nil", "na", "n.a."),
    *("not available", "not known", "not recorded", "not applicable", "not done", "nd", "refused"),
    *("don't know", "dk", "no answer", "unbekannt", "k.a.", "k. a.", "keine angabe", "weiß nicht"),
    *("inconnu", "nc", "n.c.", "non renseigné", "ne sait pas", "manquant"),
    *("#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "null", "(null)", "\\n", "na()"),
)
"""Texts that often stand for a missing value, in lower case."""

_CURRENCIES = ("€", "$", "£", "eur", "usd", "gbp", "chf", "kr")
"""What often stands before a number, too, in lower case."""

_UNITS = (
    *(*_CURRENCIES, "%", "‰"),
    *("kg", "g", "mg", "µg", "ug", "lb", "lbs", "oz", "t"),
    *("km", "m", "cm", "mm", "µm", "in", "ft", "m²", "m2"),
    *("l", "dl", "ml", "mmhg", "bpm", "/min", "mg/dl", "mmol/l", "g/dl", "µmol/l", "u/l", "iu"),
    *("kcal", "kwh"),
    *("kg/m²", "kg/m2", "°c", "°f", "°", "h", "min", "s", "sec", "ms", "d", "days", "day", "tage", "jours"),
    *("weeks", "wochen", "months", "monate", "mois", "years", "year", "yrs", "yr", "y", "jahre", "ans"),
)
"""What often stands beside a number, in lower case."""

_SUMS = (
    *("sum", "sums", "total", "totals", "grand total", "subtotal", "mean", "average"),
    *("summe", "gesamt", "gesamtsumme", "insgesamt", "mittelwert", "durchschnitt"),
    *("somme", "totaux", "total général", "moyenne"),
)
"""What often heads a line of sums below the records, in lower case."""

_FIRST_ROWS = 3
"""Rows below the names that are looked at one by one: units, and questions of a survey, stand there."""

_DIGITS = r"(?:\d+(?:{0}\d*)?|{0}\d+)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"\d{4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?"
_CLOCK = r"(?:[T ]+\d{1,2}:\d{2}.*)?"
_BLANK = r"[ \x{a0}\x{2009}\x{202f}]"


@dataclass(frozen=True)
class Seen:
    """What was seen of a column: kinds of values, and which texts of public lists are among them."""

    kinds: frozenset[Look] = frozenset()
    codes: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()

    def __or__(self, other: "Seen") -> "Seen":
        return Seen(self.kinds | other.kinds, self.codes | other.codes, self.units | other.units)


def seen_in(texts: Any, decimal: str = ".") -> Seen:
    """Return what is seen of the values of an Arrow column of text, missing ones aside."""
    rest = pc.utf8_trim_whitespace(texts.drop_null())
    rest = rest.filter(pc.invert(pc.is_in(rest, value_set=pa.array(NULLS, rest.type))))
    found: dict[Look, Any] = {}
    for kind, pattern in _patterns(decimal):
        if not len(rest):
            break
        matches = pc.match_substring_regex(rest, f"(?i)^(?:{pattern})$")
        if pc.any(matches).as_py():
            found[kind] = rest.filter(matches)
            rest = rest.filter(pc.invert(matches))
    kinds = frozenset({*found, Look.TEXT} if len(rest) else found)
    codes = pc.unique(found[Look.CODES]).to_pylist() if Look.CODES in found else ()
    if Look.UNITS not in found:
        return Seen(kinds, frozenset(codes))
    numbers = pc.replace_substring_regex(found[Look.UNITS], r"^[^\d+.,-]+|[^\d.,]+$", "")
    beside = pc.utf8_trim_whitespace(pc.replace_substring_regex(found[Look.UNITS], r"[+-]?[\d.,']+", ""))
    units = {text for text in pc.unique(beside).to_pylist() if text.lower() in _UNITS}
    return Seen(kinds | (seen_in(numbers, decimal).kinds - NUMBERS), frozenset(codes), frozenset(units))


def _patterns(decimal: str) -> Iterator[tuple[Look, str]]:
    """Yield kinds and the form of their values, in the order in which they are tried."""
    plain = r"[+-]?" + _DIGITS.format(re.escape(decimal))
    other, other_kind = (",", Look.COMMA) if decimal == "." else (".", Look.POINT)
    units, before = ("|".join(map(re.escape, texts)) for texts in (_UNITS, _CURRENCIES))
    grouped = r"[+-]?[1-9]\d{{0,2}}(?:{0}\d{{3}})+(?:{1}\d+)?"
    yield Look.PADDED, r"0\d+"
    yield Look.NUMBERS, rf"{plain}(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|[+-]?nan"
    yield Look.COMMAS, grouped.format(",", r"\.")
    if decimal == ",":
        yield Look.POINTS, grouped.format(r"\.", ",")
    else:
        yield Look.POINTS, r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})"
    yield Look.APOSTROPHES, grouped.format("['\\x{2019}]", "[.,]")
    yield Look.BLANKS, grouped.format(_BLANK, "[.,]")
    yield other_kind, rf"[+-]?\d*{re.escape(other)}\d+(?:e[+-]?\d+)?"
    yield Look.UNITS, rf"[+-]?[\d.,']+\s*(?:{units})|(?:{before})\s*[+-]?[\d.,']+"
    yield Look.SIGNED, r"[<>≤≥~=]+\s*[+-]?\d+(?:[.,]\d+)?"
    yield Look.DATES, rf"\d{{4}}-\d{{2}}-\d{{2}}{_CLOCK}"
    yield Look.EITHER_FIRST, rf"{_MONTH}[/-]{_MONTH}[/-]{_YEAR}{_CLOCK}"
    yield Look.DAY_FIRST, rf"{_DAY}[/-]{_MONTH}[/-]{_YEAR}{_CLOCK}|{_DAY}\.{_MONTH}\.{_YEAR}{_CLOCK}"
    yield Look.MONTH_FIRST, rf"{_MONTH}[/-]{_DAY}[/-]{_YEAR}{_CLOCK}"
    yield Look.SHORT_DATES, rf"\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2}}{_CLOCK}"
    yield Look.TIMES, _TIME
    yield Look.TRUTH, "|".join((*TRUE_WORDS, *FALSE_WORDS))
    yield Look.CODES, "|".join(map(re.escape, _TEXT_CODES))
    yield Look.SUMS, "|".join(map(re.escape, _SUMS))


def seen_in_rows(batches: Iterable[Any], reading: Reading) -> tuple[dict[str, Seen], int]:
    """Return what is seen of each column of text, and how many rows below the names seem to be no records.

    These hold text in all columns in which the rows below them hold numbers.
    """
    first: list[dict[str, Seen]] = []
    rest: dict[str, Seen] = {}
    for batch in batches:
        n = min(_FIRST_ROWS - len(first), len(batch))
        first += [_seen(batch.slice(i, 1), reading) for i in range(n)]
        rest = _both(rest, _seen(batch.slice(n), reading))
    numeric = [name for name, seen in rest.items() if seen.kinds and not seen.kinds - NUMBERS]
    held = ([row[name].kinds for name in numeric if row[name].kinds] for row in first)
    are_names = (bool(kinds) and all(Look.TEXT in of for of in kinds) for kinds in held)
    n_above = sum(1 for _ in takewhile(bool, are_names))
    return (rest, n_above) if n_above else (reduce(_both, first, rest), 0)


def _seen(batch: Any, reading: Reading) -> dict[str, Seen]:
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return {name: seen_in(without_marks(column, reading), reading.sign) for name, column in columns}


def _both(one: dict[str, Seen], other: dict[str, Seen]) -> dict[str, Seen]:
    return {name: one.get(name, Seen()) | other.get(name, Seen()) for name in {**one, **other}}


def odd_columns(seen: Mapping[str, Seen]) -> dict[str, Seen]:
    """Return the columns that hold something else than numbers, or words for true and false."""
    return {name: one for name, one in seen.items() if one.kinds - NUMBERS - {Look.TRUTH}}


def simplified(kinds: frozenset[Look] | set[Look]) -> set[Look]:
    """Leave out kinds that another kind of the same column explains."""
    left = set(kinds)
    if Look.COMMA in left:
        left.discard(Look.COMMAS)
    if Look.POINT in left:
        left.discard(Look.POINTS)
    if len(left & {Look.DAY_FIRST, Look.MONTH_FIRST}) == 1:
        left.discard(Look.EITHER_FIRST)
    return left
