"""Bounds of columns: the template that is filled in by hand, and how it is read."""

import math
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpmorse import _atomic
from dpmorse.cli.messages import printable
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records import listed

_PLACEHOLDER = "?"
"""What stands in the template for a bound that must be filled in. It is no number, so that it cannot be used
by mistake."""

_LARGEST_FILE = 1 << 20
"""Most bytes of a bounds file; a larger file is refused before it is parsed."""

_MOST_DOTS = 60
"""Most dots in a line. The time and memory of TOML's dotted keys grow with the square of their number."""

_HOW = """\
# Bounds of the columns of {name}, for: dpmorse fit {name} --bounds THIS-FILE ...
#
# Replace every "?" by a number that you know without looking at the data: what is possible, not what is
# there. Values outside are clipped. Generous bounds cost little; bounds that are read from the data break
# the promise to the people in it. Remove the columns that shall not be clustered.

[bounds]
"""
"""The head of the template."""


@dataclass(frozen=True)
class Bounds:
    """The value of --bounds: one pair for all columns, or a pair for each of some columns."""

    everywhere: tuple[float, float] | None = None
    by_column: dict[str, tuple[float, float]] | None = None

    @property
    def names(self) -> list[str]:
        """The columns that have bounds of their own."""
        return list(self.by_column or {})

    def of(self, columns: Sequence[str]) -> Any:
        """Return the parameter ``bounds`` of an estimator for these columns."""
        if self.by_column is None:
            return self.everywhere
        missing = [name for name in columns if name not in self.by_column]
        if missing:
            raise InvalidParameterError(
                f"the bounds file must have bounds for every column; there are none for {listed(missing)}."
            )
        pairs = [self.by_column[name] for name in columns]
        return [lower for lower, _ in pairs], [upper for _, upper in pairs]


def template(path: str, columns: Sequence[str]) -> str:
    """Return a bounds file with nothing filled in."""
    name = printable(os.path.basename(path))
    lines = (
        f'{_quoted(column)} = {{ lower = "{_PLACEHOLDER}", upper = "{_PLACEHOLDER}" }}\n'
        for column in columns
    )
    return _HOW.format(name=name) + "".join(lines)


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
    return Bounds(by_column=_read_file(text))


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


def _read_file(path: str) -> dict[str, tuple[float, float]]:
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
    columns = content.get("bounds")
    if set(content) != {"bounds"} or not isinstance(columns, dict) or not columns:
        raise InvalidParameterError(
            f"{shown} must have one part [bounds] with the columns in it. `dpmorse bounds FILE` writes one."
        )
    return {name: _pair(shown, name, entry) for name, entry in columns.items()}


def _pair(shown: str, name: str, entry: object) -> tuple[float, float]:
    """Return the bounds of one column."""
    if not isinstance(entry, dict) or set(entry) != {"lower", "upper"}:
        raise InvalidParameterError(
            f"{shown} must say {{ lower = ..., upper = ... }} for the column {name!r}, and nothing else."
        )
    values = (entry["lower"], entry["upper"])
    if _PLACEHOLDER in values:
        raise InvalidParameterError(
            f'{shown} is not filled in: replace the "{_PLACEHOLDER}" of the column {name!r} by what you know '
            "without looking at the data, or remove the column."
        )
    if not all(type(value) in (int, float) and abs(value) < math.inf for value in values):
        raise InvalidParameterError(f"{shown} must have finite numbers as bounds of the column {name!r}.")
    try:
        return float(values[0]), float(values[1])
    except OverflowError:
        raise InvalidParameterError(
            f"{shown} has a bound of the column {name!r} that is too large."
        ) from None


def _quoted(name: str) -> str:
    """Write a name as a TOML string; control characters are escaped."""
    return '"' + "".join(_escaped(character) for character in name) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
