"""Numbers that are written with more than digits: marks between thousands, and texts beside them.

What is removed is said by the owner of the file, and looked for in each value by itself. A mark is one of
thousands only where three digits follow, so that decimals that were taken for them are refused.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.records.files.reading import NOTHING_SAID, Reading
from dpmorse.schema import FALSE_WORDS, NO_NUMBER, NUMBER, TRUE_WORDS

_MARKS = {" ": r"[ \x{a0}\x{2009}\x{202f}]", "'": r"['\x{2019}]"}
"""Marks that are written in several ways, as regular expressions."""


def without_marks(texts: Any, reading: Reading) -> Any:
    """Return texts without what was said to be no part of a number; decimals stay as they are."""
    texts = pc.utf8_trim_whitespace(texts)
    if reading.remove:
        beside = "|".join(map(re.escape, sorted(reading.remove, key=len, reverse=True)))
        for pattern in (rf"(?i)^(?:{beside})\s*(-?[\d.,])", rf"(?i)([\d.,])\s*(?:{beside})$"):
            texts = pc.replace_substring_regex(texts, pattern, r"\1")
    if reading.thousands is None:
        return texts
    mark, sign = _MARKS.get(reading.thousands, re.escape(reading.thousands)), re.escape(reading.sign)
    grouped = pc.match_substring_regex(texts, rf"^[+-]?\d{{1,3}}(?:{mark}\d{{3}})+(?:{sign}\d*)?$")
    return pc.if_else(grouped, pc.replace_substring_regex(texts, mark, ""), texts)


def numbers_in(texts: Any, reading: Reading = NOTHING_SAID, nulls: Sequence[str] = ()) -> Any:
    """Return texts as 64-bit floats, each by itself: what they write, null if missing, infinity if no number.

    The rule is that of ``dpmorse.schema.number_of``, without marks, and beside codes for missing values.
    """
    plain = without_marks(texts, reading)
    missing = pc.is_in(plain, value_set=pa.array([*nulls, None], plain.type))
    missing = pc.or_(missing, pc.match_substring_regex(plain.fill_null(""), f"^(?:{NO_NUMBER})$"))
    if reading.sign != ".":
        two_signs = pc.match_substring(plain, ".")
        plain = pc.if_else(two_signs, "?", pc.replace_substring(plain, reading.sign, "."))
    written = pc.match_substring_regex(plain, f"^(?:{NUMBER})$")
    numbers = pc.if_else(written, plain, pa.scalar(None, plain.type)).cast(pa.float64())
    words = pc.utf8_lower(plain)
    truths = [pc.is_in(words, value_set=pa.array(of, plain.type)) for of in (TRUE_WORDS, FALSE_WORDS)]
    cases = pc.make_struct(missing, written, *truths)
    return pc.case_when(cases, pa.scalar(None, pa.float64()), numbers, 1.0, 0.0, math.inf)


def texts_in(column: Any) -> Any:
    """Return bytes as text, each value by itself: missing where it is no UTF-8."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        encoded = column.dictionary_encode()
    texts = pa.array(map(_decoded, encoded.dictionary.to_pylist()), pa.string())
    return texts.take(encoded.indices)


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
