"""Workers of a Dask cluster that die while they add up: one draw, one spend, or an error in finite time."""

import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

from dpmorse import DPMoGHard, DPMorse, FileLedger, InvalidParameterError, WorkersLostError  # noqa: E402
from dpmorse.privacy import Budget  # noqa: E402
from dpmorse.privacy.sampler import NativeSampler  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and tornado's own, which differ by version

QUIET = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}


@pytest.fixture
def X(rng):
    return pd.DataFrame(rng.normal(size=(3000, 3)) * 0.3, columns=["a", "b", "c"])


@pytest.fixture
def after_each_draw(monkeypatch):
    """Return a list of functions, each called after noise is drawn, that is between two passes."""
    calls, original = [], NativeSampler.gaussian

    def gaussian(self, scales):
        drawn = original(self, scales)
        for call in calls:
            call()
        return drawn

    monkeypatch.setattr(NativeSampler, "gaussian", gaussian)
    return calls


class KilledOnDemand:
    """Kills its own process in the middle of a task, once each time that somebody has asked for it."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def ask(self):
        (self.folder / "please").touch()

    def __call__(self, part):
        try:
            (self.folder / "please").rename(self.folder / f"died-{os.getpid()}")
        except FileNotFoundError:
            return part
        return os.kill(os.getpid(), signal.SIGKILL)

    @property
    def n_deaths(self):
        return len(list(self.folder.glob("died-*")))


@pytest.mark.long
def test_a_worker_dies_in_every_stage(X, tmp_path, after_each_draw):
    def model(**options):
        return DPMorse(3, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)

    expected = model().fit(X)
    killer, stages = KilledOnDemand(tmp_path), []
    lazy = dd.from_pandas(X, npartitions=3).map_partitions(killer, meta=X.iloc[:0])
    ledger = FileLedger(tmp_path / "budget", Budget(9.0))

    def ask_once_a_stage():
        stages.append(ledger.events[-1].step.stage)
        if stages[-1] not in stages[:-1]:
            killer.ask()

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 100}),
        distributed.LocalCluster(processes=True, local_directory=str(tmp_path), **QUIET) as cluster,
        distributed.Client(cluster),
    ):
        after_each_draw.append(ask_once_a_stage)
        killer.ask()
        fitted = model(ledger=ledger).fit(lazy)
        killer.ask()
        labels = fitted.predict(lazy).compute()
    assert killer.n_deaths == 1 + len(set(stages)) + 1, "reading, every stage, and labels"
    assert fitted.mixture_ == expected.mixture_
    assert np.array_equal(labels, expected.predict(X))
    assert ledger.events == expected.privacy_.events
    assert len(stages) == len(ledger.events), "one draw, one spend"


@pytest.fixture
def cluster():
    """A cluster in this process, which can be left without workers at once."""
    with (
        dask.config.set({"dpmorse.no-workers-timeout": "500 ms"}),
        distributed.LocalCluster(processes=False, **QUIET) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def leave_without_workers(cluster):
    cluster.scale(0)
    cluster.sync(cluster._correct_state)


def test_a_fit_without_workers_ends(X, cluster, tmp_path, after_each_draw):
    lazy = dd.from_pandas(X, npartitions=3)
    ledger = FileLedger(tmp_path / "budget", Budget(9.0))
    model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=4, random_state=0, ledger=ledger)
    before, events = model.fit(lazy).mixture_, ledger.events
    after_each_draw.append(lambda: leave_without_workers(cluster))
    with pytest.raises(WorkersLostError, match=r"no workers for 0\.5 seconds"):
        model.fit(lazy)
    assert model.mixture_ is before, "the estimator is as it was"
    assert ledger.events == (*events, events[0]), "what was drawn is spent, and nothing else"
    with pytest.raises(WorkersLostError):
        model.fit(lazy)
    assert len(ledger.events) == len(events) + 1, "nothing was drawn"
    after_each_draw.clear()
    cluster.scale(1)
    assert model.fit(lazy).mixture_ == before


def test_labels_without_workers_end_by_the_setting_of_dask(X):
    """They are lazy, and whoever computes them waits: docs/scale.md names the setting of the scheduler."""
    lazy = dd.from_pandas(X, npartitions=3)
    model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=1, random_state=0).fit(X)
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "500 ms"}),
        distributed.LocalCluster(processes=False, **QUIET) as cluster,
        distributed.Client(cluster),
    ):
        leave_without_workers(cluster)
        with pytest.raises(distributed.scheduler.NoWorkerError):
            model.predict(lazy).compute()
        cluster.scale(1)
        assert np.array_equal(model.predict(lazy).compute(), model.predict(X))


@pytest.mark.parametrize("setting", [0, -1, "soon", "5 parsecs", []])
def test_how_long_to_wait_must_make_sense(X, setting, tmp_path):
    ledger = FileLedger(tmp_path / "budget", Budget(9.0))
    with (
        dask.config.set({"dpmorse.no-workers-timeout": setting}),
        pytest.raises(InvalidParameterError, match="must be a positive number of seconds"),
    ):
        DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), ledger=ledger).fit(dd.from_pandas(X, npartitions=2))
    assert ledger.events == ()


def test_a_fit_inside_a_task(X, cluster):
    """A task that waits for other tasks gives its place to them."""

    def fit(frame):
        model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0)
        return model.fit(dd.from_pandas(frame, npartitions=2)).mixture_

    assert distributed.get_client().submit(fit, X).result() == fit(X)
