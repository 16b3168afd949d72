"""How a file of text is laid out: found in its first bytes and in how many values its lines have.

No value is looked at. Where the structure leaves a doubt, the file is refused and its owner is asked.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

from dpmorse.exceptions import InvalidParameterError

SEPARATORS = (",", ";", "\t", "|")
"""What can be between values, unless a separator is given."""

_MOST_LINES = 100
"""Lines whose number of values is compared."""

_FEWEST_LINES = 3
"""Lines that must agree before the first is taken for a title."""

_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""First bytes that tell an encoding. That of UTF-8 is skipped by all who read UTF-8 here."""

_STATED = re.compile(r'"?sep=(.)"?[\r\n]', re.IGNORECASE)
"""A first line by which spreadsheets are told the separator."""


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a file tell; UTF-8 if they tell none."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8")


def stated_separator(text: str) -> str | None:
    """Return the separator of a first line such as ``sep=;``, which is no line of names."""
    stated = _STATED.match(text)
    return None if stated is None else stated[1]


def without_lines(text: str, n_lines: int) -> str:
    """Return the text below its first lines, whatever ends them."""
    for _ in range(n_lines):
        line = re.match(r"[^\r\n]*(?:\r\n|\r|\n)?", text)
        text = text[line.end() :] if line else ""
    return text


def guessed_separator(path: str, text: str) -> str:
    """Return the separator that is in the first line, or refuse to guess between two.

    Where several may be meant, the one that gives all lines as many values as the first is taken.
    """
    found = [mark for mark in SEPARATORS if _n_names(text, mark) > 1]
    if len(found) > 1:
        sizes = {mark: {len(line) for line in _first_lines(text, mark) if line} for mark in found}
        found = [mark for mark in found if len(sizes[mark]) == 1]
        if len(found) != 1:
            raise InvalidParameterError(
                f"{path!r} has more than one mark in its first line that may stand between values. Say "
                "which it is: --separator ';' or --separator ',' (separator=';'), tab, or '|'."
            )
    return found[0] if found else ","


def lines_above(text: str, separator: str | None = None) -> int:
    """Return how many lines of the beginning of a file are above the names of the columns.

    They have another number of values than those below, whichever separator is meant, if none is given.
    """
    marks = SEPARATORS if separator is None else (separator,)
    found = [above for above in (_above(text, mark) for mark in marks) if above is not None]
    return min(found, default=0)


def lines_of(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the values of each line; none where a line is empty."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _above(text: str, separator: str) -> int | None:
    """Return the lines above the first that has as many values as most have; None if few lines agree.

    A line of which most places are empty is a title, too: spreadsheets fill up its line with separators.
    """
    lines = _first_lines(text, separator)
    sizes = Counter(len(line) for line in lines if len(line) > 1)
    usual, n_alike = max(sizes.items(), key=itemgetter(1), default=(0, 0))
    if n_alike < max(_FEWEST_LINES, sum(map(bool, lines)) / 2):
        return None
    filled = [sum(map(bool, line)) if len(line) == usual else 0 for line in lines]
    first = next(i for i, n_filled in enumerate(filled) if 2 * n_filled > max(filled))
    return first if any(lines[:first]) else 0


def _first_lines(text: str, separator: str) -> list[list[str]]:
    """Return the values of the first lines; the last may not be complete."""
    try:
        lines = [line for line, _ in zip(lines_of(text, separator), range(_MOST_LINES), strict=False)]
    except csv.Error:
        return []
    return lines if len(lines) < _FEWEST_LINES else lines[:-1]


def _n_names(text: str, separator: str) -> int:
    """Return how many names a separator makes of the first line; none where one would be far too long."""
    try:
        return len(next(filter(None, lines_of(text, separator)), []))
    except csv.Error:
        return 0
