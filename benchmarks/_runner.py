"""Running tasks: in several processes, each on a core of its own, with a progress line, and never twice.

Every result is appended to a file as soon as it is there. A run that was interrupted, or is asked for again,
reads that file and does what is missing.
"""

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TextIO

from benchmarks._experiments import Row, Task

Work = Callable[[Task], Row]
_QUIET_SECONDS = 30.0  # between lines where a line cannot be overwritten
_BAR = 30


class Store:
    """Results on disk, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[Task, Row]:
        """Return the stored results; a line cut short by a crash is not one."""
        if not self._path.exists():
            return {}
        rows = [_parsed(line) for line in self._path.read_text(encoding="utf-8").splitlines()]
        return {_task_of(row): row for row in rows if row is not None}

    @contextmanager
    def appending(self) -> Iterator[Callable[[Row], None]]:
        """Yield a function that stores a result at once."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            if torn:
                file.write("\n")

            def append(row: Row) -> None:
                file.write(json.dumps(row) + "\n")
                file.flush()

            yield append


def _parsed(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    names = {part.name for part in fields(Task)} | {"ari", "error", "seconds"}
    return row if isinstance(row, dict) and names <= set(row) else None


def _task_of(row: Row) -> Task:
    return Task(**{part.name: row[part.name] for part in fields(Task)})


def run_missing(tasks: Sequence[Task], store: Store, work: Work, processes: int) -> list[Row]:
    """Return the results of all tasks, in their order; work on those that are not stored yet."""
    done = store.read()
    missing = [task for task in tasks if task not in done]
    progress = Progress(len(tasks), len(tasks) - len(missing))
    with store.appending() as append:
        for row in _results(missing, work, processes):
            append(row)
            done[_task_of(row)] = row
            progress.advance()
    progress.close()
    return [done[task] for task in tasks]


def _results(tasks: Sequence[Task], work: Work, processes: int) -> Iterator[Row]:
    if processes == 1 or len(tasks) < 2:
        with _on_core(0):
            yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")  # threads of the parent do not survive a fork
    workers = context.Value("i", 0)
    with ProcessPoolExecutor(processes, context, initializer=_start_worker, initargs=(workers,)) as pool:
        try:
            for future in as_completed([pool.submit(work, task) for task in tasks]):
                yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)  # else an interrupted run would finish all tasks first
            raise


def _start_worker(workers: Any) -> None:
    with workers.get_lock():
        index = workers.value
        workers.value += 1
    _stay_on_core(index)


def _stay_on_core(index: int) -> None:
    """Keep this process on one core, where the library uses one thread: it counts the cores it may use."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[index % len(cores)]})


@contextmanager
def _on_core(index: int) -> Iterator[None]:
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    _stay_on_core(index)
    try:
        yield
    finally:
        if before is not None:
            os.sched_setaffinity(0, before)


class Progress:
    """A line on stderr that says how many runs are done and how long the others will take."""

    def __init__(self, total: int, done: int, stream: TextIO | None = None) -> None:
        self._total, self._done, self._reused = total, done, done
        self._stream = stream or sys.stderr
        self._overwrites = self._stream.isatty()
        self._start = self._shown = time.monotonic()
        self._show()

    def advance(self) -> None:
        """Count one more run."""
        self._done += 1
        if self._overwrites or time.monotonic() - self._shown > _QUIET_SECONDS:
            self._show()

    def close(self) -> None:
        """Leave the last line standing."""
        self._show()
        self._stream.write("\n" if self._overwrites else "")

    def _show(self) -> None:
        self._shown = time.monotonic()
        share = self._done / max(1, self._total)
        bar = "#" * int(_BAR * share)
        line = f"[{bar:<{_BAR}}] {self._done}/{self._total} runs, {self._reused} stored, {self._left()}"
        self._stream.write(f"\r{line:<90}" if self._overwrites else line + "\n")
        self._stream.flush()

    def _left(self) -> str:
        made = self._done - self._reused
        if self._done == self._total:
            return "done"
        if made == 0:
            return "no estimate yet"
        seconds = (self._shown - self._start) / made * (self._total - self._done)
        return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d} left"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that the path holds either the old content or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
