"""``dpmorse predict``: labels for the holder of the data."""

import os
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from dpmorse.cli.bounds_file import Bounds, read_bounds
from dpmorse.cli.data_source import inputs, open_data
from dpmorse.cli.labels_file import table_writer
from dpmorse.cli.messages import note, reports_mistakes
from dpmorse.cli.models import Model, label_name, load_model, schema_of
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
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records import (
    DataFile,
    Reading,
    Rows,
    as_arrow,
    as_table,
    check_columns,
    choose_columns,
    listed,
    read_described,
    read_rows,
    refuse_missing,
)
from dpmorse.schema import Schema

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
    _check_missing(schema_of(released), missing)
    chosen = [_columns(released, data, columns or []) for data in tables]
    schema, *_ = [_written(data, kept, released, names) for data, names in zip(tables, chosen, strict=True)]
    with progress_bar(shown=not quiet) as bar, table_writer(output, schema) as writer:
        for data, names in zip(tables, chosen, strict=True):
            with bar.fraction(f"reading {os.path.basename(data.path)}") as update:
                for columns_and_labels, done in _labelled(released, data, names, kept, missing):
                    update(done)
                    writer.write_table(_as_written(columns_and_labels, schema))
    if not quiet:
        note(f"The labels are in {output!r}. {_NOT_PRIVATE}")


def _columns(model: Model, data: DataFile, wanted: list[str]) -> list[str]:
    """Return the columns of the file that are those of the model, in its order."""
    schema = schema_of(model)
    if schema.stated or hasattr(model, "feature_names_in_"):
        if wanted:
            raise InvalidParameterError(
                "--columns is for models without column names; this one finds its own."
            )
        check_columns(data, list(schema.names))
        return choose_columns(data, list(schema.names), described=schema.stated)
    chosen = choose_columns(data, wanted)
    if len(chosen) != model.n_features_in_:
        raise InvalidParameterError(
            f"the model has {model.n_features_in_} columns without names; give as many with --columns, got "
            f"{listed(chosen)}."
        )
    return chosen


def _check_missing(schema: Schema, missing: str) -> None:
    """Refuse to leave out labels where the model says column by column what a missing value means."""
    if schema.stated and missing == "blank":
        raise InvalidParameterError(
            "--missing blank does not go with a model of described columns: missing is stated per column in "
            'the bounds file of the fit, and rows without values of columns with "ignore" or "level" get a '
            "label. Leave --missing out."
        )


def _numbers(data: DataFile, chosen: list[str], schema: Schema) -> list[str]:
    """Return the columns that are read as 64-bit floats; of stated ones those whose type is not known."""
    if not schema.stated:
        return chosen
    numeric = [name for name, column in schema.columns if column.stored_as == "number"]
    return [name for name in numeric if data.types[name] is None and data.kind == "csv"]


def _written(data: DataFile, kept: list[str], model: Model, chosen: list[str]) -> Any:
    """Return names and types of the columns of the output."""
    check_columns(data, kept)
    kinds = {name: kind or pa.string() for name, kind in data.types.items()}
    kinds |= dict.fromkeys(_numbers(data, chosen, schema_of(model)), pa.float64())
    return pa.schema([*((name, kinds[name]) for name in kept), (label_name(kept, model), pa.int64())])


def _as_written(columns: list[Any], schema: Any) -> Any:
    """Return columns as a table; those of which the source states no type are written as text."""
    return pa.table(
        [column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
    )


def _labelled(
    model: Model, data: DataFile, chosen: list[str], kept: list[str], missing: str
) -> Iterator[tuple[list[Any], float]]:
    """Yield the columns to be written, a batch at a time, and how much was read."""
    if schema_of(model).stated:
        yield from _labelled_tables(model, data, schema_of(model), kept)
        return
    for rows, done in read_rows(data, chosen, kept=[name for name in kept if name not in chosen]):
        if missing == "refuse":
            refuse_missing(rows, "Fill them in, or give --missing blank to leave such rows without a label.")
        beside = [(rows.numbers if name in chosen else rows.others)[name] for name in kept]
        yield [*beside, _labels(model, rows)], done


def _labelled_tables(
    model: Model, data: DataFile, schema: Schema, kept: list[str]
) -> Iterator[tuple[list[Any], float]]:
    """Yield the same for a model of described columns."""
    for columns, done in read_described(data, schema, [name for name in kept if name not in schema.names]):
        table = as_table(columns, schema.names)
        labels = np.asarray(model.predict(table)) if len(table) else np.zeros(0)
        yield [*(as_arrow(columns[name]) for name in kept), pa.array(labels.astype(np.int64))], done


def _labels(model: Model, rows: Rows) -> Any:
    """Return the label of each row; none for rows with missing values."""
    labels = np.zeros(len(rows.complete), dtype=np.int64)
    complete = rows.only_complete().numbers
    if len(complete):
        points = complete if hasattr(model, "feature_names_in_") else np.column_stack(complete.columns)
        labels[rows.complete] = model.predict(points)
    return pa.array(labels, mask=~rows.complete)
