"""``dpmorse bounds``: a template for bounds, which must not be read from the data."""

from typing import Annotated

import typer

from dpmorse.cli.bounds_template import template
from dpmorse.cli.data_source import inputs, open_one
from dpmorse.cli.messages import note, reports_mistakes
from dpmorse.cli.options import (
    DatabaseOption,
    ExcludeOption,
    FileArgument,
    ForceOption,
    SqlOption,
)
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.cli.reading_options import takes_reading
from dpmorse.records import Reading, check_columns, split_names


@reports_mistakes
@takes_reading
def bounds(
    file: FileArgument = None,
    *,
    reading: Reading,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="OUT", help="The file to write; stdout if not given."),
    ] = None,
    exclude: ExcludeOption = None,
    sql: SqlOption = None,
    database: DatabaseOption = None,
    force: ForceOption = False,
) -> None:
    """Write a template for the bounds of the columns, to be filled in by hand.

    Only the names of the columns are read (and their types, where the file states them), never a value:
    bounds and lists of values must be public knowledge. Options that say how the file is written are kept in
    the template, so that `fit` needs them no more. `fit` refuses the file until every "?" is filled in.
    """
    data = open_one(file, sql, database, reading)
    excluded = split_names(exclude or [], data.names)
    check_columns(data, excluded)
    types = {name: kind for name, kind in data.types.items() if name not in excluded}
    text = template(data.path, types, reading)
    if output is None:
        typer.echo(text.encode(), nl=False)  # TOML is UTF-8 wherever it is
        return
    check_output(output, force=force, inputs=inputs(file, database))
    write_text(output, text)
    note(
        f"Fill in {output!r}, from what is known without the data; then: dpmorse fit ... --bounds {output!r}"
    )
