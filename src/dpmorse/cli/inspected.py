"""What ``dpmorse inspect`` says of a file: in words, and as a bounds file to be checked and filled in."""

import os
import shlex
from collections.abc import Mapping

from dpmorse.cli.bounds_template import BOUNDS, DATES, HOW, TRUTH, VALUES, file_part, quoted
from dpmorse.cli.messages import printable
from dpmorse.cli.options import in_options
from dpmorse.records import ColumnFacts, FileFacts, Look, reason_of_name

FOR_HOLDER = (
    "For the holder of the data: what follows is read off the records. It is NOT private, and not for "
    "publication."
)
"""The first line of the output."""

_HEAD = """\
# Written by `dpmorse inspect` for the holder of {name}. It is read off the records: it is NOT private,
# and not for publication. It holds no value of a record, and no minimum, maximum or number of them.
#
# Check every line. Which columns are used, what they are and whether values may be missing goes into the
# model, which is published: keep what you would also say without having seen the records, from the form or
# the code book.
#
"""

_Verdict = tuple[str | None, str]
"""What is written for a column, None if it is left out; and what it looks like, in words."""

_FORMS = {
    Look.TRUTH: TRUTH,
    Look.DATES: DATES,
    **dict.fromkeys((Look.DAY_FIRST, Look.MONTH_FIRST, Look.EITHER_FIRST), DATES),
}
"""Forms of columns that have one kind of values, by that kind."""


def in_words(facts: FileFacts, output: str | None) -> str:
    """Return what is found, a line for each column, and what to do next."""
    path = facts.data.path
    verdicts = {name: _verdict(name, column) for name, column in facts.columns.items()}
    width = max(len(_shown(name)) for name in verdicts)
    lines = [
        f"  {_shown(name).ljust(width)}  {'used' if entry else 'left out'.ljust(4)}: {looks_like}"
        for name, (entry, looks_like) in verdicts.items()
    ]
    schema = output or "schema.toml"
    more = "" if output else f" -o {schema}"
    steps = [f"dpmorse inspect {shlex.quote(path)}{more} writes a file to fill in; then:"] if more else []
    return "\n".join(
        [FOR_HOLDER, "", f"{path!r} {_written(facts)}", "", *lines, "", *_options(facts), *steps]
        + (
            [f'Check {schema!r}, and replace each "?" by what you know without the data; then:']
            if output
            else []
        )
        + [f"  dpmorse fit {shlex.quote(path)} --bounds {shlex.quote(schema)} --epsilon 1 -o model.json"]
    )


def schema_file(facts: FileFacts) -> str:
    """Return the bounds file, in which bounds and lists are left to be filled in."""
    name = printable(os.path.basename(facts.data.path))
    verdicts: Mapping[str, _Verdict] = {
        name: _verdict(name, column) for name, column in facts.columns.items()
    }
    lines = [
        f"{quoted(name)} = {entry}\n" if entry else f"# left out: {quoted(name)}, {looks_like}\n"
        for name, (entry, looks_like) in verdicts.items()
    ]
    head = _HEAD.format(name=name) + HOW.format(name=name)
    return f"{head}{file_part(facts.reading)}[bounds]\n{''.join(lines)}"


def _written(facts: FileFacts) -> str:
    text = facts.data.text
    if text is None:
        return "states the types of its columns."
    decimal = "comma" if text.decimal == "," else "point"
    separator = {"\t": "tab"}.get(text.separator, text.separator)
    return (
        f"has names in its first line; separator {separator!r}, encoding {text.encoding.upper()}, decimal "
        f"{decimal}."
    )


def _options(facts: FileFacts) -> list[str]:
    options = in_options(facts.reading)
    return (
        [f"Options for fit and predict (a schema file has them, for fit): {options}", ""] if options else []
    )


def _verdict(name: str, facts: ColumnFacts) -> _Verdict:
    """Judge a column."""
    reason = reason_of_name(name)
    if reason is not None:
        return None, reason
    unfit = _unfit(facts)
    if unfit is not None:
        return None, unfit
    entry, words = _form(facts)
    if entry is None or not facts.missing:
        return entry, words
    codes = ", ".join(repr(code) for code in facts.codes)
    said = f"; {codes} may be a code for missing values" if codes else ""
    return entry.replace(" }", ', missing = "ignore" }'), f"{words}; values are missing{said}"


def _unfit(facts: ColumnFacts) -> str | None:
    """Say why a column seems to be no data."""
    numbers, text = facts.kinds == {Look.NUMBERS}, Look.TEXT in facts.kinds
    if facts.constant:
        return "the same value everywhere, or none"
    if facts.counts_rows:
        return "whole numbers that count the rows"
    if facts.distinct and (text or (numbers and facts.whole)):
        return "no two values alike: likely ids, or names"
    return (
        "text with many different values: likely free text, names or ids"
        if text and facts.many_texts
        else None
    )


def _form(facts: ColumnFacts) -> _Verdict:
    """Return the form of a column that is data, and its kind in words."""
    words = " and ".join(sorted(facts.kinds))
    if facts.kinds == {Look.NUMBERS}:
        if facts.binary:
            return TRUTH, "0 and 1"
        return BOUNDS, "whole numbers" if facts.whole else "numbers"
    if len(facts.kinds) == 1 and facts.kinds <= _FORMS.keys():
        return _FORMS[next(iter(facts.kinds))], words
    if Look.TEXT in facts.kinds:
        return VALUES, "text: categories"
    return (
        None,
        f"{words}: mend the values where the file is written, or name texts that mean missing with --na",
    )


def _shown(name: str) -> str:
    return printable(name) or "''"
