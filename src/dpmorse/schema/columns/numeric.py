"""Columns of numbers, and how large bounds may be, and how close to each other, however they are stated."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.schema.columns.base import Form, Held, NumberColumn, with_missing
from dpmorse.typing import BoolArray, FloatArray

LARGEST_BOUND = 1e150
"""Bounds are at most this large, so that squares of widths stay finite."""

SMALLEST_WIDTH = 1e-150
"""Columns are at least this wide, unless they are constant, so that squares of widths stay normal, ..."""

SMALLEST_PART = 2.0**-40
"""... and at least this part of the larger bound: between closer ones lie fewer than 2^12 numbers, so that
rounding would be all that is left of the records."""

_EXACT = 2.0**53
"""Whole numbers up to this size are exact as floats."""


@dataclass(frozen=True)
class Numeric(NumberColumn):
    """A column of numbers.

    Parameters
    ----------
    lower, upper : float
        Public bounds, in the units of the column. Values outside are clipped.
    integer : bool
        Whether its values are whole numbers; sampled ones are rounded then.
    missing : {"refuse", "ignore", "level"}
        Missing values are an error; or they are left out of all sums; or, besides, whether the value is
        missing is a category of its own, so that there can be clusters of missing values. A value that is no
        finite number counts as missing: infinity, a date, text that does not write a number.
    label : str
        What people call the column, such as "age at admission": for sentences, tables and pictures.
    unit : str
        What it is measured in, such as "years" or "mmHg".

    Examples
    --------
    >>> Numeric(0, 120, integer=True, missing="ignore")
    Numeric(lower=0.0, upper=120.0, integer=True, missing='ignore')
    """

    lower: float
    upper: float
    _: KW_ONLY
    integer: bool = False
    missing: str = "refuse"
    label: str = field(default="", repr=False)
    unit: str = field(default="", repr=False)

    texts = ("label", "unit")
    parts = (("lower", float), ("upper", float), ("integer", bool))
    form = Form(
        needed=("lower", "upper"),
        optional=("integer", "unit"),
        example="{ lower = 0, upper = 120 }",
        empty='{ lower = "?", upper = "?" }',
        lines=(("visits", "{ lower = 0, upper = 100, integer = true }", "whole numbers"),),
    )
    stored_as = "number"
    shown_as = "number"

    def __post_init__(self) -> None:
        """Refuse bounds that are no interval."""
        lower, upper = _checked_bounds(self.lower, self.upper)
        _validate.boolean(integer=self.integer)
        self._keep(lower=lower, upper=upper)

    @classmethod
    def within(cls, lower: float, upper: float) -> "Numeric":
        """Return a column whose bounds were checked elsewhere: equal ones are those of a constant column."""
        self = object.__new__(cls)
        self._keep(lower=lower, upper=upper, integer=False, missing="refuse")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the number."""
        return self.lower, self.upper

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.integer

    def title(self, name: str) -> str:
        """Return what people call it, with its unit."""
        called = super().title(name)
        return f"{called} ({self.unit})" if self.unit else called

    def encoded(self, held: Held) -> FloatArray | None:
        """Return the numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
        return held.floats()

    def decoded(self, values: FloatArray, missing: BoolArray | None) -> npt.NDArray[Any]:
        """Return floats, NaN where one is missing; integers if whole numbers were stated and none may be."""
        if not self.integer:
            return with_missing(np.array(values, dtype=np.float64), missing, np.nan)
        rounded = self._whole(values)
        if missing is not None:  # integers have no NaN
            return with_missing(rounded, missing, np.nan)
        small = max(map(abs, self.bounds)) <= _EXACT
        return rounded.astype(np.int64) if small else rounded

    def as_written(self, value: Any) -> Any:
        """Return a number, a whole one if that was stated."""
        return int(value) if self.integer and value is not None else value

    def _stated(self, shown: Callable[[str], str]) -> str:
        limits = f"{self.lower:g} to {self.upper:g}".replace("-", "\N{MINUS SIGN}")
        return f"{'whole numbers' if self.integer else 'numbers'} from {limits}"

    @property
    def _domain_in_words(self) -> str:
        return f"a number, clipped to [{self.lower:g}, {self.upper:g}]"


def _checked_bounds(lower: object, upper: object) -> tuple[float, float]:
    """Return the bounds that a user states, or say what is wrong with them."""
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


def least_width(lower: FloatArray | float, upper: FloatArray | float) -> FloatArray:
    """Return how wide columns with such bounds must be."""
    size = np.maximum(np.abs(lower), np.abs(upper))
    return np.maximum(SMALLEST_WIDTH, SMALLEST_PART * size)


def too_narrow(lower: FloatArray | float, upper: FloatArray | float) -> BoolArray:
    """Say which columns are too narrow to be clustered; constant ones, of equal bounds, are not."""
    width = np.subtract(upper, lower)
    return np.asarray((width > 0) & (width < least_width(lower, upper)))
