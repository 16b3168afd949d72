"""How large bounds may be, and how close to each other: the same for every way to state them."""

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.typing import BoolArray, FloatArray

LARGEST_BOUND = 1e150
"""Bounds are at most this large, so that squares of widths stay finite."""

SMALLEST_WIDTH = 1e-150
"""Columns are at least this wide, unless they are constant, so that squares of widths stay normal, ..."""

SMALLEST_PART = 2.0**-40
"""... and at least this part of the larger bound: between closer ones lie fewer than 2^12 numbers, so that
rounding would be all that is left of the records."""


def least_width(lower: FloatArray | float, upper: FloatArray | float) -> FloatArray:
    """Return how wide columns with such bounds must be."""
    size = np.maximum(np.abs(lower), np.abs(upper))
    return np.maximum(SMALLEST_WIDTH, SMALLEST_PART * size)


def too_narrow(lower: FloatArray | float, upper: FloatArray | float) -> BoolArray:
    """Say which columns are too narrow to be clustered; constant ones, of equal bounds, are not."""
    width = np.subtract(upper, lower)
    return np.asarray((width > 0) & (width < least_width(lower, upper)))


def checked_bounds(lower: object, upper: object) -> tuple[float, float]:
    """Return the bounds that a user states for a column, or say what is wrong with them."""
    low, high = _bound("lower", lower), _bound("upper", upper)
    if not low < high:
        raise InvalidParameterError(
            f"Numeric: lower must be less than upper, got {low:g} and {high:g}. Give the smallest and "
            "the largest value that can occur, from public knowledge."
        )
    if too_narrow(low, high):
        raise InvalidParameterError(
            f"Numeric: upper - lower must be at least {least_width(low, high):g} for such bounds, got "
            f"{high - low:g}. Rescale the column, or leave it out if it is constant."
        )
    return low, high


def _bound(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidTypeError(
            f"Numeric: {name} must be a number, got {_validate.describe(value)}. Give it in the units of the "
            "column."
        )
    if not -LARGEST_BOUND <= value <= LARGEST_BOUND:
        raise InvalidParameterError(
            f"Numeric: {name} must be finite and at most {LARGEST_BOUND:g} in size, got "
            f"{_validate.describe(value)}. Give a bound that is publicly known."
        )
    return float(value)
