"""Bounds that go by the names of columns: ``{"age": (0, 120), "pressure": (40, 260)}``."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records import listed


def in_order_of_columns(bounds: Any, names: Sequence[Any] | None) -> Any:
    """Return bounds as a pair (lower, upper), in the order of the columns; others than by name as they are.

    Where columns have no names, bounds go by their position, as those of ``columns`` do.
    """
    if not isinstance(bounds, Mapping):
        return bounds
    for name, pair in bounds.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidTypeError(
                f"bounds must have a pair (lower, upper) for each column, got {_validate.describe(pair)} for "
                f"{name!r}. For instance: bounds={{'age': (0, 120)}}."
            )
    order = list(bounds) if names is None else list(names)
    _refuse_other_names(bounds, order)
    return tuple([bounds[name][end] for name in order] for end in (0, 1))


def _refuse_other_names(bounds: Mapping[Any, Any], names: Sequence[Any]) -> None:
    """Refuse bounds of columns that X does not have, and columns without bounds."""
    unknown = [name for name in bounds if name not in names]
    if unknown:
        raise InvalidParameterError(
            f"bounds must name columns of X, and X has no {listed(unknown)}. Check the spelling."
        )
    without = [name for name in names if name not in bounds]
    if without:
        raise InvalidParameterError(
            f"bounds must name every column of X, and lacks {listed(without)}. Give their bounds, or leave "
            "the columns out, such as by X[list(bounds)]."
        )
