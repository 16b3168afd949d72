"""Exact integers of any size: int64 as long as that holds them for sure, Python's own integers beyond.

Which of the two it is changes no value, so that sums over billions of records stay exact.
"""

import numpy as np

from dpmorse.typing import IntArray

ROOM_BITS = 62
"""Sums stay below 2^62 in int64: a bit is the sign's, and noise needs room as well."""


def add(a: IntArray, b: IntArray) -> IntArray:
    """Return a + b."""
    fits = _largest(a) + _largest(b) < 1 << ROOM_BITS
    total: IntArray = a + b if fits else a.astype(object) + b.astype(object)
    return total


def shift(values: IntArray, bits: int) -> IntArray:
    """Return values * 2^bits."""
    fits = _largest(values) < 1 << (ROOM_BITS - bits)
    shifted: IntArray = (values if fits else values.astype(object)) << bits
    return shifted


def add_columns(values: IntArray) -> IntArray:
    """Return the sum of every row."""
    fits = _largest(values) * values.shape[1] < 1 << ROOM_BITS
    total: IntArray = (values if fits else values.astype(object)).sum(axis=1)
    return total


def _largest(values: IntArray) -> int:
    return int(np.abs(values).max(initial=0))
