"""One histogram per column: where the records lie inside bounds that may be far too wide."""

from dataclasses import dataclass

import numpy as np

from dpmorse.statistics.counts import GroupCounts
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.typing import IntArray

BIN_BITS = 6
N_BINS = 1 << BIN_BITS


@dataclass(frozen=True)
class ColumnHistograms:
    """Counts of records in 64 equal bins of the box, for every column.

    Parameters
    ----------
    domain : Domain
        Public box.
    """

    domain: Domain

    @property
    def counts(self) -> GroupCounts:
        """What is released: a record is in exactly one bin of each of the D columns."""
        return GroupCounts(self.domain.n_features * N_BINS, self.domain.n_features)

    def bins(self, q: IntArray) -> IntArray:
        """Return the bin of each coordinate of quantised records (plain form); the last bin is closed."""
        shift = GRID_BITS + 1 - BIN_BITS
        binned: IntArray = np.minimum((q + (1 << GRID_BITS)) >> shift, N_BINS - 1)
        return binned
