"""Divide compiled work among the cores that this process may use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def available_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(work: Callable[[int, int], None], n_rows: int, smallest: int) -> None:
    """Call ``work(start, stop)`` on pieces of at least ``smallest`` rows, on all cores at once."""
    n_pieces = max(1, min(available_cores(), n_rows // smallest))
    if n_pieces == 1:
        work(0, n_rows)
        return
    cuts = [n_rows * i // n_pieces for i in range(n_pieces + 1)]
    with ThreadPoolExecutor(n_pieces) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
