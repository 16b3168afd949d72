"""Synthetic records of a model as columns of plain values."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from dpmorse.cli.models import Model, schema_of
from dpmorse.records import plain
from dpmorse.schema import Column
from dpmorse.typing import IntArray


def sampled_columns(
    model: Model, n_rows: int, seed: int | None, *, missing: bool = False
) -> tuple[dict[str, list[Any]], IntArray]:
    """Draw records; return the columns of the model by name, None where a value is missing, and clusters."""
    points, labels = model.sample(n_rows, random_state=seed, missing=missing)
    schema = schema_of(model)
    columns = _by_name(points, schema.names)
    return {name: _as_written(column, columns[name]) for name, column in schema.columns}, labels


def _by_name(points: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of an array, of decoded columns, or of a frame of any library."""
    if isinstance(points, dict):
        return {name: points[name].tolist() for name in names}
    if not hasattr(points, "columns"):
        return dict(zip(names, points.T.tolist(), strict=True))
    frame = nw.from_native(points, eager_only=True)
    return {name: frame.get_column(name).to_list() for name in names}


def _as_written(column: Column, values: list[Any]) -> list[Any]:
    """Return the values of a column as files have them."""
    # a missing value is None or NaN, by the library of the frame; NaN is not equal to itself
    known = (value if value == value else None for value in map(plain, values))  # noqa: PLR0124
    return [column.as_written(value) for value in known]
