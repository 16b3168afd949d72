"""Mutants: each mistake is made in a copy of the sources, and the tests that must notice it are run there."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from audits.mutant_list import LITERATURE, MUTANTS
from audits.mutations import SOURCE, Mutant
from audits.section import Effort, Findings, Table

NAME, TITLE = "mutants", "Mutants caught"

_ROOT = Path(__file__).parents[1]
_TESTS_FAILED = 1  # pytest's exit code; others mean that the tests could not be run at all
_QUICK = 3


def run(effort: Effort) -> Findings:
    """Make every mistake, one at a time."""
    chosen = MUTANTS[:_QUICK] if effort.quick else MUTANTS
    rows, caught = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for i, mutant in enumerate(chosen, start=1):
            outcome = _outcome(mutant, Path(folder) / str(i))
            caught += outcome == "caught"
            kind = "literature" if mutant in LITERATURE else "own"
            rows.append((mutant.name, kind, mutant.changes[0].target.removeprefix("dpmorse."), outcome))
            effort.say(f"{i} of {len(chosen)}: {mutant.name}: {outcome}")
    text = (
        "A test that cannot fail proves nothing. Each of these mistakes was made in a copy of the sources, and tests "
        f"that are part of `make test` were run on it: **{caught} of {len(chosen)} were caught.** On the unchanged "
        "sources the same tests pass."
    )
    return Findings(
        text, Table(("mistake", "source", "made in", "outcome"), rows), passed=caught == len(chosen)
    )


def _outcome(mutant: Mutant, folder: Path) -> str:
    copied = folder / "src"
    shutil.copytree(SOURCE, copied)  # with the cache of compiled code, which notices changes by itself
    for change in mutant.changes:
        path = copied / change.path
        path.write_text(change.in_text(path.read_text(encoding="utf-8")), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{copied}{os.pathsep}{_ROOT / 'tests'}"}
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *mutant.tests]
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(folder)
    if done.returncode == _TESTS_FAILED:
        return "caught"
    return "NOT CAUGHT" if done.returncode == 0 else f"tests could not be run (exit code {done.returncode})"
