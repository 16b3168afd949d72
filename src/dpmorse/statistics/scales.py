"""The noise of each block of a release."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import LARGEST_SCALE, SMALLEST_SCALE


@dataclass(frozen=True, kw_only=True)
class MomentShares:
    """Parts of the cost of a release that go to its blocks.

    ``levels`` is the part of missing values and levels, where these are counted. ``count``, ``sum`` and
    ``second_moment`` divide the rest and sum to 1; ``second_moment`` is 0 where no second moments are
    released.
    """

    count: float
    sum: float
    second_moment: float = 0.0
    levels: float = 0.0

    def __post_init__(self) -> None:
        """Check that the parts are positive and sum to 1."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in {"second_moment", "levels"} and value == 0:
                continue
            _validate.open_unit_interval(**{f"shares.{field.name}": value})
        total = self.count + self.sum + self.second_moment
        if abs(total - 1) > 1e-9:
            raise InvalidParameterError(f"shares must sum to 1, got {total:.12g}.")


@dataclass(frozen=True)
class NoiseScales:
    """Integer noise scales of the blocks, in the common unit of the statistic."""

    count: int
    sum: int
    diagonal: int
    off_diagonal: int
    level: int = SMALLEST_SCALE

    def __post_init__(self) -> None:
        """Keep every scale in the range that the sampler and Theorem 4 allow."""
        for field in fields(self):
            scale = getattr(self, field.name)
            if scale > LARGEST_SCALE:
                raise InvalidParameterError(
                    f"epsilon is too small for this many columns and rounds: the noise of a {field.name} "
                    "does not fit in 64-bit integers. Raise epsilon, or lower n_iter."
                )
            object.__setattr__(self, field.name, max(scale, SMALLEST_SCALE))


_NARROW, _DIGITS = 1e-9, 1e-12
"""Relative widths of the first and the last range in which a factor is searched."""


def smallest_factor(affordable: Callable[[float], bool], guess: float) -> float:
    """Return the smallest factor of all scales that is affordable, to twelve digits and never below it.

    ``guess`` would be the answer if scales were real numbers without a smallest value: the search starts in a
    narrow range around it.
    """
    width = _NARROW
    while not affordable(high := guess * (1 + width)):
        width *= 4
    width = _NARROW
    while (low := guess / (1 + width)) > 2.0**-60 and affordable(low):  # some scales are at their smallest
        width *= 4
    while high > low * (1 + _DIGITS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return high
