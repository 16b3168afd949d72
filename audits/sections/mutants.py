"""Each mistake is made in a copy of the sources, and the tests that must notice it are run there."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from audits import ROOT, SOURCE
from audits.mutants import KNOWN, MUTANTS, Mutant
from audits.processes import environment
from audits.section import Effort, Findings, Table

NAME, TITLE = "mutants", "Mutants caught"

_TESTS_FAILED = 1
"""Exit code of pytest when tests failed; others mean that the tests could not be run at all."""

_QUICK = 3
"""Mutants that a quick run makes: each takes some seconds."""

_NOT_CAUGHT = "NOT CAUGHT"


def run(effort: Effort) -> Findings:
    """Make every mistake, one at a time."""
    chosen = MUTANTS[:_QUICK] if effort.quick else MUTANTS
    rows, caught = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for i, mutant in enumerate(chosen, start=1):
            outcome = _outcome(mutant, Path(folder))
            caught += outcome == "caught"
            kind = "known" if mutant in KNOWN else "own"
            rows.append((mutant.name, kind, mutant.changes[0].target.removeprefix("dpmorse."), outcome))
            effort.say(f"{i} of {len(chosen)}: {mutant.name}: {outcome}")
        unchanged = _outcome(
            Mutant("", (), tuple({test for mutant in chosen for test in mutant.tests})), Path(folder)
        )
    verdict = "pass" if unchanged == _NOT_CAUGHT else "FAIL"
    text = (
        "A test that cannot fail proves nothing. Each of these mistakes was made in a copy of the sources, "
        "and tests that are part of `make test-all` were run on it: "
        f"**{caught} of {len(chosen)} were caught.** On an unchanged copy the same tests {verdict}."
    )
    passed = caught == len(chosen) and unchanged == _NOT_CAUGHT
    return Findings(text, Table(("mistake", "source", "made in", "outcome"), rows), passed=passed)


def _outcome(mutant: Mutant, folder: Path) -> str:
    copied = Path(tempfile.mkdtemp(dir=folder)) / "src"
    shutil.copytree(SOURCE, copied)  # with the cache of compiled code, which notices changes by itself
    for change in mutant.changes:
        path = copied / change.path
        path.write_text(change.in_text(path.read_text(encoding="utf-8")), encoding="utf-8")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *mutant.tests]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(copied), capture_output=True, text=True, check=False
    )
    shutil.rmtree(copied)
    if done.returncode == _TESTS_FAILED:
        return "caught"
    return _NOT_CAUGHT if done.returncode == 0 else f"tests could not be run (exit code {done.returncode})"
