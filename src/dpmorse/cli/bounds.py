"""``dpmorse bounds``: a template for bounds, which must not be read from the data."""

from typing import Annotated

import typer

from dpmorse.cli.bounds_template import template
from dpmorse.cli.data_source import inputs, open_one
from dpmorse.cli.messages import note, reports_mistakes
from dpmorse.cli.options import DatabaseOption, FileArgument, ForceOption, SeparatorOption, SqlOption
from dpmorse.cli.outputs import check_output, write_text


@reports_mistakes
def bounds(
    file: FileArgument = None,
    *,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="OUT", help="The file to write; stdout if not given."),
    ] = None,
    separator: SeparatorOption = None,
    sql: SqlOption = None,
    database: DatabaseOption = None,
    force: ForceOption = False,
) -> None:
    """Write a template for the bounds of the columns, to be filled in by hand.

    Only the names of the columns are read (and their types, where the file states them), never a value:
    bounds and lists of values must be public knowledge. `fit` refuses the file until every "?" is filled in.
    """
    data = open_one(file, sql, database, separator)
    text = template(data.path, data.types)
    if output is None:
        typer.echo(text.encode(), nl=False)  # TOML is UTF-8 wherever it is
        return
    check_output(output, force=force, inputs=inputs(file, database))
    write_text(output, text)
    note(
        f"Fill in {output!r}, from what is known without the data; then: dpmorse fit ... --bounds {output!r}"
    )
