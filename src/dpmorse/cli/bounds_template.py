"""What is written into a bounds file: how to fill it in, how the data are written, an entry for a column."""

import os
from collections.abc import Mapping

from dpmorse.cli.column_entries import PLACEHOLDER
from dpmorse.cli.messages import printable
from dpmorse.records import READING_OPTIONS, Reading

HOW = """\
# Bounds of the columns of {name}, for: dpmorse fit {name} --bounds THIS-FILE ...
#
# Replace every "?" by what you know without looking at the data: what is possible, not what is there.
# Values outside are clipped. Generous bounds cost little; bounds that are read from the data break the
# promise to the people in it. Remove the columns that shall not be clustered, such as names and numbers of
# people. A column may also be described as one of these:
#
#   visits = {{ lower = 0, upper = 100, integer = true }}            whole numbers
#   status = {{ values = ["employed", "retired"] }}                  categories; others become "other"
#   grade  = {{ values = ["low", "mid", "high"], ordered = true }}   categories in order
#   smoker = {{ boolean = true }}                                    true and false, yes and no, 1 and 0
#   joined = {{ earliest = 2000-01-01, latest = 2030-01-01 }}        dates
#
# Missing values are refused, unless a column says missing = "ignore", or missing = "level", by which there
# can be clusters of missing values. na = [98, 99] names codes that stand for missing values in a column.

"""
"""The head of the template."""

BOUNDS = f'{{ lower = "{PLACEHOLDER}", upper = "{PLACEHOLDER}" }}'
VALUES = f'{{ values = "{PLACEHOLDER}" }}'
TRUTH = "{ boolean = true }"
DATES = f'{{ earliest = "{PLACEHOLDER}", latest = "{PLACEHOLDER}" }}'


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
    how = HOW.format(name=printable(os.path.basename(path)))
    return f"{how}{file_part(reading or Reading())}[bounds]\n{''.join(lines)}"


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
