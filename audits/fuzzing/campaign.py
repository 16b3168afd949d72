"""Fuzzing in processes of their own: one that dies is a finding, and the next goes on behind it."""

import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audits import ROOT
from audits.fuzzing.corpus import make_corpus
from audits.fuzzing.worker import PROGRESS
from audits.processes import ONE_THREAD, environment

_MOST_DEATHS = 20
"""Number of processes that may die before a campaign is given up: its findings are enough to look at."""


@dataclass
class Campaign:
    """The outcome of many hostile files of one kind.

    Attributes
    ----------
    target : str
        Name of the reader.
    n_files : int
        Number of files read.
    answers : Counter
        Numbers of files that were refused, and that were accepted as they still mean what they say.
    findings : list of dict
        Seeds and errors of all others.
    peak_bytes : int
        Most memory that reading took beyond what the process had.
    """

    target: str
    n_files: int
    answers: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    peak_bytes: int = 0


def fuzz_in_processes(target: str, n: int, first_seed: int, corpus: Path) -> Campaign:
    """Read ``n`` hostile files; a process that dies is replaced by one that begins behind the file."""
    campaign, seed, deaths = Campaign(target, n), first_seed, 0
    with tempfile.TemporaryDirectory() as folder:
        while seed < first_seed + n and deaths < _MOST_DEATHS:
            done = _run(target, corpus, Path(folder), seed, first_seed + n - seed)
            if done.returncode == 0:
                _add(campaign, json.loads(done.stdout))
                break
            deaths += 1
            seed = _go_on(campaign, Path(folder), seed)
            campaign.findings.append({"seed": seed - 1, "error": _cause(done), "where": "the process"})
    return campaign


def prepare(folder: Path) -> Path:
    """Make the valid files from which hostile ones are made."""
    folder.mkdir(parents=True, exist_ok=True)
    return make_corpus(folder).folder


def _run(target: str, corpus: Path, folder: Path, seed: int, n: int) -> subprocess.CompletedProcess[str]:
    (folder / PROGRESS).unlink(missing_ok=True)
    command = [sys.executable, "-m", "audits.fuzzing.worker", target, *map(str, (corpus, folder, seed, n))]
    variables = environment() | ONE_THREAD
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=variables)


def _go_on(campaign: Campaign, folder: Path, seed: int) -> int:
    """Count what a process did before it died, and return the seed behind the one that it was reading."""
    progress = folder / PROGRESS
    if not progress.exists():
        return seed + 1
    reached = json.loads(progress.read_text())
    _add(campaign, reached)
    return int(reached["seed"]) + 2


def _cause(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"the process died of {signal.Signals(-done.returncode).name}"
    return f"the process ended with {done.returncode}: {done.stderr[-300:]}"


def _add(campaign: Campaign, outcome: dict[str, Any]) -> None:
    campaign.answers.update(outcome["answers"])
    campaign.findings += outcome["findings"]
    campaign.peak_bytes = max(campaign.peak_bytes, outcome["peak_bytes"])
