"""How intervals are shown: what they are about, in words, and to how many digits. The same wherever it is."""

import math

NO_INTERVALS = (
    "No profile was released, so there are no intervals: the numbers are those of the released mixture, and "
    "what clipping has changed is not known."
)
"""What is said where a base, its parameters or an old model file give no profile."""


def about_intervals(*, level: float = 0.95, population: bool = False) -> str:
    """Return a sentence or two about intervals of this level."""
    return f"Intervals ({100 * level:g} %) {_POPULATION if population else _AT_HAND}"


def shown_decimals(low: float, high: float) -> int:
    """Return how many decimals of a number matter: two digits of half its interval; negative for tens."""
    half = (high - low) / 2
    return 1 - math.floor(math.log10(half)) if half > 0 else 2


_AT_HAND = (
    "are about the records at hand, clipped to the bounds: noise, clipping and rounding are in them. About a "
    "population that the records are a sample of, less is known."
)
_POPULATION = (
    "are about the population that the records were drawn from, at random: the draw, noise, clipping and "
    "rounding are in them."
)
