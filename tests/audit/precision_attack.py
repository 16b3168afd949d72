"""The precision attack of Haney et al. (2022): low bits that only one of two datasets can produce.

A float sum 1 + noise is a multiple of 2^-53, always; 0 + noise is not, where the noise is small. Seeing a finer number
tells for sure that nobody was counted. What the library releases is a multiple of 2^-28 for either dataset.
"""

import numpy as np

from dpmorse.privacy import Mechanism, Neighboring, PlannedRelease
from dpmorse.statistics import GroupCounts
from worst_pairs import seeded

GRID = 2.0**28
_BATCH = 1 << 20


def telling_bits(values):
    """Count values that are no multiples of 2^-53: the event that gives an empty group away."""
    return int(np.count_nonzero((values * 2.0**53) % 1))


def off_the_grid(values):
    """Count values that are no multiples of the unit 2^-28."""
    return int(np.count_nonzero((values * GRID) % 1))


def released_counts(count, runs, *, epsilon_like=0.01, seed=0):
    """Yield batches of releases of a count, as a user gets them."""
    statistic = GroupCounts(1)
    planned = statistic.plan("count", epsilon_like, Neighboring.ADD_REMOVE)
    mechanism = Mechanism([], seeded(seed))
    for start in range(0, runs, _BATCH):
        n = min(_BATCH, runs - start)
        many = PlannedRelease(np.tile(planned.scales, n), planned.event)
        yield statistic.from_units(mechanism.release(np.tile(statistic.to_units(np.array([count])), n), many))


def attack(runs, seed=0):
    """Return how many of ``runs`` releases of each count betray it, and how many are off the grid."""
    betrayed = off_grid = 0
    for count in (0, 1):
        for values in released_counts(count, runs, seed=seed + count):
            betrayed += telling_bits(values)
            off_grid += off_the_grid(values)
    return betrayed, off_grid


def attack_on_floats(runs, stddev, seed=0):
    """Return the same events for NumPy's floating-point noise, with a count of 0 and with a count of 1."""
    rng = np.random.default_rng(seed)
    return tuple(telling_bits(count + stddev * rng.standard_normal(runs)) for count in (0, 1))


def low_bits(count, runs, seed):
    """Return how often each value of the six lowest bits is released."""
    bits = np.zeros(64, dtype=np.int64)
    for values in released_counts(count, runs, seed=seed):
        bits += np.bincount((values * GRID).astype(np.int64) & 63, minlength=64)
    return bits
