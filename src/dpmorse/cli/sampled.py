"""Synthetic records of a model as columns of a file."""

from typing import Any

import narwhals as nw
import pyarrow as pa

from dpmorse.cli.models import Model, schema_of
from dpmorse.schema import Column, Date, Numeric, text_of
from dpmorse.typing import IntArray


def sampled_columns(
    model: Model, n_rows: int, seed: int | None, *, missing: bool = False
) -> tuple[list[Any], IntArray]:
    """Draw records; return the columns of the model as Arrow arrays, and the cluster of each record."""
    points, labels = model.sample(n_rows, random_state=seed, missing=missing)
    schema = schema_of(model)
    if not hasattr(points, "columns"):
        return [pa.array(column) for column in points.T], labels
    frame = nw.from_native(points, eager_only=True)
    if schema is None:
        return [pa.array(frame.get_column(name).to_numpy()) for name in frame.columns], labels
    return [_as_arrow(column, frame.get_column(name)) for name, column in schema.columns], labels


def _as_arrow(column: Column, series: Any) -> Any:
    """Return a column of a frame; categories become text, because "other" may be among numbers."""
    if isinstance(column, Numeric):
        return pa.array(series.to_numpy(), from_pandas=True)
    if isinstance(column, Date):
        return pa.array(series.to_numpy().astype("datetime64[D]"), from_pandas=True)
    # a missing text is None or NaN, by the library of the frame; NaN is not equal to itself
    values = (value if value == value else None for value in series.to_list())  # noqa: PLR0124
    return pa.array([text_of(value) for value in values], pa.string())
