"""Exact sums over the partitions of a Dask collection: added where they are, then as a tree.

Tasks are functions of their partition alone and draw nothing at random, so that one that is run again
after its worker died gives the same integers. Noise is not drawn here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import dask
import numpy as np
import numpy.typing as npt

from dpmorse.engine.base import Cells, Engine, add_up
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.statistics.codes import BinaryCodes, Tally
from dpmorse.statistics.histograms import ColumnHistograms, MagnitudeHistograms
from dpmorse.statistics.moments import CellMoments
from dpmorse.statistics.sums import ExactMoments
from dpmorse.typing import FloatArray, IntArray

_FAN_IN = 8


@dataclass(frozen=True)
class Partitions:
    """Checked records, each partition a lazy array, and how many rows it has."""

    arrays: Sequence[Any]
    lengths: Sequence[int]

    def __len__(self) -> int:
        return sum(self.lengths)

    def __getitem__(self, kept: npt.NDArray[np.bool_]) -> "Partitions":
        """Return these records without those that are not kept."""
        masks = np.split(kept, np.cumsum(self.lengths)[:-1])
        lazy = [dask.delayed(_only)(array, mask) for array, mask in zip(self.arrays, masks, strict=True)]
        return Partitions(lazy, [int(mask.sum()) for mask in masks])


@dataclass(frozen=True)
class DaskEngine:
    """Sums over partitions, on whatever scheduler is at work: threads, processes or a cluster.

    Parameters
    ----------
    inner : Engine
        Adds up one partition. Partitions are worked on at the same time, so by default each by one thread.
    """

    inner: Engine = field(default_factory=lambda: InMemoryEngine(n_threads=1))

    def reduce(self, records: Partitions, statistic: CellMoments, cells: Cells) -> ExactMoments:
        """Add up the statistic; see ``Engine.reduce``."""
        sums: ExactMoments = self._total("reduce", records, statistic, cells)
        return sums

    def count(self, records: Partitions, statistic: ColumnHistograms | MagnitudeHistograms) -> IntArray:
        """Count records in bins; see ``Engine.count``."""
        counts: IntArray = self._total("count", records, statistic)
        return counts

    def tally(self, records: Partitions, codes: BinaryCodes) -> Tally:
        """Count codes; see ``Engine.tally``."""
        tally: Tally = self._total("tally", records, codes)
        return tally

    def _total(self, method: str, records: Partitions, *arguments: Any) -> Any:
        shared = dask.delayed((self.inner, method, arguments))  # once in the graph, not once a partition
        parts = [dask.delayed(_sums_of)(shared, array) for array in records.arrays]
        while len(parts) > 1:
            parts = [dask.delayed(add_up)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        return parts[0].compute()


def _sums_of(shared: tuple[Engine, str, tuple[Any, ...]], array: FloatArray) -> Any:
    engine, method, arguments = shared
    return getattr(engine, method)(array, *arguments)


def _only(array: FloatArray, kept: npt.NDArray[np.bool_]) -> FloatArray:
    return array[kept]
