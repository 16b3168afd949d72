"""The low bits of releases: the precision attack of Haney et al. (2022).

A float sum 1 + noise is a multiple of 2^-53, always; 0 + noise is not, where the noise is small. A released
number that is finer than 2^-53 proves that nobody was counted. What the library releases is a multiple of
2^-28 for either dataset.
"""

from collections.abc import Iterator

import numpy as np

from audits.attacks.sampler import seeded
from dpmorse.privacy import Mechanism, Neighboring, PlannedRelease, Step
from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import GroupCounts
from dpmorse.typing import FloatArray, IntArray

GRID = 2.0**28
"""Units of the library in 1: released counts are multiples of 1 / GRID."""

_BATCH = 1 << 20
"""Releases drawn at a time, to bound the memory of long runs."""

_RHO = 0.01
"""Cost of each release; the standard deviation of the count is then 7."""


def telling_bits(values: FloatArray) -> int:
    """Count values that are no multiples of 2^-53: the event that gives an empty group away."""
    return int(np.count_nonzero((values * 2.0**53) % 1))


def off_the_grid(values: FloatArray) -> int:
    """Count values that are no multiples of the unit 2^-28."""
    return int(np.count_nonzero((values * GRID) % 1))


def released_counts(count: int, runs: int, *, seed: int = 0) -> Iterator[FloatArray]:
    """Yield batches of releases of a count, as a user gets them."""
    statistic = GroupCounts(1)
    planned = statistic.plan(Step("count"), _RHO, Neighboring.ADD_REMOVE)
    mechanism = Mechanism([], seeded(seed))
    for start in range(0, runs, _BATCH):
        n = min(_BATCH, runs - start)
        many = PlannedRelease(np.tile(planned.scales, n), planned.event)
        exact = opened(statistic.to_units(sealed(np.array([count]))))
        yield statistic.from_units(mechanism.release(sealed(np.tile(exact, n)), many))


def attack(runs: int, seed: int = 0) -> tuple[int, int]:
    """Return how many of ``runs`` releases of each count betray it, and how many are off the grid."""
    betrayed = off_grid = 0
    for count in (0, 1):
        for values in released_counts(count, runs, seed=seed + count):
            betrayed += telling_bits(values)
            off_grid += off_the_grid(values)
    return betrayed, off_grid


def attack_on_floats(runs: int, stddev: float, seed: int = 0) -> tuple[int, int]:
    """Return the same events for NumPy's floating-point noise, with a count of 0 and with a count of 1."""
    rng = np.random.default_rng(seed)
    empty, occupied = (telling_bits(count + stddev * rng.standard_normal(runs)) for count in (0, 1))
    return empty, occupied


def low_bits(count: int, runs: int, seed: int) -> IntArray:
    """Return how often each value of the six lowest bits is released."""
    bits = np.zeros(64, dtype=np.int64)
    for values in released_counts(count, runs, seed=seed):
        bits += np.bincount((values * GRID).astype(np.int64) & 63, minlength=64)
    return bits
