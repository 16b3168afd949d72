"""``dpmorse predict``: labels for the holder of the data."""

import os
from typing import Annotated, Any

import pyarrow as pa
import typer

from dpmorse.cli.bounds_file import Bounds, read_bounds
from dpmorse.cli.data_source import inputs, open_data
from dpmorse.cli.labelling import labeller_of
from dpmorse.cli.labels_file import table_writer
from dpmorse.cli.messages import note, reports_mistakes
from dpmorse.cli.models import label_name, load_model
from dpmorse.cli.options import (
    ColumnsOption,
    DatabaseOption,
    FileArgument,
    ForceOption,
    ModelArgument,
    ModelOption,
    OutputOption,
    QuietOption,
    SqlOption,
    the_model,
)
from dpmorse.cli.outputs import check_ending, check_output
from dpmorse.cli.progress import progress_bar
from dpmorse.cli.reading_options import takes_reading
from dpmorse.records import DataFile, Reading, check_columns

_MISSING = ("refuse", "blank")
"""The values of --missing."""

_NOT_PRIVATE = (
    "Labels of records that the model was fitted on are not private: each is a function of that person's own "
    "record. They are for the holder of the data."
)
"""The remark after labels were written."""


@reports_mistakes
@takes_reading
def predict(
    file: FileArgument = None,
    model_file: ModelArgument = None,
    *,
    reading: Reading,
    model: ModelOption = None,
    output: OutputOption,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", metavar="TOML", help="The file of the fit: its part [file] says how FILE is written."
        ),
    ] = None,
    columns: ColumnsOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="A column to copy beside the labels; may be repeated."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            "--missing", metavar="refuse|blank", help="Rows with missing values: no label if blank."
        ),
    ] = "refuse",
    sql: SqlOption = None,
    database: DatabaseOption = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the cluster of each record, in the order of the file or files, to .csv or .parquet.

    Columns are found by name; --columns is for models that were fitted without names. In CSV, text that a
    spreadsheet would take for a formula gets an apostrophe in front.
    """
    check_ending(output)
    path = the_model(model_file, model)
    check_output(output, force=force, inputs=inputs(file, database, path))
    if missing not in _MISSING:
        raise typer.BadParameter(f"--missing must be {' or '.join(_MISSING)}, got {missing!r}.")
    told = Bounds() if bounds is None else read_bounds(bounds)
    tables = open_data(file, sql, database, reading.or_else(told.reading))
    released, kept = load_model(path), keep or []
    labeller, label = labeller_of(released, columns or [], missing), label_name(kept, released)
    chosen = [(data, labeller.columns(data)) for data in tables]
    schema, *_ = [_written(data, kept, label, labeller.floats(data, names)) for data, names in chosen]
    with progress_bar(shown=not quiet) as bar, table_writer(output, schema) as writer:
        for data, names in chosen:
            with bar.fraction(f"reading {os.path.basename(data.path)}") as update:
                for columns_and_labels, done in labeller.labelled(data, names, kept):
                    update(done)
                    writer.write_table(_as_written(columns_and_labels, schema))
    if not quiet:
        note(f"The labels are in {output!r}. {_NOT_PRIVATE}")


def _written(data: DataFile, kept: list[str], label: str, floats: list[str]) -> Any:
    """Return names and types of the columns of the output."""
    check_columns(data, kept)
    kinds = {name: kind or pa.string() for name, kind in data.types.items()}
    kinds |= dict.fromkeys(floats, pa.float64())
    return pa.schema([*((name, kinds[name]) for name in kept), (label, pa.int64())])


def _as_written(columns: list[Any], schema: Any) -> Any:
    """Return columns as a table; those of which the source states no type are written as text."""
    return pa.table(
        [column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
    )
