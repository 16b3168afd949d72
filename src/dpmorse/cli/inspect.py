"""``dpmorse inspect``: what a file is like, for the holder of the data, before anything is spent.

It is said in words, and as a bounds file to be checked and filled in.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import typer

from dpmorse.cli.bounds_file import CODES, read_bounds
from dpmorse.cli.bounds_template import empty_entry, in_toml, line_of, quoted, template
from dpmorse.cli.cuts import cuts_in_words
from dpmorse.cli.data_source import inputs, open_data
from dpmorse.cli.messages import printable, reports_mistakes, say, shortened
from dpmorse.cli.options import DataArgument, ForceOption
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.cli.reading_options import in_options, takes_reading
from dpmorse.records import (
    ID,
    ColumnFacts,
    FileFacts,
    Look,
    Reading,
    inspected,
    listed,
    reason_of_name,
    reason_of_texts,
)

_FOR_HOLDER = (
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

_WIDEST_NAME = 40
"""Characters of a name in the list of columns; longer ones are cut there."""


@dataclass(frozen=True)
class _Verdict:
    """What is thought of a column."""

    entry: str | None
    """Its form in the schema file; None if it has none."""

    looks_like: str
    """What it looks like, or why it is left out, in words."""

    used: bool
    """Whether it seems to be data."""

    owners: bool = False
    """Whether it seems to say whose a row is, for several rows of one person."""

    def line(self, name: str) -> str:
        """Return the line of the schema file; without the mark in front, one that is left out is used."""
        if self.used:
            return line_of(name, str(self.entry))
        entry = "" if self.entry is None else f" = {self.entry}"
        return f"# {quoted(name)}{entry}  # left out: {self.looks_like}\n"


_WHOLE = empty_entry("number").replace(" }", ", integer = true }")
"""The form of whole numbers."""

_FORMS = {
    Look.TRUTH: empty_entry("boolean"),
    **dict.fromkeys((Look.DATES, Look.DAY_FIRST, Look.MONTH_FIRST, Look.EITHER_FIRST), empty_entry("date")),
}
"""Forms of columns that have one kind of values, by that kind."""

_ONE_MARK = (
    "the same value in some rows and nothing in the others, as a cross on a form: if the cross means yes, "
    "put yes in its place and no where there is nothing, and inspect the file again"
)
"""What is said of a column with one value and gaps."""

_MEND = "write all of them in one way to use them"
_ADVICE = {
    Look.TIMES: "write them as a number of hours to use them",
    Look.SHORT_DATES: "write years with four digits to use them",
    Look.SIGNED: "name each text with a sign with --na, which reads it as missing, or write a number",
}
"""What makes a column of such values one that can be used."""


@reports_mistakes
@takes_reading
def inspect(
    file: DataArgument,
    *,
    reading: Reading,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="OUT", help="A schema file to write, for --bounds of `fit`."),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", metavar="LO,HI|TOML", help="Say which columns such bounds would cut: yes or no."
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Say what a file is like, and write a schema file to be checked and filled in.

    For the holder of the data: separator, encoding, decimal sign, kinds of columns, likely ids, row numbers
    and codes for missing values. It is read off the records and is not private, but no value of a record is
    shown, nor a minimum, a maximum or a count; codes are those of a public list. With --bounds it says which
    columns such bounds would cut.
    """
    if bounds is not None:
        if output is not None:
            raise typer.BadParameter("give either -o, to write a schema file, or --bounds, to check one.")
        given = read_bounds(bounds)
        tables = open_data(file, None, None, reading.or_else(given.reading))
        say(f"{_FOR_HOLDER}\n\n{file!r} with {bounds!r}:\n\n{cuts_in_words(tables, given)}")
        return
    if output is not None:
        check_output(output, force=force, inputs=inputs(file))
    facts = inspected(file, reading)
    codes, path = facts.reading.na_of, facts.data.path
    verdicts = {name: _verdict(name, column, codes.get(name, ())) for name, column in facts.columns.items()}
    if output is not None:
        head = _HEAD.format(name=printable(os.path.basename(path)))
        lines = (verdict.line(name) for name, verdict in verdicts.items())
        write_text(output, head + template(path, lines, facts.reading))
    say(_in_words(facts, verdicts, output, reading))


def _in_words(facts: FileFacts, verdicts: Mapping[str, _Verdict], output: str | None, told: Reading) -> str:
    """Return what is found, a line for each column, and what to do next."""
    path, owners = facts.data.path, [name for name, verdict in verdicts.items() if verdict.owners]
    names = [shortened(name, _WIDEST_NAME) or "''" for name in verdicts]
    width = max(map(len, names))
    lines = [
        f"  {name.ljust(width)}  {'used' if verdict.used else 'left out'}: {verdict.looks_like}"
        for name, verdict in zip(names, verdicts.values(), strict=True)
    ]
    found = [_FOR_HOLDER, "", f"{path!r} {_written(facts)}", "", *lines, "", *_notes(facts, owners)]
    return "\n".join([*found, *_steps(shlex.quote(path), output, in_options(told), owners)])


