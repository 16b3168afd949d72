"""A progress bar, on stderr and only on a terminal. It shows how much of a file, never how many rows."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from dpmorse.cli.messages import printable


class Bar:
    """Steps of one command, shown one after the other."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show that something is going on that has no measurable parts."""
        with self._task(what, None):
            yield

    @contextmanager
    def fraction(self, what: str) -> Iterator[Callable[[float], None]]:
        """Show how far something is; call the result with a number between 0 and 1."""
        with self._task(what, 1.0) as update:
            yield update

    @contextmanager
    def _task(self, what: str, total: float | None) -> Iterator[Callable[[float], None]]:
        progress = self._progress
        if progress is None:
            yield lambda _: None
            return
        task = progress.add_task(printable(what), total=total)
        try:
            yield lambda done: progress.update(task, completed=done)
        finally:
            progress.remove_task(task)


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[Bar]:
    """Draw a bar while the block runs, if it is wanted and somebody can see it."""
    if not (shown and sys.stderr.isatty()):
        yield Bar(None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, TaskProgressColumn(), TimeElapsedColumn(), console=console, transient=True
    ) as progress:
        yield Bar(progress)
