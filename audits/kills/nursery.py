"""Kills: a process that fits, spends and saves dies at a point, and its files are examined."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits import ROOT
from audits.kills.server import ANNOUNCED, BUDGET_FILE, DRAWS, MODEL_FILE, POINTS
from audits.processes import ONE_THREAD, environment
from dpmorse import DPMorseError, load
from dpmorse.privacy.ledger_file import FileLedger

_ROUNDING = 1e-9
"""Sums of costs may differ by this part, since floats are added in another order."""


@dataclass(frozen=True)
class Death:
    """How a child ended: killed by a signal, or with an exit code."""

    signal: int
    code: int


@dataclass
class Nursery:
    """A process that raises children to be killed, all in one folder with one budget and one model."""

    folder: Path
    process: "subprocess.Popen[str]"

    def run(self, **job: Any) -> Death:
        """Raise a child; return how it ended."""
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the nursery was opened without pipes")
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return Death(**json.loads(self.process.stdout.readline()))

    def begin_anew(self) -> None:
        """Remove the budget file, the model and what was noted about them."""
        for name in (ANNOUNCED, BUDGET_FILE, MODEL_FILE, DRAWS, POINTS):
            (self.folder / name).unlink(missing_ok=True)

    def count_points(self) -> int:
        """Let a child live, and return how many points it passed."""
        self.begin_anew()
        self.run()
        return int((self.folder / POINTS).read_text())


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    """Begin a nursery in a folder; it ends with the block."""
    command = [sys.executable, "-m", "audits.kills.server", str(folder)]
    pipe, variables = subprocess.PIPE, environment() | ONE_THREAD
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=variables) as process:
        yield Nursery(folder, process)
        if process.stdin is not None:
            process.stdin.close()


def kill_and_examine(at: Nursery, *, fresh: bool, **job: Any) -> tuple[bool, list[str]]:
    """Kill a child; return whether the kill came in time, and the faults of the files it leaves.

    Parameters
    ----------
    at : Nursery
        Where.
    fresh : bool
        Whether the child finds neither a budget file nor a model.
    **job
        ``point`` or ``delay``, and ``sabotage``.
    """
    if fresh:
        at.begin_anew()
    (at.folder / ANNOUNCED).unlink(missing_ok=True)
    before = _content(at.folder / MODEL_FILE)
    death = at.run(**job)
    failed = ["a child could not go on with what others left"] if death.code else []
    wrong = [*failed, *_wrong_with_budget(at.folder), *_wrong_with_model(at.folder, before)]
    return death.signal == signal.SIGKILL, wrong


def strays(folder: Path) -> list[Path]:
    """Return files that killed writers left."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def strays_an_hour_later(at: Nursery) -> int:
    """Make the files an hour older, let a child live to its end, and count the files that are left."""
    for path in strays(at.folder):
        os.utime(path, (0, 0))
    at.begin_anew()
    at.run()
    return len(strays(at.folder))


def _wrong_with_budget(folder: Path) -> Iterator[str]:
    """Compare the budget file with the noise that was drawn since the file began."""
    path, drawn = folder / BUDGET_FILE, _drawn(folder / DRAWS)
    if not path.exists():
        if drawn:
            yield "noise was drawn without a budget file"
        return
    try:
        ledger = FileLedger(path)
        spent = ledger.spent
    except (DPMorseError, OSError) as error:
        yield f"unreadable budget file: {error}"
        return
    if spent.rho < drawn * (1 - _ROUNDING):
        yield f"under-reported spend: {spent.rho:g} of {drawn:g}"
    if spent.epsilon(ledger.budget.delta) > ledger.budget.epsilon:
        yield "more was spent than the budget"


def _wrong_with_model(folder: Path, before: bytes | None) -> Iterator[str]:
    """Check that the model is the old one, the new one, or none where there was none."""
    path = folder / MODEL_FILE
    now = _content(path)
    if now not in {before, _content(folder / ANNOUNCED)}:
        yield "a model that is neither the old nor the new one"
    if now is None:
        return
    try:
        load(path)
    except (DPMorseError, OSError) as error:
        yield f"unreadable model: {error}"


def _drawn(path: Path) -> float:
    """Return the cost of all noise that was drawn."""
    return sum(map(float, path.read_text().split())) if path.exists() else 0.0


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
