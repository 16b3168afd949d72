"""Refusals of files of text: what the columns look like, and the option that helps. They quote no value."""

import shlex
from collections.abc import Iterator, Mapping

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.looks import Look, simplified

_NOT_SHOWN = "(Values are not shown: an error message is an output too.)"


def refuse_texts(path: str, found: Mapping[str, set[Look]], separator: str) -> None:
    """Refuse all columns that are not numbers at once.

    Parameters
    ----------
    path : str
        The file.
    found : mapping
        The columns, and what kinds of values are in them.
    separator : str
        What is between values.
    """
    kinds = {name: simplified(of) - {Look.NUMBERS} for name, of in found.items()}
    held = ", ".join(f"{name!r} ({' and '.join(sorted(of))})" for name, of in kinds.items())
    raise InvalidParameterError(
        f"{path!r} must hold numbers in the columns that are clustered; these hold something else: {held}. "
        f"{' '.join(_hints(path, kinds, separator))} {_NOT_SHOWN}"
    )


def refuse_encoding(path: str, encoding: str) -> None:
    """Refuse a file that is not written in the encoding that was taken."""
    raise InvalidParameterError(
        f"{path!r} is not written in {encoding.upper()}. Say how it is, such as --encoding cp1252 "
        "(encoding='cp1252') for files of Windows in western languages, or utf-16. `dpmorse inspect` "
        "guesses it."
    )


def excluded(names: list[str]) -> str:
    """Return the option that leaves columns out, to be pasted."""
    joined = [",".join(name for name in names if "," not in name), *(name for name in names if "," in name)]
    return " ".join(f"--exclude {shlex.quote(text)}" for text in joined if text)


def _hints(path: str, kinds: Mapping[str, set[Look]], separator: str) -> Iterator[str]:
    """Yield the steps that help, the likeliest first."""
    every = set().union(*kinds.values())
    if len(kinds) == 1 and any(mark in name for name in kinds for mark in ";|:\t") and separator == ",":
        yield "Is its separator another one? Give it, such as --separator ';' (separator=';')."
    if Look.COMMA in every:
        yield "For decimal commas give --decimal , (decimal=',')."
    if Look.POINT in every:
        yield "For decimal points leave --decimal out."
    if Look.THOUSANDS in every:
        yield "Write the numbers without marks of thousands; if they are decimal commas, give --decimal ,"
    if Look.CODES in every:
        yield "Name the codes for missing values with --na, such as --na '?' (na=['?'])."
    if Look.SIGNED in every:
        yield "Texts that are no exact number can be read as missing values: name each with --na (na=)."
    others = [name for name, of in kinds.items() if of - {Look.COMMA, Look.POINT, Look.CODES}]
    if others:
        yield (
            f"Leave columns out with {excluded(others)} (exclude={others!r}), or say what they are: "
            f"dpmorse inspect {shlex.quote(path)} -o schema.toml writes a file for --bounds to fill in."
        )
