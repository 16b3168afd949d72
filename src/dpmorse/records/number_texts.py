"""Numbers that are written with more than digits: marks between thousands, and texts beside them.

What is removed is said by the owner of the file, and looked for in each value by itself. A mark is one of
thousands only where three digits follow, so that decimals that were taken for them are refused.
"""

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.records.reading import Reading

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


def as_numbers(texts: Any, reading: Reading, nulls: list[str]) -> Any:
    """Return texts as 64-bit floats; raises ArrowInvalid, which quotes a value, where one is no number."""
    plain = without_marks(texts, reading)
    plain = pc.if_else(
        pc.is_in(plain, value_set=pa.array(nulls, plain.type)), pa.scalar(None, plain.type), plain
    )
    if reading.sign != ".":
        two_signs = pc.match_substring(plain, ".")
        plain = pc.if_else(two_signs, "?", pc.replace_substring(plain, reading.sign, "."))
    return plain.cast(pa.float64())
