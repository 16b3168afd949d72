"""How the numbers of a file of text are written: a guess from its first rows, for the holder of the data."""

from dataclasses import replace
from itertools import product
from typing import Any

from dpmorse.records.looks import Look, seen_in
from dpmorse.records.odd_rows import NUMBERS, seen_in_rows
from dpmorse.records.reading import THOUSANDS, Reading
from dpmorse.records.text_file import TextFile

_NO_VALUES = NUMBERS | {Look.CODES}


def guessed_reading(text: TextFile) -> Reading:
    """Return how a file is written; what its owner said of it stays as it is."""
    told = text.packed.reading
    batch = next(text.as_texts(text.names), None)
    if batch is None or not len(batch):
        return told
    reading = replace(told, remove=told.remove or _units(batch))
    signs = [".", ","] if told.decimal is None else [told.sign]
    marks = [None, *THOUSANDS] if told.thousands is None else [told.thousands]
    ways = [
        replace(reading, decimal=sign if sign != "." else told.decimal, thousands=mark)
        for sign, mark in product(signs, marks)
        if sign != mark
    ]
    best = max(ways, key=lambda way: _n_numeric(batch, way))  # the first of several
    _, below = seen_in_rows([batch], best)
    return best if told.skip_below is not None or not below else replace(best, skip_below=below)


def _units(batch: Any) -> tuple[str, ...]:
    """Return the units that stand beside the numbers of columns that hold nothing else."""
    seen = [seen_in(column) for column in batch.columns]
    units = [one.units for one in seen if Look.TEXT not in one.kinds]
    return tuple(sorted(set().union(*units)))


def _n_numeric(batch: Any, reading: Reading) -> int:
    """Count the columns that hold numbers, in this way to write them, in most rows."""
    seen, _ = seen_in_rows([batch], reading)
    return sum(bool(one.kinds & NUMBERS) and one.kinds <= _NO_VALUES for one in seen.values())
