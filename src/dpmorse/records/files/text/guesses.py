"""How a file of text is written: a guess from its bytes and its first rows, for the holder of the data."""

import codecs
from dataclasses import replace
from itertools import product
from typing import Any

from dpmorse.records.files.data_file import kind_of, problems_told
from dpmorse.records.files.packed import PackedText
from dpmorse.records.files.reading import THOUSANDS, Reading
from dpmorse.records.files.text.looks import NUMBERS, Look, seen_in, seen_in_rows
from dpmorse.records.files.text.structure import encoding_of
from dpmorse.records.files.text.text_file import TextFile

_NO_VALUES = NUMBERS | {Look.CODES}

_LETTERS = 40
"""First bytes of which every other one is zero in UTF-16, where names of columns are in western letters."""

_PIECE = 1 << 20
"""Bytes that are decoded at a time."""


def guessed_encoding(path: str) -> str | None:
    """Return the encoding of a file of text that is neither UTF-8 nor says what it is; a guess."""
    kind, packing = kind_of(path)
    if kind != "csv" or packing == ".xlsx":
        return None
    candidates = {name: codecs.getincrementaldecoder(name)() for name in ("utf-8", "cp1252", "latin-1")}
    start = b""
    with problems_told(path), PackedText(path, packing).opened() as (stream, _):
        while piece := stream.read(_PIECE):
            start = start or piece
            for name, decoder in list(candidates.items()):
                try:
                    decoder.decode(piece)
                except UnicodeError:
                    del candidates[name]
    if encoding_of(start) != "utf-8":
        return None
    for encoding, zeros in (("utf-16-le", start[1:_LETTERS:2]), ("utf-16-be", start[:_LETTERS:2])):
        if zeros and not any(zeros):
            return encoding
    found = next(iter(candidates))
    return None if found == "utf-8" else found


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
