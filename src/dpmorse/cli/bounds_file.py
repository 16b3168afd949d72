"""What --bounds says of the columns: a pair of numbers, or a file that was filled in by hand."""

import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpmorse import _atomic
from dpmorse.cli.column_entries import PLAIN, check_entries, described_columns, without_codes
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.records import READING_OPTIONS, Reading, listed
from dpmorse.schema import Column

_LARGEST_FILE = 1 << 20
"""Most bytes of a bounds file; a larger file is refused before it is parsed."""

_MOST_DOTS = 60
"""Most dots in a line. The time and memory of TOML's dotted keys grow with the square of their number."""


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
    return _of_content(repr(text), _read_file(text))


def _of_content(shown: str, content: dict[str, Any]) -> Bounds:
    """Read plain bounds as they are; any other form makes a schema of the whole file."""
    check_entries(shown, content["bounds"])
    entries, codes = without_codes(content["bounds"])
    reading = _reading(shown, content.get("file", {}), codes)
    if all(set(entry) == PLAIN for entry in entries.values()):
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
        content = tomllib.loads(data.decode())
    except ValueError as error:  # also what is not UTF-8, and what is not TOML
        raise InvalidParameterError(f"{shown} is not a TOML file: {str(error)[:120]!r}.") from None
    except RecursionError:
        raise InvalidParameterError(f"{shown} is not a bounds file.") from None
    _check_parts(shown, content)
    return content


def _check_parts(shown: str, content: Mapping[str, Any]) -> None:
    columns = content.get("bounds")
    tables = all(isinstance(part, dict) for part in content.values())
    if not tables or not columns or set(content) - {"bounds", "file"}:
        raise InvalidParameterError(
            f"{shown} must have a part [bounds] with the columns in it, and may have a part [file] that says "
            "how the data are written. `dpmorse bounds FILE` writes one."
        )


def _pair(shown: str, name: str, entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return the plain bounds of one column."""
    values = (entry["lower"], entry["upper"])
    if not all(type(value) in (int, float) and abs(value) < math.inf for value in values):
        raise InvalidParameterError(
            f"{shown} must have finite numbers as bounds of the column {name!r}: lower and upper."
        )
    try:
        return float(values[0]), float(values[1])
    except OverflowError:
        raise InvalidParameterError(
            f"{shown} has a bound of the column {name!r} that is too large."
        ) from None
