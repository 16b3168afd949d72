"""A process that forks children which fit, spend and save, and are killed on the way.

    python -m audits.kills.server FOLDER

reads one JSON object a line: ``{"point": n}`` kills the child at its n-th system call on a file that matters,
``{"delay": seconds}`` kills it after that time, ``{}`` lets it end. It answers with the signal and how many
points were passed. Forking is quick, since nothing is imported or compiled anew.
"""

import json
import os
import signal
import sys
import tempfile
import time
import warnings
from io import FileIO
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from audits.kills import sabotage
from dpmorse import Budget, DPMoGHard, InMemoryEngine, _atomic
from dpmorse.privacy import ledger_file
from dpmorse.privacy.ledger_file import FileLedger
from dpmorse.privacy.mechanism import Mechanism
from dpmorse.privacy.sampler import NativeSampler

BUDGET = Budget(epsilon=1e3, delta=1e-6)
BUDGET_FILE, MODEL_FILE, ANNOUNCED, DRAWS, POINTS = (
    "team.budget",
    "model.json",
    "announced",
    "draws",
    "points",
)
_CALLS = {"write", "flush", "fsync", "replace", "link", "unlink", "chmod", "truncate", "open", "flock"}
_FILES = {_atomic.__file__, ledger_file.__file__, tempfile.__file__, __file__}
_PIECE = 200


class SmallWrites(FileIO):
    """A file that takes a few bytes at a time, so that a write can be interrupted in the middle."""

    def write(self, data: Any, /) -> int:
        """Write the beginning of the data."""
        return FileIO.write(self, bytes(data)[:_PIECE])


class Pieces(FileIO):
    """A file that takes everything, in small writes."""

    def write(self, data: Any, /) -> int:
        """Write the data piece by piece."""
        for start in range(0, len(data), _PIECE):
            FileIO.write(self, data[start : start + _PIECE])
        return len(data)


class Killer:
    """Kills its own process at the n-th system call; without a number it counts them."""

    def __init__(self, point: int | None, folder: Path) -> None:
        self.point, self.passed, self.active = point, 0, True
        self._draws = os.open(folder / DRAWS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def pass_point(self) -> None:
        """Go on, or be killed."""
        self.passed += 1
        if self.passed == self.point:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, frame: FrameType, event: str, called: Any) -> None:
        """Be a profiler: system calls of the code that writes are points, before and after the call."""
        of_interest = self.active and event.startswith("c_") and frame.f_code.co_filename in _FILES
        if of_interest and getattr(called, "__name__", "") in _CALLS:
            self.pass_point()

    def note_draw(self, rho: float) -> None:
        """Write down, out of reach of the kill, that noise was drawn; being killed right then is a point."""
        os.write(self._draws, f"{rho!r}\n".encode())
        if self.active:
            self.pass_point()


def main(folder: Path) -> None:
    """Answer jobs until there are no more."""
    warnings.simplefilter("ignore")
    _model(None).fit(_records())  # compiles and imports what a fit needs
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                _live(folder, job)
            except BaseException:  # noqa: BLE001 - whatever it was, a child must not go on as its parent
                os._exit(1)
        if "delay" in job:
            time.sleep(job["delay"])
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        print(json.dumps({"signal": os.WTERMSIG(status), "code": os.WEXITSTATUS(status)}), flush=True)


def _live(folder: Path, job: dict[str, Any]) -> None:
    """Fit, spend and save, in a child that never returns."""
    killer = Killer(job.get("point"), folder)
    getattr(sabotage, job.get("sabotage", "nothing"))()
    _install(killer)
    sys.setprofile(killer.watch)
    model = _model(FileLedger(folder / BUDGET_FILE, BUDGET)).fit(_records())
    killer.active = False
    model.save(folder / ANNOUNCED)
    killer.active = True
    model.save(folder / MODEL_FILE)
    sys.setprofile(None)
    (folder / POINTS).write_text(str(killer.passed))
    os._exit(0)


def _model(ledger: FileLedger | None) -> DPMoGHard:
    return DPMoGHard(
        2, epsilon=0.5, bounds=(-1, 1), n_iter=3, engine=InMemoryEngine(n_threads=1), ledger=ledger
    )


def _records() -> Any:
    return np.random.default_rng(0).uniform(-1, 1, size=(200, 2))


def _install(killer: Killer) -> None:
    """Make writes small, and write down every draw with what it costs."""
    ledger_file.FileIO = SmallWrites  # type: ignore[attr-defined]  # a name that is imported there
    os.fdopen = Pieces  # type: ignore[assignment]
    released, drawn = Mechanism.release, NativeSampler.gaussian
    costs: list[float] = []

    def release(self: Any, exact: Any, planned: Any) -> Any:
        costs.append(planned.event.rho)
        return released(self, exact, planned)

    def gaussian(self: Any, scales: Any) -> Any:
        noise = drawn(self, scales)
        killer.note_draw(costs.pop())
        return noise

    Mechanism.release = release  # type: ignore[method-assign]
    NativeSampler.gaussian = gaussian  # type: ignore[method-assign]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
