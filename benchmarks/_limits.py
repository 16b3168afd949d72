"""The limits of this machine, measured in the same run, and how near a pass comes to them.

A pass over records reads them once and multiplies and adds a known number of times per record. The slower of
the two limits cannot be beaten by much on this machine. They are measured, not read off a data sheet: the
cores may have other work.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks._measure import seconds
from dpmorse._threads import available_cores

_READ_MEGABYTES = 512  # far more than a cache holds
_MATRIX = 2048


@dataclass(frozen=True)
class Limits:
    """Bytes read and multiply-adds done per second, on all cores."""

    bytes_per_second: float
    single_per_second: float
    double_per_second: float

    @classmethod
    def measured(cls, repeats: int = 5) -> "Limits":
        """Measure this machine; takes a second or two."""
        return cls(bandwidth(repeats), multiply_adds(np.float32, repeats), multiply_adds(np.float64, repeats))

    def seconds_per_row(self, work: "Work") -> float:
        """Return the least time a record can take: that of reading it or that of its arithmetic."""
        arithmetic = work.single / self.single_per_second + work.double / self.double_per_second
        return max(work.bytes_read / self.bytes_per_second, arithmetic)

    def fraction(self, work: "Work", seconds_per_row: float) -> float:
        """Return how near a measured time per record comes to the limit; 1 is the limit."""
        return self.seconds_per_row(work) / seconds_per_row


@dataclass(frozen=True)
class Work:
    """Work of one pass for one record: bytes read, and multiply-adds in float32 and in float64."""

    bytes_read: int
    single: int
    double: int


def hard_pass_work(n_components: int, n_features: int, itemsize: int = 8) -> Work:
    """Count the hard pass: scores of all cells in float32, sums of one cell in float64."""
    return Work(
        n_features * itemsize,
        n_components * score_multiply_adds(n_features),
        sum_multiply_adds(n_features),
    )


def soft_pass_work(n_components: int, n_features: int, itemsize: int = 8) -> Work:
    """Count the soft pass, all in float64: scores of all cells, and sums of all of them."""
    each = score_multiply_adds(n_features) + sum_multiply_adds(n_features)
    return Work(n_features * itemsize, 0, n_components * each)


def labels_work(n_components: int, n_features: int, itemsize: int = 8) -> Work:
    """Count ``predict``: scores of all components in float64."""
    return Work(n_features * itemsize, 0, n_components * score_multiply_adds(n_features))


def score_multiply_adds(n_features: int) -> int:
    """Count a lower triangle times a record, and the squares of the result."""
    return n_features * (n_features + 1) // 2 + n_features


def sum_multiply_adds(n_features: int) -> int:
    """Count a count, a sum and the lower triangle of second moments."""
    return 1 + n_features + n_features * (n_features + 1) // 2


def bandwidth(repeats: int = 5) -> float:
    """Return the bytes per second that all cores together read from memory."""
    n_threads = available_cores()
    parts = [np.ones((_READ_MEGABYTES << 17) // n_threads) for _ in range(n_threads)]
    with ThreadPoolExecutor(n_threads) as threads:
        shortest = seconds(lambda: list(threads.map(np.sum, parts)), repeats)
    return sum(part.nbytes for part in parts) / shortest


def multiply_adds(dtype: npt.DTypeLike, repeats: int = 5) -> float:
    """Return the multiply-adds per second of a large matrix product, on all cores."""
    matrix = np.random.default_rng(0).random((_MATRIX, _MATRIX)).astype(dtype)
    return float(_MATRIX) ** 3 / seconds(lambda: matrix @ matrix, repeats)
