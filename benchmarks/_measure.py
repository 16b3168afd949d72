"""Seconds, peak memory, and other libraries in environments of their own."""

import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
import venv
from collections.abc import Callable
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
    """Return the cost of one more iteration: what differs between a short and a long run."""
    short = seconds(lambda: fit(few), repeats)
    return (seconds(lambda: fit(many), repeats) - short) / (many - few)


def peak_extra_megabytes(prepare: Callable[[], Callable[[], object]]) -> float:
    """Return how far memory rises during an action, in a process of its own.

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
    sender.send(_status("VmHWM") - before)


def _status(field: str) -> float:
    """Return a field of /proc/self/status in megabytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def in_own_environment(name: str, requirements: list[str], script: Path, *arguments: str) -> dict[str, Any]:
    """Run a script with libraries that cannot share our environment; it prints one JSON object."""
    folder = ROOT / ".bench" / name
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists() or ready.read_text(encoding="utf-8") != "\n".join(requirements):
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
        ready.write_text("\n".join(requirements), encoding="utf-8")
    done = subprocess.run([str(python), str(script), *arguments], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def machine() -> dict[str, Any]:
    """Describe where the figures were taken, without naming the machine."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "argv": sys.argv[1:],
    }
