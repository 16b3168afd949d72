"""The hurdles of a fit in stages, from the noise of its releases: what ``dpmorse plan`` promises by.

The group that is promised is round and lies apart from all others, several of its own standard deviations;
which is why none of its records counts for another one.
"""

import math
from collections.abc import Sequence

from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.residuals import SUPPORT
from dpmorse.bases.staged import coreset, joint_histogram
from dpmorse.bases.staged.units import radius_of_ball
from dpmorse.privacy import ReleaseEvent

_SPREAD = 0.2
"""Standard deviation of the group, in those of all records. It matters where cells are counted, in one or two
columns: noise adds up over the cells that a group fills. Four clusters that are nine of their own standard
deviations apart have about this."""

_BALLS = 2
"""Balls that may share a group. Centres start from a sketch that knows nothing of it, so that the border of
two may run through it, and Lloyd's algorithm keeps it there; three borders seldom meet in a small group."""


def noise_by_stage(events: Sequence[ReleaseEvent]) -> dict[str, list[float]]:
    """Return the noise of a count in each release of each stage."""
    noises: dict[str, list[float]] = {}
    for event in events:
        if "count" in event.noise_stddev:
            noises.setdefault(event.step.stage, []).append(event.noise_stddev["count"])
    return noises


def of_coreset(noises: Sequence[float], n_records: int, n_components: int) -> list[Hurdle]:
    """Return those of the balls: the group's own has to be kept, and believed in each round before.

    Two balls may share the group. Then the larger part has to pass, which is half of it at least.
    """
    kept = coreset.least_count(n_records, noises[-1], coreset.n_cells(n_records, noises[-1], n_components))
    levels = [coreset.SUPPORT * noise for noise in noises[:-1]] + [kept]
    return [Hurdle(_BALLS * level, _BALLS * noise) for level, noise in zip(levels, noises, strict=True)]


def of_histogram(event: ReleaseEvent, n_columns: int) -> list[Hurdle]:
    """Return those of the cells: one has to stand out, and all of the group's together support a component.

    A smoothed count at the middle of the group has the part ``peak`` of its records. The memberships of the
    group's cells together have the noise of as many cells as ``filled``, the inverse of the sum of squares of
    their parts.
    """
    stddev, side = event.noise_stddev["count"], event.n_draws ** (1 / n_columns)
    spread = _SPREAD * side / (2 * radius_of_ball(n_columns))  # in cells
    # Of single cells and of blocks: the group is found where it stands out in one of them.
    levels = {1: joint_histogram.HIGH, **dict.fromkeys(joint_histogram.SIZES, joint_histogram.HIGH_OF_BLOCKS)}
    standing_out = [
        Hurdle.times(_noise_at_middle(stddev, spread, size, n_columns), high) for size, high in levels.items()
    ]
    filled = max(1.0, math.sqrt(4 * math.pi) * spread) ** n_columns
    return [
        min(standing_out, key=lambda hurdle: hurdle.level),
        Hurdle.times(stddev * math.sqrt(filled), SUPPORT),
    ]


def _noise_at_middle(stddev: float, spread: float, size: int, n_columns: int) -> float:
    """Return the noise of a smoothed count of blocks, in records of a group that has its middle there."""
    smooth = joint_histogram.noise_of_smoothed(stddev * math.sqrt(size**n_columns), n_columns)
    variance = (spread / size) ** 2 + joint_histogram.SMOOTHED_VARIANCE
    return smooth * math.sqrt(2 * math.pi * variance) ** n_columns
