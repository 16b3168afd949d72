"""Files of text with a line of names: the names, and rows in batches."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dpmorse import _atomic
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.files.batched_table import Asked, Part
from dpmorse.records.files.packed import PackedText
from dpmorse.records.files.reading import Reading
from dpmorse.records.files.text.looks import NULLS, odd_columns, seen_in_rows
from dpmorse.records.files.text.number_texts import numbers_in, texts_in
from dpmorse.records.files.text.refusals import (
    LinesAboveError,
    refuse_encoding,
    refuse_lines_below,
    refuse_texts,
)
from dpmorse.records.files.text.structure import (
    encoding_of,
    guessed_separator,
    lines_above,
    lines_of,
    stated_separator,
    without_lines,
)
from dpmorse.records.names import refuse_data_as_names

_LARGEST_HEADER = 1 << 20
"""Most bytes of a CSV file's first line. A compressed file could otherwise hold a line that fills the
memory."""

_BLOCK_BYTES = 8 << 20
"""Bytes of CSV text that are parsed at a time, which give about as many rows as a batch has."""

_ADD_NAMES = "Put a line with names above it."
"""The advice for a CSV file whose first line looks like a record."""


@dataclass(frozen=True)
class TextFile:
    """A table as text: where it is, its line of names, how it is written, and the lines above the names.

    In ``marked`` columns, which were asked for as numbers, something else was met: they are read as text, and
    each text as the number that it writes. Plain numbers are read as the same numbers either way.
    """

    packed: PackedText
    names: list[str]
    separator: str
    encoding: str
    reading: Reading
    skip: int = 0
    marked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def open(cls, packed: PackedText) -> "TextFile":
        """Read the line of names; how many values lines have tells whether it is one."""
        with packed.opened() as (stream, _):
            start = _atomic.read_bytes(stream, _LARGEST_HEADER)  # a packed file can hold an endless line
        path, reading = packed.path, packed.text_reading
        encoding = reading.encoding or encoding_of(start)
        text = start.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="replace")
        stated = stated_separator(text) if reading.skip is None else None
        skip = reading.skip or (stated is not None)
        below = without_lines(text, skip)
        usual = reading.separator or stated or ("\t" if packed.inner_name.endswith(".tsv") else None)
        above = lines_above(below, usual) if packed.reading.skip is None else 0
        if above:
            raise LinesAboveError(path, skip + above)
        separator = usual or guessed_separator(path, below)
        names = next(filter(None, lines_of(below, separator)), [])
        if len(start) > _LARGEST_HEADER and not re.search(r"[\r\n]", text):
            raise InvalidParameterError(f"the first line of {path!r} is too long for names of columns.")
        _check_names(path, names, encoding)
        return cls(packed, names, separator, encoding, reading, skip)

    def parts(self, asked: Asked) -> Iterator[Part]:
        """Yield rows: numbers, and others as text; true and false are numbers, too.

        Only values can tell which columns hold plain numbers. When another one is met, reading goes on where
        it was, with its column as text.
        """
        n_read = 0
        while True:
            kinds = {name: self._kind(name, asked) for name in (*asked.others, *asked.numbers)}
            try:
                for batch, done in _after(n_read, self.batches(kinds, told_nulls=not asked.raw)):
                    part = self._as_asked(batch, asked)
                    n_read += len(batch)
                    yield part, done
            except pa.ArrowInvalid as error:
                message = str(error)  # told below, where no error is chained: it quotes a value
            else:
                return
            self.marked.add(self._newly_marked(message))

    def batches(self, kinds: Mapping[str, Any], *, told_nulls: bool) -> Iterator[Part]:
        """Yield rows of columns in these types, and how much was read."""
        with self.packed.opened() as (stream, fraction), self._reader(stream, kinds, told_nulls) as reader:
            for batch in reader:
                yield batch, fraction()

    def _reader(self, stream: Any, kinds: Mapping[str, Any], told_nulls: bool) -> Any:
        below = self.reading.skip_below or 0
        return pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(
                block_size=_BLOCK_BYTES,
                encoding=self.encoding,
                skip_rows=self.skip,
                skip_rows_after_names=below,
            ),
            parse_options=pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict(kinds),
                include_columns=list(kinds),
                strings_can_be_null=told_nulls,
                null_values=self._nulls,
                decimal_point=self.reading.sign,
            ),
        )

    @property
    def _nulls(self) -> list[str]:
        return [*NULLS, *self.reading.nulls]

    def _as_asked(self, batch: Any, asked: Asked) -> Any:
        """Return the columns in order, with numbers for texts that write them."""
        columns = {name: batch.column(name) for name in asked.columns}
        columns |= {name: texts_in(of) for name, of in columns.items() if pa.types.is_binary(of.type)}
        texts = [name for name in asked.numbers if pa.types.is_string(columns[name].type)]
        read = {name: numbers_in(columns[name], self.reading, self._nulls) for name in texts}
        odd = [name for name in texts if pc.any(pc.is_inf(read[name])).as_py()]
        if not set(odd) <= set(asked.lenient):
            strict = [name for name in asked.numbers if name not in asked.lenient]
            seen, n_above = seen_in_rows(self.as_texts(strict), self.reading)
            if n_above:
                refuse_lines_below(self.packed.path, (self.reading.skip_below or 0) + n_above)
            if refused := odd_columns(seen):  # infinity is left to those who asked
                refuse_texts(self.packed.path, refused, self.separator)
        nothing = pa.scalar(None, pa.float64())
        for name in set(odd) & set(asked.lenient):
            read[name] = pc.if_else(pc.is_inf(read[name]), nothing, read[name])
        return pa.RecordBatch.from_pydict(columns | read)

    def _kind(self, name: str, asked: Asked) -> Any:
        """Return the type in which a column is read: bytes, where those that are no text are missing."""
        if name in asked.numbers and self.reading.plain_numbers and name not in self.marked:
            return pa.float64()
        return pa.binary() if name in asked.lenient else pa.string()

    def _newly_marked(self, message: str) -> str:
        """Return the column that pyarrow could not read as plain numbers, if that is what it says."""
        column = re.match(r"In CSV column #(\d+)", message)
        if column is None or int(column[1]) >= len(self.names):
            raise pa.ArrowInvalid(message)
        if "invalid UTF8" in message:
            refuse_encoding(self.packed.path, self.encoding)
        name = self.names[int(column[1])]
        if name in self.marked:
            raise pa.ArrowInvalid(message)
        return name

    def as_texts(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield rows of columns as text, missing where that is so by the codes that are known."""
        kinds = dict.fromkeys(names, pa.string())
        yield from (batch for batch, _ in self.batches(kinds, told_nulls=True))


def _check_names(path: str, names: list[str], encoding: str) -> None:
    if any("\ufffd" in name or "\0" in name for name in names):
        refuse_encoding(path, encoding, "utf-16-le" if any("\0" in name for name in names) else "cp1252")
    if not names:
        raise InvalidParameterError(f"{path!r} must begin with the names of its columns.")
    refuse_data_as_names(names, f"the first line of {path!r}", _ADD_NAMES)


def _after(n_rows: int, batches: Iterator[Part]) -> Iterator[Part]:
    """Leave out the first rows."""
    for batch, done in batches:
        left = min(n_rows, len(batch))
        n_rows -= left
        if left < len(batch):
            yield batch.slice(left), done
