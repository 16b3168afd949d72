"""Promises to persons with several rows: which rows of a group are used."""

from typing import Any

import narwhals as nw
import numpy as np

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import Budget
from dpmorse.records import Records, open_records
from dpmorse.typing import IntArray


def open_grouped(X: Any, groups: Any) -> tuple[Records, Any]:
    """Open X, and find out where it is said whose record each row is."""
    records = open_records(X)
    if isinstance(groups, str):
        if not hasattr(records, "grouped_by"):
            raise InvalidTypeError("groups can be the name of a column only where X is a file or DataFiles.")
        records = records.grouped_by(groups)
        groups = None
    return records, getattr(records, "groups", None) if groups is None else groups


def check_groups_are_given(groups: Any, budget: Budget) -> None:
    """Refuse groups without a limit, and a limit without groups, before data is touched."""
    if groups is None and budget.max_rows_per_group is not None:
        raise InvalidParameterError(
            f"groups must be given with max_rows_per_group={budget.max_rows_per_group}: "
            "fit(X, groups=...), one value for each row that says whose it is."
        )
    if groups is not None and budget.max_rows_per_group is None:
        raise InvalidParameterError(
            "max_rows_per_group must be set where groups are given: how many rows of each are used at most. "
            "It is public; the noise grows in proportion to it."
        )


def first_rows_of_groups(records: Any, groups: Any, budget: Budget) -> Any:
    """Return checked records without those beyond the first ``max_rows_per_group`` of each group.

    Privacy
    -------
    Which rows of a group are kept depends on that group's rows and their order alone, so that adding or
    removing a group adds or removes at most ``max_rows_per_group`` records and touches no other.
    """
    if budget.max_rows_per_group is None:
        return records
    numbers = _numbered(groups() if callable(groups) else groups, len(records))
    kept = _position_in_group(numbers) < budget.max_rows_per_group
    return records if kept.all() else records[kept]


def _numbered(groups: Any, n_records: int) -> IntArray:
    """Return the number of each row's group; errors show no group and no number of rows."""
    series = nw.from_native(groups, pass_through=True, allow_series=True)
    values = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(groups)
    if values.ndim != 1:
        raise InvalidParameterError(f"groups must have one dimension, got {values.ndim}.")
    if len(values) != n_records:
        raise InvalidParameterError("groups must have one value for each row of X; the lengths differ.")
    if values.dtype.kind in "fc" and np.isnan(values).any():
        raise InvalidParameterError("groups contains NaN: every row must belong to somebody.")
    if values.dtype.kind == "O":
        values = _texts(values)
    numbers: IntArray = np.unique(values, return_inverse=True)[1]
    return numbers


def _texts(values: Any) -> Any:
    """Return Python objects as text, which can be sorted; each must be text or a whole number."""
    if not all(isinstance(value, str | int | np.integer) for value in values):
        raise InvalidTypeError("groups must hold text or whole numbers, one for each row, none missing.")
    return np.array([f"{type(value) is str} {value}" for value in values])


def _position_in_group(numbers: IntArray) -> IntArray:
    """Return how many rows of the same group come before each row."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(ordered)))
    position = np.empty(len(numbers), dtype=np.int64)
    position[order] = np.arange(len(numbers)) - np.repeat(starts, lengths)
    return position
