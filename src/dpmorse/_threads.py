"""Divide compiled work among the cores that this process may use."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from functools import cache, lru_cache
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import TypeVar

from threadpoolctl import ThreadpoolController

_T = TypeVar("_T")
_P = TypeVar("_P")

_PIECES_PER_THREAD = 4
"""Pieces of work for each core: rows and cores differ in speed, and a free core takes the next piece."""


def available_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(work: Callable[[int, int], None], n_rows: int, smallest: int) -> None:
    """Call ``work(start, stop)`` on pieces of at least ``smallest`` rows, on all cores at once."""
    n_threads = max(1, min(available_cores(), n_rows // smallest))
    if n_threads == 1:
        work(0, n_rows)
        return
    n_pieces = min(_PIECES_PER_THREAD * n_threads, n_rows // smallest)

    def work_on(pieces: Iterable[tuple[int, int]]) -> None:
        for start, stop in pieces:
            work(start, stop)

    at_once(work_on, equal_pieces(n_rows, n_pieces), n_threads)


def equal_pieces(n_rows: int, n_pieces: int) -> list[tuple[int, int]]:
    """Cut rows into pieces of one size, none of them empty."""
    cuts = {n_rows * i // n_pieces for i in range(n_pieces + 1)}
    return list(pairwise(sorted(cuts)))


def at_once(work: Callable[[Iterable[_P]], _T], pieces: Sequence[_P], n_threads: int) -> list[_T]:
    """Call work on several threads at once, the calling one among them; return what each returned.

    Each call gets pieces one by one until none is left, so that all threads finish together. Calls that have
    not begun by then are not waited for, so that work of other callers, or work that divides itself, holds up
    nothing.
    """
    ends = [None] * n_threads
    left: SimpleQueue[_P | None] = SimpleQueue()
    for piece in (*pieces, *ends):
        left.put(piece)

    def take_pieces() -> _T:
        try:
            return work(iter(left.get, None))
        except BaseException:  # no thread gets another piece
            with suppress(Empty):
                while True:
                    left.get_nowait()
            for end in ends:
                left.put(end)
            raise

    waiting: list[Future[_T]] = []
    try:
        waiting.extend(_waiting_threads().submit(take_pieces) for _ in range(n_threads - 1))
        first = take_pieces()
    finally:
        begun = [call for call in waiting if not call.cancel()]
        wait(begun)
    return [first, *(call.result() for call in begun)]  # raises what was raised there


def one_library_thread() -> AbstractContextManager[object]:
    """Keep libraries to one thread: those of BLAS and OpenMP."""
    limited: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return limited


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep matrix libraries to one thread: for small matrices their threads would slow ours down."""
    limited: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001 - the key
    """Look for loaded libraries, which takes milliseconds, when modules were loaded since the last look."""
    return ThreadpoolController()


@cache
def _waiting_threads() -> ThreadPoolExecutor:
    """Return threads that are started once, when first needed: a start costs more than most calls take."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="dpmorse")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting_threads.cache_clear)  # a fork takes no threads along