def _written(facts: FileFacts) -> str:
    text = facts.data.text
    if text is None:
        return "states the types of its columns."
    decimal = "comma" if text.reading.sign == "," else "point"
    separator = {"\t": "tab"}.get(text.separator, text.separator)
    above = facts.reading.skip or text.skip
    first = f"line {above + 1}" if above else "its first line"
    return (
        f"has names in {first}; separator {separator!r}, encoding {text.encoding.upper()}, decimal {decimal}."
    )


def _notes(facts: FileFacts, owners: list[str]) -> Iterator[str]:
    """Yield what concerns the file as a whole."""
    if owners:
        yield (
            f"Several rows have the same {listed(owners)}: they may be of one person. `fit` protects each "
            f"row by itself unless it is told whose rows they are: --unit {shlex.quote(owners[0])} "
            "--max-rows M protects all rows of a person, and uses at most M of them.\n"
        )
    sums = [name for name, column in facts.columns.items() if column.sums]
    if sums:
        yield f"A line of sums seems to be among the records (a word in {listed(sums)}): remove it first.\n"
    three = [name for name, column in facts.columns.items() if column.three_decimals]
    if three and facts.reading.thousands is None:
        mark, sign = (".", ",") if facts.reading.sign == "." else (",", ".")
        yield (
            f"All decimals of {listed(three)} have three digits. If they are thousands, inspect it again "
            f"with --thousands {mark} --decimal {sign}\n"
        )
    options = in_options(facts.reading)
    if options:
        yield f"Options for fit and predict (a schema file has them): {options}\n"


def _steps(path: str, output: str | None, told: str, owners: list[str]) -> Iterator[str]:
    unit = f" --unit {shlex.quote(owners[0])} --max-rows M" if owners else ""
    schema = shlex.quote(output or "schema.toml")
    if output is None:
        again = " ".join(filter(None, ("dpmorse inspect", path, told, "-o", schema)))
        yield f"{again} writes a file to fill in; then:"
    else:
        yield f'Check {output!r}, and replace each "?" by what you know without the data; then:'
    yield f"  dpmorse fit {path} --bounds {schema} --epsilon 1{unit} -o model.json"
    yield f"  dpmorse predict {path} --bounds {schema} --model model.json -o labels.csv"


def _verdict(name: str, facts: ColumnFacts, own_codes: tuple[str, ...]) -> _Verdict:
    """Judge a column."""
    form, words = _form(facts)
    by_name = reason_of_name(name)
    if by_name is not None and not _may_be_ids(facts):
        words += f"; the name says {by_name.partition(',')[0]}, which the values do not look like"
        by_name = None
    owners = by_name == ID and facts.repeated
    if owners:
        by_name = f"{ID}; several rows have the same"
    reason = by_name or _unfit(name, facts) or (words if form is None else None)
    if form is not None and facts.missing:
        codes = f", {CODES} = {in_toml(own_codes)}" if own_codes else ""
        form = form.replace(" }", f', missing = "ignore"{codes} }}')
    if reason is not None:
        return _Verdict(form, reason, used=False, owners=owners)
    shown = ", ".join(repr(code) for code in facts.codes)
    said = f"; {shown} may be a code for missing values" if shown else ""
    return _Verdict(form, f"{words}; values are missing{said}" if facts.missing else words, used=True)


def _may_be_ids(facts: ColumnFacts) -> bool:
    """Say whether values may tell rows or people apart: not decimals, dates, or a few answers."""
    texts_or_whole = Look.TEXT in facts.kinds or (facts.kinds <= {Look.NUMBERS, Look.PADDED} and facts.whole)
    return texts_or_whole and not (facts.few_values and not facts.constant)


def _unfit(name: str, facts: ColumnFacts) -> str | None:
    """Say why a column seems to be no data."""
    numbers, text = facts.kinds == {Look.NUMBERS}, Look.TEXT in facts.kinds
    if facts.constant:
        mark = facts.missing and facts.kinds
        return _ONE_MARK if mark else "the same value everywhere, or none"
    if Look.PADDED in facts.kinds and facts.kinds <= {Look.NUMBERS, Look.PADDED}:
        return "numbers with zeros in front: likely codes, such as postal codes"
    if facts.counts_rows:
        return "whole numbers that count the rows"
    if facts.distinct and (text or (numbers and facts.whole)):
        return "no two values alike: likely ids, or names"
    by_name = reason_of_texts(name) if text else None
    if by_name is None and text and facts.many_texts:
        return "text with many different values, or values that do not recur: likely free text, names or ids"
    return by_name


def _form(facts: ColumnFacts) -> tuple[str | None, str]:
    """Return the form of a column, None if it has none, and its kind in words."""
    words = " and ".join(sorted(facts.kinds))
    if facts.kinds and facts.kinds <= {Look.NUMBERS, Look.PADDED}:
        if facts.binary:
            return empty_entry("boolean"), "0 and 1"
        return (_WHOLE, "whole numbers") if facts.whole else (empty_entry("number"), "numbers")
    if len(facts.kinds) == 1 and facts.kinds <= _FORMS.keys():
        return _FORMS[next(iter(facts.kinds))], words
    if Look.TEXT in facts.kinds:
        doubt = "" if facts.few_values else "; leave it out if these are names of people, or what they wrote"
        return empty_entry("text"), f"text: categories{doubt}"
    if not facts.kinds:
        return None, "no values"
    advice = next((advice for kind, advice in _ADVICE.items() if kind in facts.kinds), _MEND)
    return None, f"{words}: {advice}"
