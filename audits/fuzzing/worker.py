"""A process that reads hostile files, many of them, under guard.

    python -m audits.fuzzing.worker TARGET CORPUS FOLDER FIRST_SEED N

prints one JSON object. Guards: an audit hook that notices code, processes and connections; a limit on memory
for files that must not need any; an alarm for a reading that does not end.
"""

import json
import os
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audits.fuzzing.corpus import Corpus
from audits.fuzzing.damage import CANARY
from audits.fuzzing.targets import TARGETS

PROGRESS = "progress"
"""Holds the last seed that was survived and the outcome so far: a process may die."""

SECONDS_EACH = 30
MOST_EXTRA_BYTES = 64 << 20
_LIMITED = {"models", "budgets"}
_FORBIDDEN = (
    "compile", "exec", "marshal", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "pickle",
    "socket", "subprocess", "urllib", "webbrowser",
)  # fmt: skip


@dataclass
class Outcome:
    """The outcome of a number of hostile files."""

    answers: dict[str, int] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    peak_bytes: int = 0


class Hang(BaseException):
    """A file whose reading did not end."""


class Guard:
    """Notices what must not happen while a file is read."""

    def __init__(self) -> None:
        self.watching = False
        self.seen: list[str] = []
        sys.addaudithook(self._notice)

    def _notice(self, event: str, _: object) -> None:
        forbidden = self.watching and (event in _FORBIDDEN or event.partition(".")[0] in _FORBIDDEN)
        if forbidden and not _by_the_installation():
            self.seen.append(event)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch while a file is read; say what was seen, or that it did not end."""
        self.seen.clear()
        signal.setitimer(signal.ITIMER_REAL, SECONDS_EACH)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert not self.seen, f"reading a file did this: {self.seen[:5]}"


def fuzz(name: str, corpus: Corpus, folder: Path, first_seed: int, n: int) -> Outcome:
    """Read ``n`` hostile files, one for each seed."""
    signal.signal(signal.SIGALRM, _on_alarm)
    os.chdir(folder)
    target, guard, answers, outcome = TARGETS[name](corpus), Guard(), Counter[str](), Outcome()
    _warm_up(target, folder)
    limit = _limited_memory if name in _LIMITED else nullcontext
    warnings.simplefilter("error")  # a warning about a hostile file would be an error to some callers
    before = _peak()
    for seed in range(first_seed, first_seed + n):
        case = target.make(np.random.default_rng(seed))
        path = folder / getattr(case, "name", "case.json")
        path.write_bytes(case.content)
        try:
            with guard.watch(), limit():
                answers[target.check(case, path)] += 1
        except (Exception, Hang) as error:  # noqa: BLE001 - all of them are findings
            outcome.findings.append(_described(seed, error))
        outcome.answers, outcome.peak_bytes = dict(answers), _peak() - before
        (folder / PROGRESS).write_text(json.dumps({"seed": seed, **asdict(outcome)}))
    if (folder / CANARY).exists():
        outcome.findings.append({"seed": first_seed, "error": "a file was run as code", "where": ""})
    return outcome


def _warm_up(target: Any, folder: Path) -> None:
    """Load what is loaded on first use, so that the guards see only what files do."""
    if hasattr(target, "warm_up"):
        target.warm_up()
    for seed in range(10**9, 10**9 + 5):
        case = target.make(np.random.default_rng(seed))
        path = folder / getattr(case, "name", "case.json")
        path.write_bytes(case.content)
        try:
            target.check(case, path)
        except Exception:  # noqa: BLE001, S112 - the loop that counts will find it again
            continue


def _described(seed: int, error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
    return {"seed": seed, "error": f"{type(error).__name__}: {error}"[:400], "where": where}


def _by_the_installation() -> bool:
    """Say whether this is an import of an installed module, numba reading what it compiled, or a traceback.

    A traceback, which --debug asks for, parses the lines of the program that it shows.
    """
    names = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(None)]
    known = ("importlib", f"{os.sep}numba{os.sep}", f"{os.sep}linecache.py")
    shown = any(name == traceback.__file__ for name in names[2:])
    return shown or any(part in name for name in names for part in known)


def _on_alarm(*_: object) -> None:
    raise Hang(f"not done after {SECONDS_EACH} seconds")


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Let a file have so much more memory than the process has now, where the system can tell.

    Only reading is limited: making a hostile file may take more than reading it, and what the allocator keeps
    after thousands of files is no file's doing.
    """
    import resource

    pages = Path("/proc/self/statm")
    if not pages.exists():
        yield
        return
    now = int(pages.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_EXTRA_BYTES, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


if __name__ == "__main__":
    wanted, corpus_folder, work_folder, first, count = sys.argv[1:]
    found = fuzz(wanted, Corpus(Path(corpus_folder)), Path(work_folder), int(first), int(count))
    print(json.dumps(asdict(found)))
