"""Mistakes that somebody could make are noticed; those in compiled code by ``python -m audits --only mutants``."""

import subprocess
import sys

import pytest

from audits import ROOT, SOURCE
from audits.mutants import KNOWN, MUTANTS, Change
from audits.mutants.checks import CHECKS

QUICK = [mutant for mutant in MUTANTS if mutant.check is not None]


@pytest.mark.parametrize("name", CHECKS)
def test_unchanged_code_passes(name):
    assert CHECKS[name]()


@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.name)
def test_a_mutant_is_noticed(mutant, monkeypatch):
    for change in mutant.changes:
        change.in_process(monkeypatch)
    try:
        passed = CHECKS[mutant.check]()
    except (AttributeError, NameError, TypeError):
        raise  # the mutant itself is broken, and says nothing
    except Exception:  # noqa: BLE001 - refused, for instance by a ledger: that is noticed as well
        passed = False
    assert not passed


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made(mutant):
    for change in mutant.changes:
        text = (SOURCE / change.path).read_text(encoding="utf-8")
        assert change.in_text(text) != text
    assert mutant.tests


@pytest.mark.long
def test_the_tests_that_must_notice_mutants_are_there():
    """A test that was given another name would not be run, and would notice nothing."""
    named = sorted({test for mutant in MUTANTS for test in mutant.tests})
    options = ["-q", "--collect-only", "-p", "no:randomly", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, *named]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_a_change_of_code_that_is_not_there_is_an_error(monkeypatch):
    change = Change("dpmorse.privacy.mechanism:Mechanism.release", "not in the source", "")
    with pytest.raises(ValueError, match="not there exactly once"):
        change.in_process(monkeypatch)
    with pytest.raises(ValueError, match="not there exactly once"):
        change.in_text((SOURCE / change.path).read_text(encoding="utf-8"))


def test_the_mutants_of_the_literature_are_all_there():
    assert len(KNOWN) >= 11
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
