"""What is written into a bounds file: how to fill it in, how the data are written, an entry for a column."""

import os
from collections.abc import Mapping

from dpmorse.cli.messages import printable
from dpmorse.records import READING_OPTIONS, Reading
from dpmorse.schema import KINDS

_HEAD = """\
# Bounds of the columns of {name}, for: dpmorse fit {name} --bounds THIS-FILE ...
#
# Replace every "?" by what you know without looking at the data: what is possible, not what is there.
# Values outside are clipped. Generous bounds cost little; bounds that are read from the data break the
# promise to the people in it. Remove the columns that shall not be clustered, such as names and numbers of
# people. A column may also be described as one of these:
#
{kinds}#
# Missing values are refused, unless a column says missing = "ignore", or missing = "level", by which there
# can be clusters of missing values. na = [98, 99] names codes that stand for missing values in a column.

"""
"""The head of a template; the lines of all kinds of columns are put into it."""


def empty_entry(stored_as: str) -> str:
    """Return what a template has for a column whose values are numbers, text, booleans or dates."""
    return next(form.empty for kind in KINDS if kind.stored_as == stored_as and (form := kind.form))


def head_of(name: str) -> str:
    """Return the head of a template for a file."""
    lines = [line for kind in KINDS if kind.form is not None for line in kind.form.lines]
    longest, widest = (max(len(line[i]) for line in lines) for i in (0, 1))
    kinds = (f"#   {name:{longest}} = {entry:{widest}}   {meaning}\n" for name, entry, meaning in lines)
    return _HEAD.format(name=name, kinds="".join(kinds))


def template(path: str, entries: Mapping[str, str], reading: Reading | None = None) -> str:
    """Return a bounds file.

    Parameters
    ----------
    path : str
        The data file that it is for.
    entries : mapping
        Its columns, and what is written for each.
    reading : Reading, optional
        What was said of how it is written, to be said to ``fit`` as well.
    """
    lines = (f"{quoted(name)} = {entry}\n" for name, entry in entries.items())
    head = head_of(printable(os.path.basename(path)))
    return f"{head}{file_part(reading or Reading())}[bounds]\n{''.join(lines)}"


def file_part(reading: Reading) -> str:
    """Return the part of a bounds file that says how the data are written, if there is anything to say."""
    told = {name: value for name, value in reading.told.items() if name in READING_OPTIONS}
    lines = [f"{name} = {in_toml(value)}\n" for name, value in told.items()]
    return f"[file]\n{''.join(lines)}\n" if lines else ""


def in_toml(value: str | int | tuple[str, ...]) -> str:
    """Write an option as TOML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(quoted, value))}]"
    return quoted(value) if isinstance(value, str) else str(value)


def quoted(name: str) -> str:
    """Write a name as a TOML string; control characters are escaped."""
    return '"' + "".join(_escaped(character) for character in name) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
