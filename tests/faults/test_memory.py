"""Too little memory, as the operating system has it: a clean error, nothing half-done, the spend kept."""

import json
import re
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit on memory needs /proc"),
]

SCRIPT = """
import json, os, resource, sys, warnings
import numpy as np
from dpmorse import Budget, DPMoGHard, InMemoryEngine, load
from dpmorse.privacy.ledger_file import FileLedger
warnings.simplefilter("ignore")
def model(ledger=None):
    return DPMoGHard(2, epsilon=0.1, bounds=(-1, 1), n_iter=2, engine=InMemoryEngine(n_threads=1), ledger=ledger)
small = np.zeros((50, 8), dtype=np.float16)
old = model().fit(small)
old.save("model.json")
load("model.json").predict(small)
large = np.zeros((2_000_000, 8), dtype=np.float16)  # 32 MB, and four times that in the form it is read in
ledger = FileLedger("team.budget", Budget(1.0))
def limit(extra):
    now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + extra if extra else resource.RLIM_INFINITY, resource.RLIM_INFINITY))
told = []
for extra in (16 << 20, 48 << 20, 96 << 20, 0):
    limit(extra)
    candidate = model(ledger)
    try:
        candidate.fit(large)
        outcome, message = "fitted", ""
    except MemoryError as error:
        outcome, message = "MemoryError", str(error)
    limit(0)
    account = ledger.account()
    told.append({
        "outcome": outcome, "message": message, "fitted": hasattr(candidate, "mixture_"), "unfinished": len(account.unfinished),
        "spent": account.spent.epsilon(1e-6), "loads": load("model.json").mixture_ == old.mixture_,
    })
print(json.dumps(told))
"""


def test_a_fit_that_gets_no_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told[0]["outcome"] == "MemoryError"
    assert told[-1]["outcome"] == "fitted"
    for one in told:
        assert one["fitted"] == (one["outcome"] == "fitted")
        assert one["unfinished"] == 0
        assert one["loads"]
        assert not re.search(r"\d", one["message"])  # NumPy's tells the shape, and so the number of rows
    assert told[0]["spent"] == 0
    assert 0 < told[-1]["spent"] <= 0.2
