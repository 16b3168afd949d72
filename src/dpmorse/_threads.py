"""Divide compiled work among the cores that this process may use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise

from threadpoolctl import ThreadpoolController


def available_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(work: Callable[[int, int], None], n_rows: int, smallest: int) -> None:
    """Call ``work(start, stop)`` on pieces of at least ``smallest`` rows, on all cores at once.

    The calling thread works as well. Work must not divide itself further: it would wait for threads that
    wait for it.
    """
    n_pieces = max(1, min(available_cores(), n_rows // smallest))
    first, *others = pairwise(n_rows * i // n_pieces for i in range(n_pieces + 1))
    running = [_waiting_threads().submit(work, *piece) for piece in others]
    try:
        work(*first)
    finally:
        wait(running)
    for piece in running:
        piece.result()  # raises what was raised there


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep matrix libraries to one thread: where matrices are small, theirs get in the way of ours."""
    limited: AbstractContextManager[object] = _matrix_libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _matrix_libraries() -> ThreadpoolController:
    """Look for the libraries once, which takes a millisecond: all are loaded before matrices are made."""
    return ThreadpoolController()


@cache
def _waiting_threads() -> ThreadPoolExecutor:
    """Return threads that are started once, when first needed: a start costs more than most calls take."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="dpmorse")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting_threads.cache_clear)  # a fork takes no threads along
