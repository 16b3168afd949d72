"""Exact sums over records that stay where they are, in partitions: what all such storages have in common.

Tasks are functions of their partition alone and draw nothing at random, so that one that is run again, after
its machine died or because it was slow, gives the same integers. Noise is not drawn here. A pass that saw
other records than the first one (what is computed anew each time need not be the same) is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dpmorse.engine.base import Cells, Engine, add_up
from dpmorse.engine.fingerprint import Checked, Fingerprint
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ExactMoments,
    Histograms,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Partitions:
    """Checked records that are used."""

    parts: Any
    """Where the records are, as the engine of the storage knows it."""

    seen: Fingerprint
    """What every pass must see."""

    n_used: int
    """Number of records."""

    others: Callable[[], Any]
    """Returns arrays of records, in memory here, that are used besides."""

    def __len__(self) -> int:
        return self.n_used


@dataclass(frozen=True)
class Question:
    """What is asked of every partition; it travels to where they are."""

    engine: Engine
    method: str
    arguments: tuple[Any, ...]

    def __call__(self, rows: Checked[FloatArray]) -> Checked[Any]:
        """Return the sums of some rows, with what was seen."""
        return Checked(rows.seen, opened(getattr(self.engine, self.method)(rows.value, *self.arguments)))


@dataclass(frozen=True)
class PartitionedEngine:
    """Sums over partitions: subclasses say how a question is put to all of them.

    Parameters
    ----------
    inner : Engine
        Adds up one partition. Partitions are worked on at the same time, so by default each by one thread.
    """

    inner: Engine = field(default_factory=lambda: InMemoryEngine(n_threads=1))

    def reduce(self, records: Partitions, statistic: CellMoments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        return self._total(records, Question(self.inner, "reduce", (statistic, cells)))

    def count(self, records: Partitions, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        return self._total(records, Question(self.inner, "count", (statistic,)))

    def tally(self, records: Partitions, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        return self._total(records, Question(self.inner, "tally", (codes,)))

    def answers(self, parts: Any, question: Question) -> Checked[Any]:
        """Put a question to all partitions; return the sum of their answers."""
        raise NotImplementedError

    def _total(self, records: Partitions, question: Question) -> Exact[Any]:
        total = self.answers(records.parts, question)
        records.seen.check_same(total.seen)
        here = [question(Checked(Fingerprint(), array)).value for array in records.others()]
        return sealed(add_up([total.value, *here]))
