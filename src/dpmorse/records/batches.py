"""A batch: checked records that are in memory together, and the owner of each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmorse.engine import HashArray
from dpmorse.records.persons._kernels import hash_rows
from dpmorse.records.persons.owners import RowOwners, check_length
from dpmorse.typing import FloatArray

_ROWS_AT_A_TIME = 1 << 16
"""Rows that are converted from single to double precision at a time for hashing, which limits the memory of
the copy."""


@dataclass(frozen=True)
class Batch:
    """Checked records and, where rows belong to persons, the owner of each row."""

    array: FloatArray
    owners: RowOwners | None = None

    def __post_init__(self) -> None:
        """Refuse more or fewer owners than records."""
        if self.owners is not None:
            check_length(self.owners, len(self.array))

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def owner_hashes(self) -> HashArray:
        """A hash of each row's owner; zeros where rows have no owners."""
        return np.zeros(len(self), dtype=np.uint64) if self.owners is None else self.owners.row_hashes()

    def hashes(self) -> HashArray:
        """Return a hash of each row and its owner; equal numbers in float32 and float64 have the same."""
        hashes, seeds = np.empty(len(self), dtype=np.uint64), self.owner_hashes
        for start in range(0, len(hashes), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            bits = self.array[rows].astype(np.float64, copy=False).view(np.uint64)
            hash_rows(bits, seeds[rows], hashes[rows])
        return hashes
