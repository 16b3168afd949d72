"""``dpmorse inspect``: what a file is like, for the holder of the data, before anything is spent."""

from typing import Annotated

import typer

from dpmorse.cli.data_source import inputs
from dpmorse.cli.inspected import in_words, schema_file
from dpmorse.cli.messages import reports_mistakes, say
from dpmorse.cli.options import (
    DataArgument,
    ForceOption,
)
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.cli.reading_options import takes_reading
from dpmorse.records import Reading, inspected


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
    force: ForceOption = False,
) -> None:
    """Say what a file is like, and write a schema file to be checked and filled in.

    For the holder of the data: separator, encoding, decimal sign, kinds of columns, likely ids, row numbers
    and codes for missing values. It is read off the records and is not private, but no value of a record is
    shown, nor a minimum, a maximum or a count; codes are those of a public list.
    """
    if output is not None:
        check_output(output, force=force, inputs=inputs(file))
    facts = inspected(file, reading)
    if output is not None:
        write_text(output, schema_file(facts))
    say(in_words(facts, output, reading))
