"""Ctrl-C and lack of memory at any line: the spend is kept, and a fitted model is the old one or the new one."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpmorse
from dpmorse import Budget, DPMoGHard, DPMorse, Ledger, MorseClustering, TreeNotBuiltError, load
from dpmorse.bases.em import rounds
from dpmorse.privacy.ledger_file import FileLedger
from dpmorse.privacy.mechanism import Mechanism
from dpmorse.privacy.sampler import NativeSampler

PACKAGE = Path(dpmorse.__file__).parent
LINES_OF = [
    PACKAGE / part for part in ("_atomic.py", "bases", "clustering", "privacy/ledger", "privacy/mechanism")
]
ERRORS = (KeyboardInterrupt, MemoryError)


class Stop:
    """Raises an error at the n-th line of the code that spends and remembers; counts the lines without n.

    With ``behind`` the count begins when a function of that name is called.
    """

    def __init__(self, error=None, n=None, behind=None):
        self.error, self.n, self.behind, self.passed = error, n, behind, 0

    def __enter__(self):
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _on_call(self, frame, event, argument):
        if frame.f_code.co_name == self.behind:
            self.behind = None
        return self._on_line if frame.f_code.co_filename.startswith(tuple(map(str, LINES_OF))) else None

    def _on_line(self, frame, event, argument):
        if event == "line" and self.behind is None:
            self.passed += 1
            if self.passed == self.n:
                raise self.error
        return self._on_line


@pytest.fixture
def drawn(monkeypatch):
    """The cost of all noise that was drawn, as a list."""
    costs, planned = [], []
    release, gaussian = Mechanism.release, NativeSampler.gaussian
    monkeypatch.setattr(
        Mechanism, "release", lambda self, x, p: planned.append(p.event.rho) or release(self, x, p)
    )

    def draw(self, scales):
        costs.append(planned[-1])
        return gaussian(self, scales)

    monkeypatch.setattr(NativeSampler, "gaussian", draw)
    return costs


def learnt(model):
    """What a fit sets."""
    return {name: value for name, value in vars(model).items() if name not in model.get_params(deep=False)}


def base(**parameters):
    return DPMoGHard(2, epsilon=0.01, bounds=(-1, 1), n_iter=2, **parameters)


OLD = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, size=(100, 2)), columns=["a", "b"])
NEW = np.random.default_rng(1).uniform(-1, 1, size=(100, 3))
KINDS = {"a base": base, "a tree": lambda **ledger: MorseClustering(base(**ledger), 2, merge="overlap")}
LEDGERS = {
    "memory": lambda _: Ledger(Budget(1e3)),
    "file": lambda folder: FileLedger(folder / "b", Budget(1e3)),
}


# Stopped between opening a file and the block that closes it, Python closes it later, and says so.
@pytest.mark.filterwarnings("ignore:.*unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore:Exception ignored in.*FileIO:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make_ledger", LEDGERS.values(), ids=LEDGERS)
def test_stopped_at_any_line(kind, make_ledger, tmp_path, drawn):
    """A refit with other columns is stopped at lines spread over all of it; where it remembers, at each."""
    ledger = make_ledger(tmp_path)
    model = KINDS[kind](ledger=ledger).fit(OLD)
    with Stop() as counted:
        KINDS[kind](ledger=ledger).fit(NEW)
    stops = [Stop(ERRORS[i % 2], n) for i, n in enumerate(np.linspace(1, counted.passed, 25).astype(int))]
    stops += [Stop(ERRORS[n % 2], n, behind="set_at_once") for n in range(1, 12)]
    for stop in stops:
        before = learnt(model)
        with suppress(*ERRORS, TreeNotBuiltError), stop:
            model.fit(NEW if model.n_features_in_ == 2 else OLD)
        assert stop.behind is None, "the function behind which lines are counted was called"
        after = learnt(model)
        changed = {name for name in {*before, *after} if before.get(name) is not after.get(name)}
        assert changed == set() or {"mixture_", "privacy_", "n_features_in_", "feature_names_in_"} <= changed
        assert ledger.spent.rho >= sum(drawn) * (1 - 1e-9), f"a spend is hidden by a stop at line {stop.n}"


def test_lack_of_memory_in_a_pass_over_the_records(monkeypatch, drawn):
    """The engine fails in its second pass: one release is spent, and the error is the engine's own."""

    class Small(dpmorse.InMemoryEngine):
        def reduce(self, *args):
            if len(drawn) == 1:
                raise MemoryError
            return super().reduce(*args)

    ledger = Ledger(Budget(1.0))
    model = base(engine=Small(), ledger=ledger)
    with pytest.raises(MemoryError):
        model.fit(NEW)
    assert len(ledger.events) == len(drawn) == 1
    assert learnt(model) == {}
    assert base(ledger=ledger).fit(NEW).privacy_.epsilon > 0


def test_lack_of_memory_for_the_tree_does_not_lose_the_release(monkeypatch):
    def fail(*args, **options):
        raise MemoryError

    monkeypatch.setattr("dpmorse.clustering.trees.merge_tree", fail)
    ledger = Ledger(Budget(2.0))
    with pytest.raises(TreeNotBuiltError) as raised:
        DPMorse(2, epsilon=1.0, bounds=(-1, 1), ledger=ledger).fit(NEW)
    assert raised.value.base.privacy_.events == ledger.events


SCRIPT = """
import sys
import numpy as np
from dpmorse import Budget, DPMoGHard
from dpmorse.privacy.ledger_file import FileLedger
X = np.random.default_rng(0).uniform(-1, 1, size=(100_000, 3))
ledger = FileLedger(sys.argv[1] + "/team.budget", Budget(1e3))
DPMoGHard(2, epsilon=0.5, bounds=(-1, 1), n_iter=2).fit(X)
print("ready", flush=True)
for i in range(10_000):
    model = DPMoGHard(8, epsilon=0.5, bounds=(-1, 1), n_iter=5, ledger=ledger).fit(X)
    model.save(sys.argv[1] + "/model.json")
    print(i, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another signal elsewhere")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signals_between_and_within_fits(kind, tmp_path):
    """A loop of fits ends by a signal at some moment: as many models as it says are paid for, and one is there."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.stdout.readline()
        time.sleep(np.random.default_rng().uniform(0, 0.2))
        process.send_signal(kind)
        finished = process.communicate()[0].split()
    account = FileLedger(tmp_path / "team.budget").account()
    assert len(account.fits) >= len(finished) + 1
    assert len(account.unfinished) <= 1
    assert load(tmp_path / "model.json").privacy_.epsilon <= 0.5
    assert process.returncode == -kind


def test_ctrl_c_in_a_command_is_no_traceback(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from dpmorse.cli.application import app

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rounds, "maximise", interrupted)
    (tmp_path / "x.csv").write_text("a,b\n" + "0.5,0.5\n" * 50)
    args = ["fit", "x.csv", "--epsilon", "1", "--bounds", "0,1", "--base", "DPMoGHard", "-o", "m.json"]
    args += ["--budget", "b", "--budget-epsilon", "2"]
    result = CliRunner().invoke(app, args)
    assert result.exit_code in {1, 130}
    assert "Traceback" not in result.output
    assert 0 < FileLedger("b").spent.epsilon(1e-6) <= 1
    assert sorted(os.listdir()) == ["b", "x.csv"]
