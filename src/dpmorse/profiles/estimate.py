"""Numbers with intervals."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from dpmorse.typing import FloatArray


class Interval(NamedTuple):
    """A number, and the ends of its interval; ends are NaN where nothing is known of its noise."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return self.low == self.low

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

    def __getitem__(self, key: Any) -> "Estimate":
        """Return a part of the numbers."""
        return Estimate(self.value[key], self.low[key], self.high[key])

    def at(self, *place: int) -> Interval:
        """Return one of the numbers."""
        return Interval(*(float(part[place]) for part in (self.value, self.low, self.high)))
