"""Labels of the records in a file, which is read as numbers, or column by column as was stated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from dpmorse.cli.models import Model, has_names, schema_of
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records import (
    DataFile,
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


class Labeller(Protocol):
    """Labels the records of files with a model."""

    def columns(self, data: DataFile) -> list[str]:
        """Return the columns of the file that are those of the model, in its order."""

    def floats(self, data: DataFile, chosen: list[str]) -> list[str]:
        """Return those of the chosen columns that are read as 64-bit floats."""

    def labelled(
        self, data: DataFile, chosen: list[str], kept: list[str]
    ) -> Iterator[tuple[list[Any], float]]:
        """Yield the columns to be kept and the labels, a batch at a time, and how much was read."""


def labeller_of(model: Model, wanted: list[str], missing: str) -> Labeller:
    """Return what labels records with a model, or refuse options that do not go with it.

    Parameters
    ----------
    model : Model
        A fitted model.
    wanted : list of str
        What --columns says.
    missing : {"refuse", "blank"}
        What --missing says.
    """
    schema = schema_of(model)
    if schema.stated and missing == "blank":
        raise InvalidParameterError(
            "--missing blank does not go with a model of described columns: missing is stated per column in "
            'the bounds file of the fit, and rows without values of columns with "ignore" or "level" get a '
            "label. Leave --missing out."
        )
    if wanted and has_names(model):
        raise InvalidParameterError("--columns is for models without column names; this one finds its own.")
    return OfStated(model) if schema.stated else OfNumbers(model, wanted, missing)


@dataclass(frozen=True)
class OfStated:
    """Labels records whose columns were stated, kind by kind."""

    model: Model

    def columns(self, data: DataFile) -> list[str]:
        """Return the columns of the model, which the file must have."""
        names = list(schema_of(self.model).names)
        check_columns(data, names)
        return choose_columns(data, names, described=True)

    def floats(self, data: DataFile, chosen: list[str]) -> list[str]:
        """Return the columns of numbers whose type the file does not state."""
        columns = schema_of(self.model).columns
        numeric = [name for name, column in columns if column.stored_as == "number"]
        return [name for name in numeric if data.types[name] is None and data.kind == "csv"]

    def labelled(
        self, data: DataFile, chosen: list[str], kept: list[str]
    ) -> Iterator[tuple[list[Any], float]]:
        """Yield the columns to be kept and the labels; every record gets one."""
        schema = schema_of(self.model)
        beside = [name for name in kept if name not in schema.names]
        for columns, done in read_described(data, schema, beside):
            table = as_table(columns, schema.names)
            labels = np.asarray(self.model.predict(table)) if len(table) else np.zeros(0)
            yield [*(as_arrow(columns[name]) for name in kept), pa.array(labels.astype(np.int64))], done


@dataclass(frozen=True)
class OfNumbers:
    """Labels records of numbers; one with missing values gets no label, or is refused."""

    model: Model
    wanted: list[str]
    missing: str

    def columns(self, data: DataFile) -> list[str]:
        """Return the columns of the model; where it has no names, those that were asked for."""
        if has_names(self.model):
            names = list(schema_of(self.model).names)
            check_columns(data, names)
            return choose_columns(data, names)
        chosen = choose_columns(data, self.wanted)
        if len(chosen) != self.model.n_features_in_:
            raise InvalidParameterError(
                f"the model has {self.model.n_features_in_} columns without names; give as many with "
                f"--columns, got {listed(chosen)}."
            )
        return chosen

    def floats(self, data: DataFile, chosen: list[str]) -> list[str]:
        """Return all columns of the model."""
        return chosen

    def labelled(
        self, data: DataFile, chosen: list[str], kept: list[str]
    ) -> Iterator[tuple[list[Any], float]]:
        """Yield the columns to be kept and the labels."""
        for rows, done in read_rows(data, chosen, kept=[name for name in kept if name not in chosen]):
            if self.missing == "refuse":
                refuse_missing(
                    rows, "Fill them in, or give --missing blank to leave such rows without a label."
                )
            beside = [(rows.numbers if name in chosen else rows.others)[name] for name in kept]
            yield [*beside, self._labels(rows)], done

    def _labels(self, rows: Rows) -> Any:
        """Return the label of each row; none for rows with missing values."""
        labels = np.zeros(len(rows.complete), dtype=np.int64)
        complete = rows.only_complete().numbers
        if len(complete):
            points = complete if has_names(self.model) else np.column_stack(complete.columns)
            labels[rows.complete] = self.model.predict(points)
        return pa.array(labels, mask=~rows.complete)
