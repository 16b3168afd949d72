"""What the intervals of a table are about, in words: the same on a page, in a terminal and in JSON."""

NO_INTERVALS = (
    "No profile was released, so there are no intervals: the numbers are those of the released mixture, and "
    "what clipping has changed is not known."
)
"""What is said where a base, its parameters or an old model file give no profile."""


def about_intervals(*, level: float = 0.95, population: bool = False) -> str:
    """Return a sentence or two about intervals of this level."""
    return f"Intervals ({100 * level:g} %) {_POPULATION if population else _AT_HAND}"


_AT_HAND = (
    "are about the records at hand, clipped to the bounds: noise, clipping and rounding are in them. About a "
    "population that the records are a sample of, less is known."
)
_POPULATION = (
    "are about the population that the records were drawn from, at random: the draw, noise, clipping and "
    "rounding are in them."
)
