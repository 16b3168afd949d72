"""What --bounds says of the columns: a pair of numbers, or a file that was filled in by hand.

Besides ``{ lower = 0, upper = 120 }`` a file has forms for whole numbers, categories, truth values and dates.
Plain bounds alone make no schema.
"""

import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpmorse import _atomic, _validate
from dpmorse.cli.toml_mistakes import explained
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.records import READING_OPTIONS, Reading, listed
from dpmorse.schema import KINDS, Column, Form, Schema

_LARGEST_FILE = 1 << 20
"""Most bytes of a bounds file; a larger file is refused before it is parsed."""

_MOST_DOTS = 60
"""Most dots in a line. The time and memory of TOML's dotted keys grow with the square of their number."""

_PLAIN = frozenset({"lower", "upper"})
"""The keys of plain bounds: where all columns have these alone, there is no schema."""

CODES = "na"
"""The key of codes for missing values: it says how a column is written, and is no part of a schema."""

_FORMS: dict[Form, type[Column]] = {kind.form: kind for kind in KINDS if kind.form is not None}
"""Ways to describe a column, and the kinds that have them."""

*_FIRST_EXAMPLES, _LAST_EXAMPLE = (form.example for form in _FORMS)

_FORMS_IN_WORDS = f"{', '.join(_FIRST_EXAMPLES)} or {_LAST_EXAMPLE}"


@dataclass(frozen=True)
class Bounds:
    """The value of --bounds: one pair for all columns, a pair for each of some columns, or a schema.

    A file may also say how the data are written.
    """

    everywhere: tuple[float, float] | None = None
    by_column: dict[str, tuple[float, float]] | None = None
    described: dict[str, Column] | None = None
    reading: Reading = field(default_factory=Reading)

    @property
    def names(self) -> list[str]:
        """The columns that have bounds of their own."""
        return list(self.described or self.by_column or {})

    def of(self, columns: Sequence[str]) -> Any:
        """Return the parameter ``bounds`` of an estimator for these columns; None where a schema has them."""
        if self.by_column is None:
            return self.everywhere
        self._check(columns)
        pairs = [self.by_column[name] for name in columns]
        return [lower for lower, _ in pairs], [upper for _, upper in pairs]

    def schema_of(self, columns: Sequence[str]) -> dict[str, Column] | None:
        """Return the parameter ``columns`` of an estimator; None where there are plain bounds only."""
        if self.described is None:
            return None
        self._check(columns)
        return {name: self.described[name] for name in columns}

    def _check(self, columns: Sequence[str]) -> None:
        missing = [name for name in columns if name not in self.names]
        if missing:
            raise InvalidParameterError(
                f"the bounds file must have bounds for every column; there are none for {listed(missing)}."
            )


def read_bounds(text: str) -> Bounds:
    """Read what was given as --bounds: "lo,hi", or the name of a bounds file."""
    pair = re.fullmatch(r"\s*([^,]+),([^,]+)\s*", text)
    if pair is not None and not os.path.exists(text):
        return Bounds(everywhere=(_number(pair[1]), _number(pair[2])))
    if os.path.isdir(text) or not os.path.exists(text):
        raise InvalidParameterError(
            f"--bounds must be two numbers with a comma between, or a file, got {text!r}. "
            "`dpmorse bounds FILE -o bounds.toml` writes a file to fill in."
        )
    shown, content = repr(text), _read_file(text)
    check_entries(shown, content["bounds"])
    entries, codes = _without_codes(content["bounds"])
    reading = _reading(shown, content.get("file", {}), codes)
    if all(set(entry) == _PLAIN for entry in entries.values()):  # any other form makes a schema of the file
        pairs = {name: _pair(shown, name, entry) for name, entry in entries.items()}
        return Bounds(by_column=pairs, reading=reading)
    return Bounds(described=described_columns(shown, entries), reading=reading)


def _reading(shown: str, content: Mapping[str, Any], codes: Mapping[str, Any]) -> Reading:
    """Read the part [file], which says how the data are written, and codes for missing values of columns."""
    unknown = [name for name in content if name not in READING_OPTIONS]
    if unknown:
        raise InvalidParameterError(
            f"{shown}, part [file], may have {', '.join(READING_OPTIONS)}; it has {listed(list(content))}."
        )
    try:
        return Reading.of(**content).or_else(Reading.of(na=codes))
    except DPMorseError as error:
        raise InvalidParameterError(f"{shown}, part [file]: {error}") from None


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidParameterError(
            f"--bounds must be two finite numbers such as 0,100, got {text.strip()!r}."
        )
    return value


