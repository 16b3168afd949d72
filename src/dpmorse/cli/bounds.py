"""``dpmorse bounds``: a template for bounds, which must not be read from the data."""

from typing import Annotated, Any

import pyarrow as pa
import typer

from dpmorse.cli.bounds_template import empty_entry, line_of, template
from dpmorse.cli.data_source import inputs, open_data
from dpmorse.cli.messages import note, reports_mistakes, say_bytes
from dpmorse.cli.options import (
    DatabaseOption,
    ExcludeOption,
    FileArgument,
    ForceOption,
    SqlOption,
)
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.cli.reading_options import takes_reading
from dpmorse.records import Reading, check_columns, is_number, split_names


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
    data, *_ = open_data(file, sql, database, reading)
    excluded = split_names(exclude or [], data.names)
    check_columns(data, excluded)
    entries = {name: _entry(kind) for name, kind in data.types.items() if name not in excluded}
    text = template(data.path, (line_of(name, entry) for name, entry in entries.items() if entry), reading)
    if output is None:
        say_bytes(text.encode())  # TOML is UTF-8 wherever it is
        return
    check_output(output, force=force, inputs=inputs(file, database))
    write_text(output, text)
    note(
        f"Fill in {output!r}, from what is known without the data; then: dpmorse fit ... --bounds {output!r}"
    )


def _entry(kind: Any) -> str | None:
    """Return what is written for a type; None for lists and the like, which cannot be clustered.

    A type is None where the file does not state it (CSV): such a column is written as one of numbers, because
    only its values could tell.
    """
    if kind is None:
        return empty_entry("number")
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return empty_entry("boolean")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return empty_entry("text")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return empty_entry("date")
    return empty_entry("number") if is_number(kind) else None
