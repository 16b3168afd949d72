"""Exact sums over records that are read a batch at a time, in memory that does not grow with their number."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from dpmorse.engine.base import Cells, Engine, Moments, add_up
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    ExactMoments,
    Histograms,
    Tally,
)
from dpmorse.typing import IntArray


class Batches(Protocol):
    """Records in parts, each of which the inner engine takes; iterating again begins anew."""

    def __len__(self) -> int:
        """Number of records."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the parts, the same records every time."""
        ...


@dataclass(frozen=True)
class StreamedEngine:
    """Sums over batches: those of each batch, added.

    Parameters
    ----------
    inner : Engine
        Adds up one batch.
    """

    inner: Engine = field(default_factory=InMemoryEngine)

    def reduce(self, records: Batches, statistic: Moments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        return sealed(add_up(opened(self.inner.reduce(batch, statistic, cells)) for batch in records))

    def count(self, records: Batches, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        return sealed(add_up(opened(self.inner.count(batch, statistic)) for batch in records))

    def tally(self, records: Batches, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        return sealed(add_up(opened(self.inner.tally(batch, codes)) for batch in records))
