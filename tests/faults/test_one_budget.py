"""Many processes on one budget: the total is the sum, never over the budget, and none is lost, whoever is killed."""

import json
import os
import subprocess
import sys

import pytest

from dpmorse.privacy.ledger_file import FileLedger

pytestmark = [pytest.mark.long, pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")]

SCRIPT = """
import json, os, signal, sys, warnings
import numpy as np
from dpmorse import Budget, BudgetExceededError, DPMoGHard, InMemoryEngine
from dpmorse.privacy.ledger_file import FileLedger
warnings.simplefilter("ignore")
folder, n_processes, n_fits, epsilon, n_killed = sys.argv[1], *map(float, sys.argv[2:])
X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
def fit(ledger):
    return DPMoGHard(2, epsilon=epsilon, bounds=(-1, 1), n_iter=2, engine=InMemoryEngine(n_threads=1), ledger=ledger).fit(X)
fit(None)
def live(number):
    ledger = FileLedger(folder + "/team.budget", Budget(1.0))
    done = {"fits": 0, "refused": 0, "rho": 0.0}
    for i in range(int(n_fits)):
        try:
            model = fit(ledger)
        except BudgetExceededError:
            done["refused"] += 1
        else:
            done["fits"] += 1
            done["rho"] += model.privacy_.rho
        with open(f"{folder}/{number}.json", "w") as file:
            json.dump(done, file)
        if number < n_killed and i == 1:
            with ledger.reserve(model.privacy_.events):
                os.kill(os.getpid(), signal.SIGKILL)
children = []
for number in range(int(n_processes)):
    child = os.fork()
    if child == 0:
        try:
            live(number)
        finally:
            os._exit(0)
for _ in range(int(n_processes)):
    os.wait()
"""


def race(folder, n_processes, n_fits, epsilon, n_killed=0):
    """Return what each process says, and the account."""
    numbers = map(str, (n_processes, n_fits, epsilon, n_killed))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(folder), *numbers], check=True, env=environment
    )
    told = [json.loads((folder / f"{number}.json").read_text()) for number in range(n_processes)]
    return told, FileLedger(folder / "team.budget").account()


def test_nothing_is_lost_where_there_is_enough(tmp_path):
    told, account = race(tmp_path, 6, 4, 0.05)
    assert sum(one["refused"] for one in told) == 0
    assert len(account.fits) == sum(one["fits"] for one in told) == 24
    assert not account.unfinished
    assert account.spent.rho == pytest.approx(sum(one["rho"] for one in told))
    assert account.spent.epsilon(1e-6) <= 1.0
    assert sorted(os.listdir(tmp_path)) == [*(f"{number}.json" for number in range(6)), "team.budget"]


def test_nobody_goes_over_the_total_where_there_is_not(tmp_path):
    told, account = race(tmp_path, 6, 5, 0.3)
    assert sum(one["refused"] for one in told) > 0
    assert 5 < len(account.fits) == sum(one["fits"] for one in told) < 30
    assert account.spent.rho == pytest.approx(sum(one["rho"] for one in told))
    assert 0.9 < account.spent.epsilon(1e-6) <= 1.0


def test_killed_ones_stay_spent_and_hinder_nobody(tmp_path):
    told, account = race(tmp_path, 5, 4, 0.05, n_killed=2)
    assert [one["fits"] for one in told] == [2, 2, 4, 4, 4]
    assert len(account.unfinished) == 2
    assert len(account.fits) == 16 + 2
    assert account.spent.rho > sum(one["rho"] for one in told)
