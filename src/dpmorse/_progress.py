"""Progress of a fit, for the holder of the data only: a rate and a time reveal the number of records."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

_SECONDS_BETWEEN = 0.1
"""Least time between two reports of a pass, in seconds: often enough for a person, rarely enough to cost
nothing."""


@dataclass(frozen=True)
class Progress:
    """The progress of one pass over the records.

    Attributes
    ----------
    step : str
        Name of the release that the pass is for, such as "round 3 of 10".
    fraction : float
        Part of the pass that is done, from 0 to 1; NaN where the number of rows is not known.
    rows_per_second : float
        Speed. Not private: with the time it tells how many records there are.
    seconds_left : float
        Time for the rest of this pass and for those that repeat it; NaN where it is not known.
    """

    step: str
    fraction: float
    rows_per_second: float
    seconds_left: float

    def __str__(self) -> str:
        rate = f"{self.rows_per_second:.2g} rows/s"
        if math.isnan(self.fraction):
            return f"{self.step}: {rate}"
        return f"{self.step}: {self.fraction:4.0%}, {rate}, {self.seconds_left:.0f} s left"


Watcher = Callable[[Progress], None]


class _Pass:
    """Counts the rows of one pass; threads may count at the same time."""

    def __init__(self, watcher: Watcher, step: str, n_rows: float, n_repeats: int) -> None:
        self._watcher, self._step = watcher, step
        self._n_rows, self._n_repeats = n_rows, n_repeats
        self._begun = self._told = time.monotonic()
        self._done, self._lock = 0, Lock()

    def advance(self, n_rows: int) -> None:
        """Count rows, and report them if the last report is old enough."""
        with self._lock:
            self._done += n_rows
            now = time.monotonic()
            if now - self._told < _SECONDS_BETWEEN:
                return
            self._told = now
            self._tell(self._done)

    def finish(self) -> None:
        """Report that the pass is done, even if its rows were not counted."""
        self._tell(self._done if math.isnan(self._n_rows) else self._n_rows)

    def _tell(self, done: float) -> None:
        rate = done / max(time.monotonic() - self._begun, 1e-9)
        left = (self._n_rows * (1 + self._n_repeats) - done) / max(rate, 1e-9)
        self._watcher(Progress(self._step, done / self._n_rows, rate, left))


_WATCHER: ContextVar[Watcher | None] = ContextVar("_WATCHER", default=None)
"""The function that receives reports; None without one."""

_PASS: ContextVar[_Pass | None] = ContextVar("_PASS", default=None)
"""The pass that is under way; None without a watcher."""


@contextmanager
def progress(watcher: Watcher | None = None) -> Iterator[None]:
    """Report the progress of fits while the block runs.

    Parameters
    ----------
    watcher : callable, optional
        Called with a ``Progress`` about ten times a second; if not given, a line on stderr is kept up to
        date. An exception in it ends the fit; what was spent by then stays in the ledger.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPMoGHard, progress
    >>> steps = set()
    >>> with progress(lambda report: steps.add(report.step)):
    ...     model = DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(np.zeros((500, 2)))
    >>> sorted(steps)
    ['round 1 of 2', 'round 2 of 2']
    """
    token = _WATCHER.set(_show if watcher is None else watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)
        if watcher is None:
            sys.stderr.write("\n")


@contextmanager
def one_pass(step: str, n_rows: float = math.nan, n_repeats: int = 0) -> Iterator[None]:
    """Report a pass over ``n_rows`` rows (None if unknown), after which ``n_repeats`` like it follow."""
    watcher = _WATCHER.get()
    if watcher is None:
        yield
        return
    counted = _Pass(watcher, step, n_rows, n_repeats)
    token = _PASS.set(counted)
    try:
        yield
        counted.finish()
    finally:
        _PASS.reset(token)


def counter() -> Callable[[int], None]:
    """Return a function to call, from any thread, with the number of rows that were done."""
    counted = _PASS.get()
    return (lambda _: None) if counted is None else counted.advance


def _show(report: Progress) -> None:
    sys.stderr.write(f"\r\x1b[K{report}")
    sys.stderr.flush()
