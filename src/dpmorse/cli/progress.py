"""A progress bar, on stderr and only on a terminal: what it shows is for the holder of the data."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from dpmorse import _progress
from dpmorse._compile import compilation_told
from dpmorse.cli.messages import note, printable

Update = Callable[[float, str], None]


class Bar:
    """Steps of one command, shown one after the other."""

    def __init__(self, bars: Bars | None) -> None:
        self._bars = bars

    @contextmanager
    def fraction(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show how far something is; call the result with a number between 0 and 1."""
        with self._task(what) as update:
            yield lambda done: update(done, what)

    @contextmanager
    def passes(self) -> Iterator[None]:
        """Show the passes of a fit, and how fast they are."""

        def show(report: _progress.Progress) -> None:
            update(0.0 if math.isnan(report.fraction) else report.fraction, str(report))

        with self._task("preparing") as update, _progress.progress(show):
            yield

    @contextmanager
    def _task(self, what: str) -> Iterator[Update]:
        bars = self._bars
        if bars is None:
            yield lambda *_: None
            return
        task = bars.add_task(printable(what), total=1.0)
        try:
            yield lambda done, now: bars.update(task, completed=done, description=printable(now))
        finally:
            bars.remove_task(task)


@contextmanager
def compiling_told(*, shown: bool) -> Iterator[None]:
    """Say, if somebody can see it, why the first fit of an installation takes so long."""
    if not (shown and sys.stderr.isatty()):
        yield
        return
    with compilation_told(lambda: note("Compiling, once for this installation: this can take a minute.")):
        yield


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[Bar]:
    """Draw a bar while the block runs, if it is wanted and somebody can see it."""
    if not (shown and sys.stderr.isatty()):
        yield Bar(None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    console = Console(stderr=True)
    bars = Bars(*columns, TaskProgressColumn(), TimeElapsedColumn(), console=console, transient=True)
    with bars, compiling_told(shown=shown):
        yield Bar(bars)
