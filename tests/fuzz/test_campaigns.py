"""The short form of the fuzzing in docs/audit.md, with other seeds; and that its guards notice what they should."""

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from audits import ROOT
from audits.fuzzing import campaign as campaigns
from audits.fuzzing.campaign import fuzz_in_processes
from audits.fuzzing.damage import HOSTILE, mutate_document

N_FILES = {
    "models": 1500,
    "budgets": 700,
    "bounds": 200,
    "arguments": 200,
    "tables": 300,
    "arrays": 300,
    "described": 100,
}
FIRST_SEED = 10_000_000


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="alarms and limits are those of POSIX")
@pytest.mark.parametrize("target", N_FILES)
def test_hostile_files_get_a_documented_answer(target, corpus):
    campaign = fuzz_in_processes(target, N_FILES[target], FIRST_SEED, corpus)
    assert campaign.findings == []
    assert campaign.answers["refused"] > 0
    assert campaign.answers["accepted"] > 0  # otherwise it is something else than damage that is refused
    assert campaign.answers.total() == campaign.n_files


def test_a_case_is_its_seed_alone():
    """Edits of one case must not reach the values that later cases are made of."""
    before = copy.deepcopy(HOSTILE)
    document = {"a": {"b": [1.0, {"c": []}]}, "d": [[1, 2], {}]}
    cases = [mutate_document(document, np.random.default_rng(seed)) for seed in range(2000)]
    assert before == HOSTILE
    assert cases == [mutate_document(document, np.random.default_rng(seed)) for seed in range(2000)]


SABOTAGE = {
    "eval('1 + 1')": "did this: ['compile'",
    "__import__('os').system('true')": "did this: ['os.system'",
    "__import__('pickle').loads(b'cmath\\nfloor\\n.')": "pickle.find_class",
    "bytearray(100 << 20)": "MemoryError",
    "any(iter(lambda: 0, 1))": "Hang: not done",
    "{}['oops']": "KeyError: 'oops'",
}
SABOTAGED = """
import json
from dataclasses import asdict
from pathlib import Path
from audits.fuzzing import targets, worker
from audits.fuzzing.corpus import Corpus
todo = [{todo}]
worker.SECONDS_EACH = 1
worker._warm_up = lambda *_: None
targets.ModelFiles.check = lambda *_: str(todo.pop(0)())
found = worker.fuzz("models", Corpus(Path({corpus!r})), Path({folder!r}), 0, len(todo))
print(json.dumps(asdict(found)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit on memory needs /proc")
def test_the_guards_notice(corpus, tmp_path):
    todo = ", ".join(f"lambda: {body}" for body in SABOTAGE)
    code = SABOTAGED.format(todo=todo, corpus=str(corpus), folder=str(tmp_path))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    for finding, noticed in zip(findings, SABOTAGE.values(), strict=True):
        assert noticed in finding["error"]


def test_a_process_that_dies_is_a_finding_and_the_next_goes_on(corpus, monkeypatch):
    """The file with seed 3 kills its process; the five others are read."""

    def run(target, corpus, folder, seed, n):
        if seed <= 3:
            survived = {"answers": {"refused": 3}, "findings": [], "peak_bytes": 0}
            (folder / "progress").write_text(json.dumps({"seed": 2, **survived}))
            return subprocess.CompletedProcess([], -11, "", "")
        outcome = {"answers": {"refused": n}, "findings": [], "peak_bytes": 0}
        return subprocess.CompletedProcess([], 0, json.dumps(outcome), "")

    monkeypatch.setattr(campaigns, "_run", run)
    campaign = fuzz_in_processes("models", 6, 0, corpus)
    assert campaign.findings == [{"seed": 3, "error": "the process died of SIGSEGV", "where": "the process"}]
    assert campaign.answers == {"refused": 5}
