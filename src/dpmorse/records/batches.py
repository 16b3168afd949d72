"""A batch: checked records that are in memory at a time, and whose each one is."""

from dataclasses import dataclass

import numpy as np

from dpmorse.engine.seen import HashArray
from dpmorse.records._kernels import hash_rows
from dpmorse.records.owners import Owners
from dpmorse.typing import FloatArray

_NOBODY = np.zeros(1, dtype=np.uint64)
_ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class Batch:
    """Checked records and, where somebody owns them, whose each one is."""

    array: FloatArray
    owners: Owners | None = None

    def __post_init__(self) -> None:
        """Refuse more or fewer owners than records."""
        if self.owners is not None:
            self.owners.check_length(len(self.array))

    def __len__(self) -> int:
        return len(self.array)

    def hashes(self) -> HashArray:
        """Return a hash of each row and its owner; equal numbers in float32 and float64 have the same."""
        hashes = np.empty(len(self.array), dtype=np.uint64)
        seeds = _NOBODY if self.owners is None else self.owners.ids.hashes
        nobody = np.zeros(min(len(hashes), _ROWS_AT_A_TIME), dtype=np.int64)
        for start in range(0, len(hashes), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            bits = self.array[rows].astype(np.float64, copy=False).view(np.uint64)
            places = nobody if self.owners is None else self.owners.places[rows]
            hash_rows(bits, seeds, places, hashes[rows])
        return hashes