def _read_file(path: str) -> dict[str, Any]:
    shown = repr(path)
    with open(path, "rb") as file:
        data = _atomic.read_bytes(file, _LARGEST_FILE)
    if len(data) > _LARGEST_FILE or any(line.count(b".") > _MOST_DOTS for line in data.split(b"\n")):
        raise InvalidParameterError(f"{shown} is larger than any bounds file, or is none.")
    try:
        text = data.decode("utf-8-sig")  # some editors begin a file with a mark
        content = tomllib.loads(text)
    except UnicodeDecodeError:
        raise InvalidParameterError(
            f"{shown} is not a TOML file, or not in UTF-8: save it as UTF-8 where it was written."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(explained(shown, text, str(error))) from None
    except RecursionError:
        raise InvalidParameterError(f"{shown} is not a bounds file.") from None
    tables = all(isinstance(part, dict) for part in content.values())
    if not tables or not content.get("bounds") or set(content) - {"bounds", "file"}:
        raise InvalidParameterError(
            f"{shown} must have a part [bounds] with the columns in it, and may have a part [file] that says "
            "how the data are written. `dpmorse bounds FILE` writes one."
        )
    return content


def _pair(shown: str, name: str, entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return the plain bounds of one column."""
    values = (entry["lower"], entry["upper"])
    if not all(type(value) in (int, float) and abs(value) < math.inf for value in values):
        raise InvalidParameterError(
            f"{shown} must have finite numbers as bounds of the column {name!r}: lower and upper, got "
            f"{_validate.describe(values[0])} and {_validate.describe(values[1])}. Write them without "
            "quotation marks, with a point before decimals, such as 37.5."
        )
    try:
        return float(values[0]), float(values[1])
    except OverflowError:
        raise InvalidParameterError(
            f"{shown} has a bound of the column {name!r} that is too large."
        ) from None


def check_entries(shown: str, entries: Mapping[str, Any]) -> None:
    """Refuse entries with wrong keys, and then a file that is not filled in, with all columns to fill in.

    ``shown`` is what messages call the file.
    """
    for name, entry in entries.items():
        _form(_where(shown, name), entry)
    filled, _ = _without_codes(entries)  # "?" is a common code
    to_fill = ("?", ["?"])  # neither a number nor a date, so that it cannot be used by mistake
    empty = [name for name, entry in filled.items() if any(value in to_fill for value in entry.values())]
    if empty:
        raise InvalidParameterError(
            f'{shown} is not filled in: replace each "?" by what you know without looking at the '
            f"data, or remove the column. Columns to fill in: {', '.join(map(repr, empty))}."
        )


def _without_codes(entries: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the entries say besides codes for missing values, and these codes by column."""
    rest = {name: {key: entry[key] for key in entry if key != CODES} for name, entry in entries.items()}
    return rest, {name: entry[CODES] for name, entry in entries.items() if CODES in entry}


def described_columns(shown: str, entries: Mapping[str, Any]) -> dict[str, Column]:
    """Return the schema's column for each entry; entries were checked before."""
    columns, where = {}, shown
    try:
        for name, entry in entries.items():
            where = _where(shown, name)
            columns[name] = _FORMS[_form(where, entry)].from_entry(**entry)
        where = shown
        Schema.of(columns)
    except DPMorseError as error:
        raise InvalidParameterError(f"{where}: {error}") from None
    return columns


def _form(where: str, entry: object) -> Form:
    """Find the form that an entry has by its keys."""
    if not isinstance(entry, dict):
        raise InvalidParameterError(
            f"{where} must be a table such as {_FORMS_IN_WORDS}, got {_validate.describe(entry)}."
        )
    form = next((form for form in _FORMS if set(form.needed) & set(entry)), None)
    if form is None:
        raise InvalidParameterError(
            f"{where} must say what the column is, by {_FORMS_IN_WORDS}; it has {_keys(list(entry))}."
        )
    absent = [key for key in form.needed if key not in entry]
    if absent:
        raise InvalidParameterError(f"{where} lacks {_keys(absent)}: write it such as {form.example}.")
    known = {*form.needed, *form.optional, "missing", "label", CODES}
    others = [key for key in entry if key not in known]
    if others:
        raise InvalidParameterError(
            f"{where} has {_keys(others)}, but a column such as {form.example} may have only "
            f"{', '.join(sorted(known))}.{_validate.did_you_mean(others[0], known)} Remove what does not "
            "belong there."
        )
    return form


def _where(shown: str, name: str) -> str:
    return f"{shown}, column {name!r}"


def _keys(names: list[str]) -> str:
    if not names:
        return "no key"
    return f"the key{'s' if len(names) > 1 else ''} {listed(names)}"
