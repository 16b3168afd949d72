"""Exact sums over records that stay where they are, in partitions: what all such storages have in common.

The engine for parts that are read one after the other, in memory that does not grow with them, is here too.

Tasks are functions of their partition alone and draw nothing at random, so that one that is run again, after
its machine died or because it was slow, gives the same integers. Noise is not drawn here. A pass that saw
other records than the first one (what is computed anew each time need not be the same) is refused.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any

from dpmorse._threads import available_cores
from dpmorse.engine.base import Cells, Engine, add_up
from dpmorse.engine.fingerprint import Checked, Fingerprint, add_up_checked
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import BinaryCodes, CellMoments, ExactMoments, Histograms, Tally
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
        return self._total(records, "reduce", statistic, cells)

    def count(self, records: Partitions, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        return self._total(records, "count", statistic)

    def tally(self, records: Partitions, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        return self._total(records, "tally", codes)

    def answers(self, parts: Any, question: Question) -> Checked[Any]:
        """Put a question to all partitions; return the sum of their answers."""
        raise NotImplementedError

    def _total(self, records: Partitions, method: str, *arguments: Any) -> Exact[Any]:
        question = Question(self.inner, method, arguments)
        total = self.answers(records.parts, question)
        records.seen.check_same(total.seen)
        here = [question(Checked(Fingerprint(), array)).value for array in records.others()]
        return sealed(add_up([total.value, *here]))


@dataclass(frozen=True)
class Reads:
    """Parts of the records that are read anew in every pass.

    Attributes
    ----------
    start : callable
        Begins a pass: returns an iterator of parts, as they are read.
    open : callable
        Turns a part into checked records; in any thread.
    lasting : bool
        Whether a part stays as it is while the next is read.
    """

    start: Callable[[], Iterator[Any]]
    open: Callable[[Any], Any]
    lasting: bool = True

    def then(self, function: Callable[[Any], Any]) -> "Reads":
        """Return the same parts with a function of each in its place."""
        before = self.open
        return replace(self, open=lambda part: function(before(part)))

    def each(self, function: Callable[[Any], Any], n_threads: int | None = None) -> Iterator[Any]:
        """Yield a function of all parts in their order: the calling thread reads, others do all else."""
        n_threads, work = n_threads or available_cores(), self.then(function).open
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(n_threads) as threads:
            for part in self.start():
                # in the context of the caller, who may watch the progress
                waiting.append(threads.submit(copy_context().run, work, part))
                while len(waiting) > (n_threads + 2 if self.lasting else 0):
                    yield waiting.popleft().result()
            yield from (done.result() for done in waiting)


@dataclass(frozen=True)
class StreamedEngine(PartitionedEngine):
    """Sums over parts that are read one after the other.

    Parameters
    ----------
    inner : Engine
        Adds up one part. As many parts are worked on at the same time as an ``InMemoryEngine`` has threads;
        of any other engine one.
    """

    inner: Engine = field(default_factory=InMemoryEngine)

    def answers(self, parts: Reads, question: Question) -> Checked[Any]:
        """Put a question to all parts; return the sum of their answers."""
        if not isinstance(self.inner, InMemoryEngine):
            return add_up_checked(parts.each(question, n_threads=1))
        of_pass = replace(question, engine=self.inner.for_one_pass())
        return add_up_checked(parts.each(of_pass, self.inner.n_threads))
