"""Where random bits come from: the operating system, or a seed for tests and benchmarks."""

import os
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
