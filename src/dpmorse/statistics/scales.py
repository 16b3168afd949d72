"""How much noise each block of a release gets."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import LARGEST_SCALE, SMALLEST_SCALE


@dataclass(frozen=True, kw_only=True)
class MomentShares:
    """Which part of a release's cost goes to each block; the parts sum to 1.

    ``second_moment`` is 0 where no second moments are released.
    """

    count: float
    sum: float
    second_moment: float = 0.0

    def __post_init__(self) -> None:
        """Check that the parts are positive and sum to 1."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "second_moment" and value == 0:
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

    def __post_init__(self) -> None:
        """Keep every scale where the sampler and Theorem 4 want it."""
        for field in fields(self):
            scale = getattr(self, field.name)
            if scale > LARGEST_SCALE:
                raise InvalidParameterError(
                    f"epsilon is too small for this many columns and rounds: the noise of a {field.name} "
                    "does not fit in 64-bit integers. Raise epsilon, or lower n_iter."
                )
            object.__setattr__(self, field.name, max(scale, SMALLEST_SCALE))


def smallest_factor(affordable: Callable[[float], bool], guess: float) -> float:
    """Return the smallest factor of all scales that is affordable, to twelve digits and never below it.

    ``guess`` would be the answer if scales were no integers and had no smallest value.
    """
    high = 1.01 * guess
    while not affordable(high):
        high *= 2
    low = high / 1.05
    while low > 2.0**-60 and affordable(low):  # only where some scales are at their smallest
        low /= 2
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return high
