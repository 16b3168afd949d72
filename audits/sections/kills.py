"""Kills at every system call that writes, and at random moments: what is left is whole, nothing hidden."""

import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from audits.kills.nursery import Nursery, kill_and_examine, nursery, strays, strays_an_hour_later
from audits.section import Effort, Findings, Table

NAME, TITLE = "kills", "Kills survived"

_TEXT = """A process opens a budget file, fits, and saves a model over an older one or where there is none.
It is killed (SIGKILL) before and after every system call with which it writes, in the middle of
writes, right behind every draw of noise, and at random moments. A failure is: a budget file or a
model that cannot be read, a model that is neither the old nor the new one, or a spend in the file
below the cost of the noise that was drawn. As a check of the check, two wrong ways to write are
killed at the same points: into the file itself, and a spend that is written when the fit has
ended; these must fail. Temporary files that killed writers leave are removed by the next write,
once they are an hour old."""
_FAILURES = ("unreadable", "neither", "under-reported", "other")


def run(effort: Effort) -> Findings:
    """Kill a process 40 times, or 500 times in a full audit."""
    n = effort.pick(quick=40, full=500)
    with tempfile.TemporaryDirectory() as folder, nursery(Path(folder)) as at:
        survived = _kills(at, _jobs(at, n), n, effort)
        left = len(strays(at.folder)), strays_an_hour_later(at)
        controls = {name: _kills(at, _points(at, 24, sabotage=name), 24, effort) for name in _CONTROLS}
    rows = [
        _row("dpmorse", survived),
        *(_row(_CONTROLS[k], found) for k, found in controls.items()),
    ]
    return Findings(
        _TEXT,
        Table(("writer", "kills", *_FAILURES), rows),
        Table(("temporary files left by all kills", "left by the next write, an hour later"), [left]),
        passed=not sum(survived.values()) - survived["kills"]
        and left[1] == 0
        and all(sum(found.values()) > found["kills"] for found in controls.values()),
    )


_CONTROLS = {"plain_write": "into the file itself", "write_behind": "the spend after the fit"}


def _jobs(at: Nursery, n: int) -> Iterator[dict[str, Any]]:
    """Yield every point for both beginnings, as far as ``n`` allows, then random moments without end."""
    yield from _points(at, n - n // 4)
    began = time.monotonic()
    at.run()
    longest, rng = time.monotonic() - began, np.random.default_rng()
    for i in itertools.count():
        yield {"fresh": bool(i % 2), "delay": float(rng.uniform(0, longest))}


def _points(at: Nursery, most: int, **job: Any) -> list[dict[str, Any]]:
    """Return points spread over a whole life, in folders that are empty and in folders that are not."""
    n_points = at.count_points()
    chosen = np.unique(np.linspace(1, n_points, min(n_points, most // 2)).round()).astype(int)
    return [{"fresh": fresh, "point": int(p), **job} for p in chosen for fresh in (True, False)]


def _kills(at: Nursery, jobs: Iterable[dict[str, Any]], n: int, effort: Effort) -> Counter[str]:
    """Make jobs until ``n`` kills came in time; count kills, and failures by their kind."""
    counted: Counter[str] = Counter()
    for job in jobs:
        killed, wrong = kill_and_examine(at, **job)
        counted["kills"] += killed
        counted.update({next((f for f in _FAILURES if f in text), "other") for text in wrong})
        if killed and counted["kills"] % 100 == 0:
            effort.say(f"{counted['kills']} kills")
        if counted["kills"] == n:
            break
    return counted


def _row(name: str, counted: Counter[str]) -> tuple[str | int, ...]:
    return (name, counted["kills"], *(counted[failure] for failure in _FAILURES))
