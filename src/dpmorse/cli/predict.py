"""``dpmorse predict``: labels for the holder of the data."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from dpmorse._validate import did_you_mean
from dpmorse.cli.bounds_file import Bounds, read_bounds
from dpmorse.cli.data_source import inputs, open_data
from dpmorse.cli.labels_file import table_writer
from dpmorse.cli.messages import note, reports_mistakes
from dpmorse.cli.models import Model, has_names, label_name, load_model, schema_of
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
        raise typer.BadParameter(
            f"--missing must be {' or '.join(_MISSING)}, got {missing!r}.{did_you_mean(missing, _MISSING)}"
        )
    told = Bounds() if bounds is None else read_bounds(bounds)
    tables = open_data(file, sql, database, reading.or_else(told.reading))
    released, kept = load_model(path), keep or []
    labeller, label = _Labeller(released, columns or [], missing), label_name(kept, released)
    chosen = [(data, labeller.columns(data)) for data in tables]
    schema, *_ = [_schema_of(data, kept, label, labeller.floats(data, names)) for data, names in chosen]
    with progress_bar(shown=not quiet) as bar, table_writer(output, schema) as write:
        for data, names in chosen:
            with bar.fraction(f"reading {os.path.basename(data.path)}") as update:
                for columns_and_labels, done in labeller.labelled(data, names, kept):
                    update(done)
                    both = zip(columns_and_labels, schema.types, strict=True)
                    written = [column.cast(kind) for column, kind in both]
                    write(pa.table(written, schema=schema))
    if not quiet:
        note(f"The labels are in {output!r}. {_NOT_PRIVATE}")


def _schema_of(data: DataFile, kept: list[str], label: str, floats: list[str]) -> Any:
    """Return names and types of the columns of the output: text where the source states no type."""
    check_columns(data, kept)
    kinds = {name: kind or pa.string() for name, kind in data.types.items()}
    kinds |= dict.fromkeys(floats, pa.float64())
    return pa.schema([*((name, kinds[name]) for name in kept), (label, pa.int64())])


@dataclass(frozen=True)
class _Labeller:
    """Labels the records of files with a model."""

    model: Model
    wanted: list[str]
    """What --columns says."""

    missing: str
    """What --missing says: refuse or blank."""

    def __post_init__(self) -> None:
        """Refuse options that do not go with the model."""
        if schema_of(self.model).stated and self.missing == "blank":
            raise InvalidParameterError(
                "--missing blank does not go with a model of described columns: missing is stated per column "
                'in the bounds file of the fit, and rows without values of columns with "ignore" or "level" '
                "get a label. Leave --missing out."
            )
        if self.wanted and has_names(self.model):
            raise InvalidParameterError(
                "--columns is for models without column names; this one finds its own."
            )

    def columns(self, data: DataFile) -> list[str]:
        """Return the columns of the file that are those of the model; without names, those asked for."""
        schema = schema_of(self.model)
        if has_names(self.model):
            check_columns(data, schema.names)
            return choose_columns(data, schema.names, described=schema.stated)
        chosen = choose_columns(data, self.wanted)
        if len(chosen) != self.model.n_features_in_:
            raise InvalidParameterError(
                f"the model has {self.model.n_features_in_} columns without names; give as many with "
                f"--columns, got {listed(chosen)}."
            )
        return chosen

    def floats(self, data: DataFile, chosen: list[str]) -> list[str]:
        """Return those of the chosen columns that are read as 64-bit floats.

        Of stated columns these are the numbers whose type the file does not state.
        """
        schema = schema_of(self.model)
        if not schema.stated:
            return chosen
        numeric = [name for name, column in schema.columns if column.stored_as == "number"]
        return [name for name in numeric if data.types[name] is None and data.kind == "csv"]

    def labelled(
        self, data: DataFile, chosen: list[str], kept: list[str]
    ) -> Iterator[tuple[list[Any], float]]:
        """Yield the columns to be kept and the labels, a batch at a time, and how much was read."""
        schema = schema_of(self.model)
        if not schema.stated:
            for rows, done in read_rows(data, chosen, kept=[name for name in kept if name not in chosen]):
                beside = [(rows.numbers if name in chosen else rows.others)[name] for name in kept]
                yield [*beside, self._of_numbers(rows)], done
            return
        others = [name for name in kept if name not in schema.names]
        for columns, done in read_described(data, schema, others):
            table = as_table(columns, schema.names)
            labels = np.asarray(self.model.predict(table)) if len(table) else np.zeros(0)
            yield [*(as_arrow(columns[name]) for name in kept), pa.array(labels.astype(np.int64))], done

    def _of_numbers(self, rows: Rows) -> Any:
        """Return the label of each row; one with missing values gets none, or is refused."""
        if self.missing == "refuse":
            refuse_missing(rows, "Fill them in, or give --missing blank to leave such rows without a label.")
        labels = np.zeros(len(rows.complete), dtype=np.int64)
        complete = rows.only_complete().numbers
        if len(complete):
            points = complete if has_names(self.model) else np.column_stack(complete.columns)
            labels[rows.complete] = self.model.predict(points)
        return pa.array(labels, mask=~rows.complete)
