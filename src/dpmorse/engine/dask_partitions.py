"""Exact sums over the partitions of a Dask collection: added where they are, then as a tree.

Tasks are functions of their partition alone and draw nothing at random, so that one that is run again
after its worker died gives the same integers. Noise is not drawn here. A pass that saw other records than the
first one (a collection that is computed anew each time need not be the same) is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import dask

from dpmorse.engine.base import Cells, Engine, Moments, add_up
from dpmorse.engine.dask_waiting import computed
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.engine.seen import Checked, Seen
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    ExactMoments,
    Histograms,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray

_FAN_IN = 8
"""Sums that one task adds up: fewer make the tree of tasks deeper, more move more data to one worker."""


@dataclass(frozen=True)
class Partitions:
    """Checked records that are used."""

    parts: Sequence[Any]
    """Each a lazy ``Checked`` array."""

    seen: Seen
    """What every pass must see."""

    n_used: int
    """Number of records."""

    others: Callable[[], Any]
    """Returns arrays of records, in memory here, that are used besides."""

    def __len__(self) -> int:
        return self.n_used


@dataclass(frozen=True)
class DaskEngine:
    """Sums over partitions, on whatever scheduler is at work: threads, processes or a cluster.

    Parameters
    ----------
    inner : Engine
        Adds up one partition. Partitions are worked on at the same time, so by default each by one thread.
    """

    inner: Engine = field(default_factory=lambda: InMemoryEngine(n_threads=1))

    def reduce(self, records: Partitions, statistic: Moments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        return self._total("reduce", records, statistic, cells)

    def count(self, records: Partitions, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        return self._total("count", records, statistic)

    def tally(self, records: Partitions, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        return self._total("tally", records, codes)

    def _total(self, method: str, records: Partitions, *arguments: Any) -> Exact[Any]:
        request = (self.inner, method, arguments)
        shared = dask.delayed(request)  # once in the graph, not once a partition
        total = add_up_lazily([dask.delayed(_sums_of)(shared, part) for part in records.parts])
        records.seen.check_same(total.seen)
        here = [_sums_of(request, Checked(Seen(), array)).value for array in records.others()]
        return sealed(add_up([total.value, *here]))


def add_up_lazily(parts: Sequence[Any]) -> Any:
    """Add up what lazy parts will be, as a tree, where they are; return the sum."""
    while len(parts) > 1:
        parts = [dask.delayed(add_up)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return computed(parts[0])


def _sums_of(request: tuple[Engine, str, tuple[Any, ...]], rows: Checked[FloatArray]) -> Checked[Any]:
    engine, method, arguments = request
    return Checked(rows.seen, opened(getattr(engine, method)(rows.value, *arguments)))
