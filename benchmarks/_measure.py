"""Seconds, peak memory, and other libraries in environments of their own."""

import json
import multiprocessing
import os
import platform
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

ROOT = Path(__file__).parents[1]


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several runs: the one least disturbed by other work."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def seconds_per_iteration(fit: Callable[[int], object], few: int, many: int, repeats: int = 3) -> float:
    """Return the cost of one more iteration: the difference of a long and a short run, per iteration."""
    short = seconds(lambda: fit(few), repeats)
    return (seconds(lambda: fit(many), repeats) - short) / (many - few)


def peak_extra_megabytes(prepare: Callable[[], Callable[[], object]]) -> float:
    """Return the rise of memory during an action, in a process of its own.

    ``prepare`` makes the data, runs the action once on a small piece (to load and compile), and returns
    the action to measure.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure_peak, args=(prepare, sender))
    process.start()
    found = float(receiver.recv())
    process.join()
    return found


def _measure_peak(prepare: Callable[[], Callable[[], object]], sender: Any) -> None:
    action = prepare()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far (Linux)
    before = _status("VmRSS")
    action()
    sender.send(peak_megabytes() - before)


def peak_megabytes() -> float:
    """Return the peak memory of this program; ``resource`` would include that of its parent."""
    return _status("VmHWM")


def _status(field: str) -> float:
    """Return a field of /proc/self/status in megabytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


class NotInstalledError(RuntimeError):
    """A library cannot be installed here; the message says why."""


class ScriptError(RuntimeError):
    """A script failed in its own environment; the message is its last line of output."""


def in_own_environment(name: str, requirements: list[str], script: Path, *arguments: str) -> dict[str, Any]:
    """Run a script with libraries that cannot share our environment; it prints one JSON object."""
    return printed_by(environment(name, requirements), *alone(script), *arguments)


def alone(script: Path) -> tuple[str, ...]:
    """Return the words that run a script without searching its folder: ours has a `numbers`, like Python."""
    return "-P", str(script)


def environment(name: str, requirements: Sequence[str], local: Sequence[str] = ()) -> Path:
    """Return the Python of an environment with these libraries, made when it is first asked for.

    Parameters
    ----------
    name : str
        Name of the environment.
    requirements : sequence of str
        Packages that pip installs from its index.
    local : sequence of str
        Packages that are taken from pip's local folders only: their owners have not registered these names at
        a public index, so that a package of that name there would be somebody else's.
    """
    folder = ROOT / ".bench" / name
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join([*requirements, *local])
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        if local:  # first: whether it is there is known at once
            _install(python, ["--no-index", "--no-deps", *local])
        _install(python, requirements)
        ready.write_text(wanted, encoding="utf-8")
    return python


def _install(python: Path, what: Sequence[str]) -> None:
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    done = subprocess.run(pip, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotInstalledError(_last_words(done.stderr).removeprefix("ERROR: "))


def printed_by(python: Path, *arguments: str) -> dict[str, Any]:
    """Return the JSON object that the Python of another environment prints, given these arguments."""
    done = subprocess.run([str(python), *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise ScriptError(_last_words(done.stderr))
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _last_words(text: str) -> str:
    """Return the last line that is not empty, without addresses and paths: results are published."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"\S*/\S*", "(a path)", lines[-1]) if lines else "no reason given"


def machine() -> dict[str, Any]:
    """Describe the machine and its software, without its name."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "argv": sys.argv[1:],
    }
