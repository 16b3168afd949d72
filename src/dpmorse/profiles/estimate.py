"""Numbers with intervals, and how these are shown: the same wherever it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from dpmorse.typing import BoolArray, FloatArray

NO_INTERVALS = (
    "No profile was released, so there are no intervals: the numbers are those of the released mixture, and "
    "what clipping has changed is not known."
)
"""What is said where a base, its parameters or an old model file give no profile."""

NOT_KNOWN = "not known"
"""What is said in place of a number that noise hides."""

_AT_HAND = (
    "are about the records at hand, clipped to the bounds: noise, clipping and rounding are in them. About a "
    "population that the records are a sample of, less is known."
)
_POPULATION = (
    "are about the population that the records were drawn from, at random: the draw, noise, clipping and "
    "rounding are in them."
)


class Interval(NamedTuple):
    """A number, and the ends of its interval; ends are NaN where nothing is known of its noise.

    A number that noise hides is NaN itself.
    """

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low)

    @property
    def is_hidden(self) -> bool:
        """Whether noise hides the number."""
        return math.isnan(self.value)

    def times(self, factor: float) -> "Interval":
        """Return the number in another unit."""
        return Interval(*(factor * part for part in self))


@dataclass(frozen=True)
class Estimate:
    """Numbers, and for each the interval from ``low`` to ``high``.

    It holds the truth with the stated probability.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def alone(cls, value: FloatArray) -> Self:
        """Return numbers without intervals: their ends are NaN."""
        unknown = np.full(np.shape(value), np.nan)
        return cls(value, unknown, unknown)

    @classmethod
    def of_parts(cls, part: FloatArray, half: FloatArray) -> Self:
        """Return parts of all, with half the widths of their intervals, which stay inside [0, 1]."""
        return cls(part, np.maximum(part - half, 0.0), np.minimum(part + half, 1.0))

    @classmethod
    def stacked(cls, columns: Sequence["Estimate"]) -> "Estimate":
        """Put columns of numbers side by side."""
        parts = (
            np.column_stack([getattr(one, name) for one in columns]) for name in ("value", "low", "high")
        )
        return cls(*parts)

    def around(self, value: FloatArray) -> "Estimate":
        """Return other numbers with the same intervals, made wide enough to hold them."""
        return Estimate(value, np.minimum(self.low, value), np.maximum(self.high, value))

    def unknown_where(self, where: BoolArray) -> "Estimate":
        """Return the numbers without those of which next to nothing is known: these are NaN."""
        return Estimate(*(np.where(where, np.nan, part) for part in (self.value, self.low, self.high)))

    def __getitem__(self, key: Any) -> "Estimate":
        """Return a part of the numbers."""
        return Estimate(self.value[key], self.low[key], self.high[key])

    def at(self, *place: int) -> Interval:
        """Return one of the numbers."""
        return Interval(float(self.value[place]), float(self.low[place]), float(self.high[place]))


class Quartiles:
    """What has quantiles, by the part of the values that lies below, has quartiles among them."""

    quantiles: dict[float, Estimate]

    @property
    def median(self) -> Estimate:
        """The value that half of the values lie below."""
        return self.quantiles[0.5]

    @property
    def q1(self) -> Estimate:
        """The value that a quarter of the values lies below."""
        return self.quantiles[0.25]

    @property
    def q3(self) -> Estimate:
        """The value that three quarters of the values lie below."""
        return self.quantiles[0.75]


def about_intervals(*, level: float = 0.95, population: bool = False) -> str:
    """Return a sentence or two about intervals of this level."""
    return f"Intervals ({100 * level:g} %) {_POPULATION if population else _AT_HAND}"


def shown_decimals(low: float, high: float) -> int:
    """Return how many decimals of a number matter: two digits of half its interval; negative for tens."""
    half = (high - low) / 2
    return 1 - math.floor(math.log10(half)) if half > 0 else 2
