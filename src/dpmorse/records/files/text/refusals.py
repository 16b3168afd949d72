"""Refusals of files of text: what the columns look like, and the option that helps. They quote no value.

Units that a message names are those of a public list. Codes for missing values are whole values, so they are
not named here, but by ``dpmorse inspect``, which is for the holder of the data.
"""

import shlex
from collections.abc import Iterator, Mapping
from typing import NoReturn

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.files.reading import MARK_NAMES
from dpmorse.records.files.text.looks import MARKS, NUMBERS, Look, Seen, simplified

_NOT_SHOWN = "(Values are not shown: an error message is an output too.)"

_MENDED = frozenset({Look.COMMA, Look.POINT, Look.CODES, Look.UNITS, Look.SUMS, *MARKS})
"""Kinds of values that an option mends, or that are no values of the column."""


def refuse_texts(path: str, found: Mapping[str, Seen], separator: str) -> NoReturn:
    """Refuse all columns that are not numbers at once, by what is seen in them."""
    kinds = {name: simplified(seen.kinds) - NUMBERS for name, seen in found.items()}
    held = ", ".join(f"{name!r} ({' and '.join(sorted(of))})" for name, of in kinds.items())
    every = Seen(
        frozenset().union(*kinds.values()), units=frozenset().union(*(seen.units for seen in found.values()))
    )
    hints = []
    if len(kinds) == 1 and any("  " in name.strip() for name in kinds):
        hints.append("Are there blanks between its values? Save it as CSV, with commas or semicolons.")
    if len(kinds) == 1 and any(mark in name for name in kinds for mark in ";|:\t") and separator == ",":
        hints.append("Is its separator another one? Give it, such as --separator ';' (separator=';').")
    hints += _of_numbers(every)
    others = [name for name, of in kinds.items() if of - _MENDED]
    if others:
        hints.append(
            f"Leave columns out with {excluded(others)} (exclude={others!r}), or say what they are: "
            f"dpmorse inspect {shlex.quote(path)} -o schema.toml writes a file for --bounds to fill in."
        )
    raise InvalidParameterError(
        f"{path!r} must hold numbers in the columns that are clustered; these hold something else: {held}. "
        f"{' '.join(hints)} {_NOT_SHOWN}"
    )


def refuse_encoding(path: str, encoding: str, likely: str = "cp1252") -> NoReturn:
    """Refuse a file that is not written in the encoding that was taken."""
    of_windows = " for files of Windows in western languages, or utf-16" if likely == "cp1252" else ""
    raise InvalidParameterError(
        f"{path!r} is not written in {encoding.upper()}. Say how it is, such as --encoding {likely} "
        f"(encoding={likely!r}){of_windows}. {_found_by_inspect(path)}"
    )


class LinesAboveError(InvalidParameterError):
    """The first lines of a file have another number of values than those below."""

    def __init__(self, path: str, n_lines: int) -> None:
        super().__init__(
            f"{path!r} has more or fewer values in its first line than in most others: there seem to be "
            f"titles above the names of the columns. Leave them out with --skip {n_lines} (skip={n_lines}). "
            f"{_found_by_inspect(path)}"
        )
        self.n_lines = n_lines


def refuse_lines_below(path: str, n_lines: int) -> NoReturn:
    """Refuse a file in which the rows below the names are text where all others are numbers."""
    raise InvalidParameterError(
        f"{path!r} seems to have more than one line of names: what is below the first is text where all "
        f"other lines hold numbers. Leave it out with --skip-below {n_lines} (skip_below={n_lines})."
    )


def _found_by_inspect(path: str) -> str:
    return (
        f"`dpmorse inspect {shlex.quote(path)} -o schema.toml` finds this, and all else that the file needs."
    )


def excluded(names: list[str]) -> str:
    """Return the option that leaves columns out, to be pasted."""
    joined = [",".join(name for name in names if "," not in name), *(name for name in names if "," in name)]
    return " ".join(f"--exclude {shlex.quote(text)}" for text in joined if text)


def _of_numbers(seen: Seen) -> Iterator[str]:
    """Yield the options by which values that are numbers, or stand for none, are read."""
    for kind, mark in MARKS.items():
        if kind in seen.kinds:
            named = MARK_NAMES.get(mark, mark) + (" --decimal ," if mark == "." else "")
            yield f"For marks of thousands give --thousands {named} (thousands=)."
    removed = " ".join(f"--remove {shlex.quote(unit)}" for unit in sorted(seen.units))
    hints = {
        Look.COMMAS: "If they are decimal commas, give --decimal , instead.",
        Look.COMMA: "For decimal commas give --decimal , (decimal=',').",
        Look.POINT: "For decimal points leave --decimal out.",
        Look.UNITS: f"Have units removed from numbers: {removed} (remove=).",
        Look.CODES: "Name the codes for missing values with --na, such as --na '?' (na=['?']); `dpmorse "
        "inspect` finds them.",
        Look.SIGNED: "Texts that are no exact number can be read as missing: name each with --na (na=).",
        Look.SUMS: "Remove the line of sums, which is no record, from the file.",
    }
    yield from (hint for kind, hint in hints.items() if kind in seen.kinds)
