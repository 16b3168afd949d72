"""Records as integers of a domain: rounds of soft cells, which are many and of one domain, make them once."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse.statistics import CellMoments, Domain

KEPT_BYTES = 1 << 27
"""Bytes of integers that are kept beside records in memory: eight million records of eight columns. Of more
records integers are made anew in every round, which takes a tenth of its time."""

Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class OnGrid:
    """Records that are integers of a domain.

    Attributes
    ----------
    domain : Domain
        Where they are integers.
    integers : ndarray of shape (n_features, n_records)
        One column after the other, of 16 bits where that is enough.
    """

    domain: Domain
    integers: Integers = field(repr=False)  # records are not shown

    @classmethod
    def room_for(cls, n_records: int, domain: Domain) -> "OnGrid":
        """Return as many records, not yet filled in."""
        return cls(domain, np.empty((domain.n_features, n_records), type_of_integers(domain)))

    def __len__(self) -> int:
        return int(self.integers.shape[1])

    def __getitem__(self, rows: slice) -> "OnGrid":
        return OnGrid(self.domain, np.ascontiguousarray(self.integers[:, rows]))

    def check_asked(self, statistic: CellMoments) -> None:
        """Refuse questions about anything but soft cells of this domain: these are not the records."""
        if not (statistic.weight_bits and self.domain.is_same_as(statistic.domain)):
            raise ValueError("integers of one domain are for soft cells of the same domain")


def type_of_integers(domain: Domain) -> type[np.signedinteger[Any]]:
    """Return the smallest type that holds the integers of a domain."""
    return np.int16 if domain.grid_bits < 15 else np.int32


def n_bytes_on_grid(n_records: int, domain: Domain) -> int:
    """Return how much memory records will take."""
    return n_records * domain.n_features * np.dtype(type_of_integers(domain)).itemsize
