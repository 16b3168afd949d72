"""Synthetic records of a model as columns of plain values."""

from typing import Any

from dpmorse.bases import draw_records
from dpmorse.cli.models import Model, schema_of
from dpmorse.records import plain
from dpmorse.schema import Column
from dpmorse.typing import IntArray


def sampled_columns(
    model: Model, n_rows: int, seed: int | None, *, missing: bool = False
) -> tuple[dict[str, list[Any]], IntArray]:
    """Draw records; return the columns of the model by name, None where a value is missing, and clusters."""
    points, components = draw_records(model._released, n_rows, seed, missing=missing)
    schema = schema_of(model)
    columns = points if schema.stated else dict(zip(schema.names, points.T, strict=True))
    written = {name: _as_written(column, columns[name].tolist()) for name, column in schema.columns}
    return written, model.labels_of_components(None)[components]


def _as_written(column: Column, values: list[Any]) -> list[Any]:
    """Return the values of a column as files have them; a missing number is NaN, which is not itself."""
    known = (value if value == value else None for value in map(plain, values))  # noqa: PLR0124
    return [column.as_written(value) for value in known]
