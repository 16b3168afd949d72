"""Files of text with a line of names: how they are written, found without a value, and rows in batches."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.csv

from dpmorse import _atomic
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.looks import FALSE_TEXTS, NULLS, TRUE_TEXTS, Look, kinds_in
from dpmorse.records.names import refuse_data_as_names
from dpmorse.records.packed import PackedText
from dpmorse.records.reading import Reading
from dpmorse.records.text_refusals import refuse_encoding, refuse_texts

_LARGEST_HEADER = 1 << 20
"""Most bytes of a CSV file's first line. A compressed file could otherwise hold a line that fills the
memory."""

_BLOCK_BYTES = 8 << 20
"""Bytes of CSV text that are parsed at a time, which give about as many rows as a batch has."""

_MOST_LINES = 100
"""Lines whose number of values is compared where the first line alone does not tell the separator."""

SEPARATORS = (",", ";", "\t", "|")
"""What can be between values, unless a separator is given."""

_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""First bytes that tell an encoding. That of UTF-8 is skipped by all who read UTF-8 here."""

_ADD_NAMES = "Put a line with names above it."
"""The advice for a CSV file whose first line looks like a record."""


@dataclass(frozen=True)
class TextFile:
    """A table as text.

    Attributes
    ----------
    packed : PackedText
        Where it is, and how it is packed.
    names : list of str
        Its first line.
    separator, decimal, encoding : str
        How it is written.
    nulls : tuple of str
        What stands for a missing value.
    truths : set of str
        Columns of true and false, or yes and no, that were asked for as numbers.
    """

    packed: PackedText
    names: list[str]
    separator: str
    decimal: str
    encoding: str
    nulls: tuple[str, ...]
    truths: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def open(cls, packed: PackedText, reading: Reading) -> "TextFile":
        """Read the first line; if it does not tell the separator, also how many values other lines have."""
        with packed.opened() as (stream, _):
            start = _atomic.read_bytes(stream, _LARGEST_HEADER)  # a packed file can hold an endless line
        path, workbook = packed.path, packed.packing == ".xlsx"
        encoding = reading.encoding if reading.encoding is not None and not workbook else encoding_of(start)
        text = start.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="replace")
        usual = "," if workbook else "\t" if packed.inner_name.endswith(".tsv") else None
        separator = (None if workbook else reading.separator) or usual or guessed_separator(path, text)
        names = next(_lines(text, separator), [])
        if len(start) > _LARGEST_HEADER and not re.search(r"[\r\n]", text):
            raise InvalidParameterError(f"the first line of {path!r} is too long for names of columns.")
        _check_names(path, names, encoding)
        return cls(packed, names, separator, reading.decimal or ".", encoding, (*NULLS, *reading.texts))

    def parts(
        self, numbers: Sequence[str], others: Sequence[str], *, told_nulls: bool
    ) -> Iterator[tuple[Any, float]]:
        """Yield rows: numbers, and others as text; columns of true and false are numbers, too.

        Only values can tell such columns. When one is met, reading starts anew where it was.
        """
        n_read = 0
        while True:
            kinds = {**dict.fromkeys(others, pa.string()), **{name: self._kind(name) for name in numbers}}
            try:
                for batch, done in _after(n_read, self.batches(kinds, told_nulls=told_nulls)):
                    n_read += len(batch)
                    yield batch.select([*numbers, *others]), done
            except pa.ArrowInvalid as error:
                message = str(error)  # told below, where no error is chained: it quotes a value
            else:
                return
            self.truths.update(self._new_truths(numbers, message))

    def batches(self, kinds: Mapping[str, Any], *, told_nulls: bool) -> Iterator[tuple[Any, float]]:
        """Yield rows of columns in these types, and how much was read."""
        with self.packed.opened() as (stream, fraction), self._reader(stream, kinds, told_nulls) as reader:
            for batch in reader:
                yield batch, fraction()

    def _reader(self, stream: Any, kinds: Mapping[str, Any], told_nulls: bool) -> Any:
        return pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES, encoding=self.encoding),
            parse_options=pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict(kinds),
                include_columns=list(kinds),
                strings_can_be_null=told_nulls,
                null_values=list(self.nulls),
                decimal_point=self.decimal,
                true_values=[*TRUE_TEXTS, "1"],
                false_values=[*FALSE_TEXTS, "0"],
            ),
        )

    def _kind(self, name: str) -> Any:
        return pa.bool_() if name in self.truths else pa.float64()

    def _new_truths(self, numbers: Sequence[str], message: str) -> set[str]:
        """Say which columns that are no numbers are true and false instead; refuse if there are others."""
        column = re.match(r"In CSV column #(\d+)", message)
        if column is None or int(column[1]) >= len(self.names):
            raise pa.ArrowInvalid(message)
        if "invalid UTF8" in message:
            refuse_encoding(self.packed.path, self.encoding)
        named = self.names[int(column[1])]
        odd = {name: kinds for name, kinds in self._kinds_of(numbers).items() if kinds - {Look.NUMBERS}}
        new = {name for name, kinds in odd.items() if kinds == {Look.TRUTH}} - self.truths
        if set(odd) <= self.truths | new and new:
            return new
        refuse_texts(self.packed.path, odd or {named: {Look.TEXT}}, self.separator)
        return set()

    def _kinds_of(self, names: Sequence[str]) -> dict[str, set[Look]]:
        """Return what kinds of values the columns hold."""
        found: dict[str, set[Look]] = {name: set() for name in names}
        for batch, _ in self.batches(dict.fromkeys(names, pa.string()), told_nulls=True):
            for name in names:
                found[name] |= kinds_in(batch.column(name), self.decimal)
        return found


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a file tell; UTF-8 if they tell none."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8")


def guessed_separator(path: str, text: str) -> str:
    """Return the separator that is in the first line, or refuse to guess between two.

    Where several may be meant, the one that gives all lines as many values as the first is taken. No value
    is looked at.
    """
    found = [mark for mark in SEPARATORS if _n_names(text, mark) > 1]
    if len(found) > 1:
        found = [mark for mark in found if _is_even(text, mark)]
        if len(found) != 1:
            raise InvalidParameterError(
                f"{path!r} has more than one mark in its first line that may stand between values. Say "
                "which it is: --separator ';' or --separator ',' (separator=';'), tab, or '|'."
            )
    return found[0] if found else ","


def _n_names(text: str, separator: str) -> int:
    """Return how many names a separator makes of the first line; none where one would be far too long."""
    try:
        return len(next(_lines(text, separator), []))
    except csv.Error:
        return 0


def _is_even(text: str, separator: str) -> bool:
    """Say whether all lines of the beginning have as many values; the last may not be complete."""
    lines = [line for line, _ in zip(_lines(text, separator), range(_MOST_LINES), strict=False) if line]
    complete = lines if len(lines) < 3 else lines[:-1]
    return len({len(line) for line in complete}) == 1


def _lines(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _check_names(path: str, names: list[str], encoding: str) -> None:
    if any("\ufffd" in name or "\0" in name for name in names):
        refuse_encoding(path, encoding)
    if not names:
        raise InvalidParameterError(f"{path!r} must begin with the names of its columns.")
    refuse_data_as_names(names, f"the first line of {path!r}", _ADD_NAMES)


def _after(n_rows: int, batches: Iterator[tuple[Any, float]]) -> Iterator[tuple[Any, float]]:
    """Leave out the first rows."""
    for batch, done in batches:
        left = min(n_rows, len(batch))
        n_rows -= left
        if left < len(batch):
            yield batch.slice(left), done
