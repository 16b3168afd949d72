"""Random bits, and exact comparisons with them.

Bits come from the operating system, or from a seed for tests and benchmarks. A uniform real is compared with
exp(-x) by rational arithmetic, on as many bits as it takes.
"""

import math
import os
from fractions import Fraction
from typing import Protocol

import numpy as np


class ByteSource(Protocol):
    """Uniform, independent random bytes."""

    secure: bool

    def __call__(self, n_bytes: int) -> bytes:
        """Return ``n_bytes`` fresh bytes."""
        ...


class SystemBytes:
    """The operating system's generator: cannot be replayed, is safe across forks, keeps no state."""

    secure = True

    def __call__(self, n_bytes: int) -> bytes:
        """Return fresh bytes of ``os.urandom``."""
        return os.urandom(n_bytes)


class SeededBytes:
    """A reproducible stream for tests and benchmarks. Whoever knows the seed can subtract the noise.

    Philox is used through its raw output, which NumPy promises never to change.
    """

    secure = False

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._words = np.random.Philox(seed)

    def __call__(self, n_bytes: int) -> bytes:
        """Return the next bytes of the stream."""
        words = np.asarray(self._words.random_raw(-(-n_bytes // 8)), dtype="<u8")
        return words.tobytes()[:n_bytes]


class LazyUniform:
    """A uniform real in [0, 1) known by its first 64 bits, extended when a comparison needs more."""

    def __init__(self, first_word: int, source: ByteSource) -> None:
        self._source = source
        self._numerator, self._bits = first_word, 64

    def is_below_exp_minus(self, exponent: Fraction) -> bool:
        """Decide ``uniform < exp(-exponent)`` exactly."""
        while True:
            if exponent > self._bits and self._numerator:
                return False  # exp(-exponent) < 2^-bits <= uniform; the enclosure would be slow to compute
            low, high = exp_minus_bounds(exponent, self._bits + 16)
            if Fraction(self._numerator + 1, 1 << self._bits) <= low:
                return True
            if Fraction(self._numerator, 1 << self._bits) >= high:
                return False
            self._numerator = (self._numerator << 64) | int.from_bytes(self._source(8), "little")
            self._bits += 64


def exp_minus_bounds(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose exp(-exponent), exponent >= 0, in an interval of width about 2^-bits.

    ``exp(-x) = exp(-x/m)^m`` with m > x; the alternating series of exp(-x/m) encloses its limit between
    two partial sums.
    """
    parts = int(exponent) + 1
    step = exponent / parts
    term, partial, k = Fraction(1), Fraction(1), 0
    precision, scale = Fraction(1, parts << bits), 1 << 2 * bits
    while term > precision or k % 2:  # an even number of terms: the partial sum is above its limit
        k += 1
        term = Fraction(math.floor(term * step / k * scale), scale)  # coarser, to keep numerators short
        partial += term if k % 2 == 0 else -term
    # coarsening moved each term by less than 2^-2bits, all together by far less than `precision`
    low, high = max(Fraction(0), partial - term - precision), partial + precision
    return low**parts, high**parts
