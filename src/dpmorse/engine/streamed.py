"""Exact sums over records that are read one part after the other, in memory that does not grow with them."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any

from dpmorse._threads import available_cores
from dpmorse.engine.base import Engine
from dpmorse.engine.fingerprint import Checked, add_up_checked
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.engine.partitioned import PartitionedEngine, Question


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
