"""What columns hold that should hold numbers, and whether their first rows are a second line of names.

Only flags leave this file: a refusal is made of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any

from dpmorse.records.files.reading import Reading
from dpmorse.records.files.text.looks import Look, Seen, seen_in
from dpmorse.records.files.text.number_texts import without_marks

_FIRST_ROWS = 3
"""Rows below the names that are looked at one by one: units, and questions of a survey, stand there."""

NUMBERS = frozenset({Look.NUMBERS, Look.PADDED})
"""Kinds of values that are read as numbers."""

_Columns = dict[str, Seen]


def seen_in_rows(batches: Iterable[Any], reading: Reading) -> tuple[_Columns, int]:
    """Return what is seen of each column, and how many rows below the names are no records, it seems.

    Parameters
    ----------
    batches : iterable of pyarrow RecordBatch
        The rows, as text.
    reading : Reading
        How they are written.
    """
    first: list[_Columns] = []
    rest: _Columns = {}
    for batch in batches:
        n = min(_FIRST_ROWS - len(first), len(batch))
        first += [_seen(batch.slice(i, 1), reading) for i in range(n)]
        rest = _both(rest, _seen(batch.slice(n), reading))
    n_above = _n_above(first, rest)
    return (rest, n_above) if n_above else (reduce(_both, first, rest), 0)


def odd_columns(seen: Mapping[str, Seen]) -> _Columns:
    """Return the columns that hold something else than numbers, or words for true and false."""
    return {name: one for name, one in seen.items() if one.kinds - NUMBERS - {Look.TRUTH}}


def _n_above(first: Sequence[_Columns], rest: _Columns) -> int:
    """Count the first rows that hold text in all columns in which the rows below them hold numbers."""
    numeric = [name for name, seen in rest.items() if seen.kinds and not seen.kinds - NUMBERS]
    held = ([row[name].kinds for name in numeric if row[name].kinds] for row in first)
    are_names = (bool(kinds) and all(Look.TEXT in of for of in kinds) for kinds in held)
    return sum(1 for _ in takewhile(bool, are_names))


def _seen(batch: Any, reading: Reading) -> _Columns:
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return {name: seen_in(without_marks(column, reading), reading.sign) for name, column in columns}


def _both(one: _Columns, other: _Columns) -> _Columns:
    return {name: one.get(name, Seen()) | other.get(name, Seen()) for name in {**one, **other}}
