"""How large bounds may be, and how close to each other: the same for every way to state them."""

import numpy as np

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
