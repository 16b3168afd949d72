"""What is written into a bounds file: how to fill it in, how the data are written, an entry for a column."""

import os
from collections.abc import Iterable

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


def line_of(name: str, entry: str) -> str:
    """Return the line of a column."""
    return f"{quoted(name)} = {entry}\n"


def template(path: str, columns: Iterable[str], reading: Reading) -> str:
    """Return a bounds file for a data file: the lines of its columns, and for ``fit`` how it is written."""
    kinds = [line for kind in KINDS if kind.form is not None for line in kind.form.lines]
    longest, widest = (max(len(line[i]) for line in kinds) for i in (0, 1))
    shown = (f"#   {name:{longest}} = {entry:{widest}}   {meaning}\n" for name, entry, meaning in kinds)
    head = _HEAD.format(name=printable(os.path.basename(path)), kinds="".join(shown))
    told = {name: value for name, value in reading.told.items() if name in READING_OPTIONS}
    options = "".join(f"{name} = {in_toml(value)}\n" for name, value in told.items())
    file_part = f"[file]\n{options}\n" if options else ""
    return f"{head}{file_part}[bounds]\n{''.join(columns)}"


def in_toml(value: str | int | tuple[str, ...]) -> str:
    """Write an option as TOML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(quoted, value))}]"
    return quoted(value) if isinstance(value, str) else str(value)


def quoted(name: str) -> str:
    """Write a name as a TOML string; control characters are escaped."""
    marked = name.replace("\\", r"\\").replace('"', r"\"")
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in marked) + '"'
