"""What a file is like, for the holder of its records: flags about its columns, never a value or a count.

The flags are read off the records and are not private. Codes for missing values are those of public lists.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.records.files.batched_table import Asked, is_number, is_text
from dpmorse.records.files.data_file import DataFile, problems_told
from dpmorse.records.files.reading import Reading
from dpmorse.records.files.remote import is_address, remote_file
from dpmorse.records.files.text.guesses import guessed_encoding, guessed_reading
from dpmorse.records.files.text.looks import NULLS, NUMBER_CODES, Look, Seen, seen_in, simplified
from dpmorse.records.files.text.number_texts import without_marks
from dpmorse.records.files.text.refusals import LinesAboveError
from dpmorse.typing import FloatArray

_APART = 3
"""A large number is taken for a code if it is this many times the largest of all others."""

_LAST_ANSWER = 6
"""Up to here the answers of a survey are counted; 7, 8 and 9 behind a gap are codes."""

_POSITIVE_CODES = {f"{code:g}" for code in NUMBER_CODES if code > 0}
"""Codes that may be an age or a count in another column, or in another file."""

_NO_VALUES = frozenset({Look.CODES, Look.SUMS})
"""Kinds of texts that stand among values and are none."""

_FEW_ROWS = 20
"""With fewer rows nothing is said about values that occur once."""

_MANY_TEXTS = 50
"""More different texts than these are no list of categories."""

_SOME_TEXTS = 5
"""Of more different texts than these most recur if they are categories; names and free text mostly do not."""

_ANSWERS = 12
"""Different values that the answers to a question may have; ids of people have more, ..."""

_PER_ANSWER = 10
"""... or fewer rows for each than these."""

_MOST_KEPT = 100_000
"""Values that are compared with one another to find those that occur twice."""


@dataclass(frozen=True)
class ColumnFacts:
    """Flags about a column: its kinds of values, and what may make it unfit for clustering."""

    kinds: frozenset[Look]
    whole: bool
    binary: bool
    missing: bool
    constant: bool
    counts_rows: bool
    distinct: bool
    repeated: bool
    few_values: bool
    many_texts: bool
    codes: tuple[str, ...]
    not_codes: tuple[str, ...]
    sums: bool
    three_decimals: bool


@dataclass(frozen=True)
class FileFacts:
    """What is found in a file: how it is written, beside what is known without options, and its columns."""

    data: DataFile
    reading: Reading
    columns: dict[str, ColumnFacts]


def inspected(path: str, told: Reading) -> FileFacts:
    """Read a file once or twice, and say what it is like."""
    path = remote_file(path) if is_address(path) else path
    told = replace(told, encoding=told.encoding or guessed_encoding(path))
    try:
        data = DataFile.open(path, told)
    except LinesAboveError as error:  # titles above the names are left out
        data = DataFile.open(path, replace(told, skip=error.n_lines))
    if data.text is not None:
        with problems_told(path):
            guess = guessed_reading(data.text)
        data = DataFile.open(path, guess)
    watches = {name: _Watch(name, data.reading) for name in data.names}
    for batch, _ in data.parts(
        Asked([], data.names, raw=True)
    ):  # text as text, in which nothing is missing yet
        for name in data.names:
            watches[name].see(batch.column(name))
    columns = {name: watch.facts() for name, watch in watches.items()}
    return FileFacts(data, _reading(data, columns), columns)


def _reading(data: DataFile, columns: dict[str, ColumnFacts]) -> Reading:
    """Return the options that this file needs; codes that may be values elsewhere go by column."""
    orders = {kind for facts in columns.values() for kind in facts.kinds} & {Look.DAY_FIRST, Look.MONTH_FIRST}
    found = {Look.DAY_FIRST: "day-first", Look.MONTH_FIRST: "month-first"}
    values = {code for facts in columns.values() for code in facts.not_codes} | _POSITIVE_CODES
    every = dict.fromkeys(code for facts in columns.values() for code in facts.codes if code not in values)
    single = {name: tuple(code for code in facts.codes if code in values) for name, facts in columns.items()}
    return replace(
        data.reading,
        separator=data.text.separator if data.text is not None and data.text.separator != "," else None,
        na=tuple(dict.fromkeys([*data.reading.na, *every])),
        na_of={**data.reading.na_of, **{name: codes for name, codes in single.items() if codes}},
        dates=data.reading.dates or (found[orders.pop()] if len(orders) == 1 else None),
    )


@dataclass
class _Watch:
    """What has been seen of one column. Values that are kept here leave it as flags."""

    name: str
    reading: Reading
    seen: Seen = field(default_factory=Seen)
    missing: bool = False
    n_rows: int = 0
    whole: bool = True
    binary: bool = True
    counts_rows: bool = True
    repeated: bool = False
    decimals: set[int] = field(default_factory=set)
    _once: dict[Any, bool] = field(default_factory=dict)
    _last: float | None = None
    _number_codes: set[float] = field(default_factory=set)
    _other_negative: bool = False
    _largest_other: float = -np.inf

    def see(self, column: Any) -> None:
        """Look at some rows."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        present = self._present(column)
        self.missing |= len(present) < len(column)
        self.n_rows += len(column)
        self.seen |= self._seen(present)
        self._see_values(present)
        numbers = self._numbers(present)
        self.counts_rows &= len(numbers) == len(column) and self._counts_on(numbers)
        self._see_numbers(numbers)

    def facts(self) -> ColumnFacts:
        """Return the flags."""
        kinds, few = simplified(self.seen.kinds), self.n_rows < _FEW_ROWS
        likely = self._likely_codes() if not self.counts_rows else set()
        return ColumnFacts(
            kinds=frozenset(kinds - _NO_VALUES or kinds),
            whole=self.whole,
            binary=self.binary and Look.NUMBERS in kinds,
            missing=self.missing or bool(likely),
            constant=len(self._once) < 2 and self.n_rows > 1,
            counts_rows=self.counts_rows and not few,
            distinct=not (self.repeated or few),
            repeated=self.repeated,
            few_values=len(self._once) <= min(_ANSWERS, self.n_rows / _PER_ANSWER),
            many_texts=self._many_texts,
            codes=tuple(sorted(likely)),
            not_codes=tuple(sorted({f"{code:g}" for code in self._number_codes} - likely)),
            sums=Look.SUMS in kinds,
            three_decimals=bool(self.decimals) and self.decimals <= {3},
        )

    @property
    def _many_texts(self) -> bool:
        """Whether the values are too many for a list, or most of them occur once."""
        n_once = sum(self._once.values())
        return len(self._once) > _MANY_TEXTS or (
            len(self._once) > _SOME_TEXTS and 2 * n_once > len(self._once)
        )

    def _present(self, column: Any) -> Any:
        """Leave out what is missing, also by the codes that were told."""
        column = column.drop_null()
        if not is_text(column.type):
            return column
        trimmed = without_marks(column, self.reading)
        codes = pa.array([*NULLS, *self.reading.texts_of(self.name)], trimmed.type)
        return trimmed.filter(pc.invert(pc.is_in(trimmed, value_set=codes)))

    def _seen(self, present: Any) -> Seen:
        kind = present.type
        if is_text(kind):
            # how many decimals numbers have, 0 standing for another form: three may be thousands
            sign = re.escape(self.reading.sign)
            signed = present.filter(pc.match_substring_regex(present, rf"^[+-]?\d*{sign}\d*$"))
            grouped = pc.match_substring_regex(signed, rf"^[+-]?[1-9]\d{{0,2}}{sign}\d{{3}}$")
            self.decimals |= {3 if is_grouped else 0 for is_grouped in pc.unique(grouped).to_pylist()}
            return seen_in(present, self.reading.sign)
        if pa.types.is_boolean(kind):
            return Seen(frozenset({Look.TRUTH}))
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return Seen(frozenset({Look.DATES}))
        return Seen(frozenset({Look.NUMBERS if is_number(kind) else Look.TEXT}))

    def _see_values(self, present: Any) -> None:
        """Notice which values occur twice; many values are not kept once one has."""
        try:
            counted = pc.value_counts(present)
        except pa.ArrowNotImplementedError:  # lists, structures and the like
            return
        self.repeated |= len(counted) < len(present)
        if not self.repeated or len(self._once) <= _MANY_TEXTS:
            new = counted.slice(0, _MANY_TEXTS + 2 if self.repeated else _MOST_KEPT)
            values, times = (new.field(name).to_pylist() for name in ("values", "counts"))
            self.repeated |= any(value in self._once for value in values)
            if len(self._once) < _MOST_KEPT:
                once = [n == 1 and value not in self._once for value, n in zip(values, times, strict=True)]
                self._once.update(zip(values, once, strict=True))

    def _numbers(self, present: Any) -> FloatArray:
        """Return those that are numbers; text that is none is left out."""
        if is_text(present.type):
            points = pc.replace_substring(present, self.reading.sign, ".")
            present = points.filter(
                pc.match_substring_regex(points, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
            )
            present = pc.replace_substring_regex(present, r"^\+", "")
        elif not is_number(present.type) or pa.types.is_boolean(present.type):
            return np.empty(0)
        numbers = np.asarray(present.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        kept: FloatArray = numbers[
            np.isfinite(numbers) & ~np.isin(numbers, self.reading.numbers_of(self.name))
        ]
        return kept

    def _counts_on(self, numbers: FloatArray) -> bool:
        """Say whether each number is the next after the one before."""
        if not len(numbers):
            return True
        before = numbers[0] - 1 if self._last is None else self._last
        self._last = float(numbers[-1])
        return bool((np.diff(numbers, prepend=before) == 1).all())

    def _see_numbers(self, numbers: FloatArray) -> None:
        is_code = np.isin(numbers, NUMBER_CODES)
        self._number_codes |= set(numbers[is_code].tolist())
        others = numbers[~is_code]
        self._other_negative |= bool((others < 0).any())
        self._largest_other = max(self._largest_other, float(others.max(initial=-np.inf)))
        self.whole &= bool((others % 1 == 0).all())
        self.binary &= bool(np.isin(others, (0, 1)).all())

    def _likely_codes(self) -> set[str]:
        """Return the codes that are apart from all other numbers, and codes among numbers that are text."""
        kinds = self.seen.kinds
        apart = {code for code in self._number_codes if self._is_apart(code)}
        in_numbers = {f"{code:g}" for code in apart if Look.NUMBERS in kinds}
        in_text = self.seen.codes if kinds - _NO_VALUES and Look.TEXT not in kinds else set()
        return in_numbers | in_text

    def _is_apart(self, code: float) -> bool:
        """Say whether a number is far from all others, or behind a gap in the answers of a survey."""
        if code < 0:
            return not self._other_negative
        behind_gap = self.whole and 0 <= self._largest_other <= min(_LAST_ANSWER, code - 2)
        return 0 <= self._largest_other * _APART <= code or behind_gap
