"""Workers that are killed in the middle of fits: the same model, one draw of noise a release, one spend."""

import os
import signal
import threading
import time
from typing import Any, Self

import numpy as np

from benchmarks._scale_models import cluster
from benchmarks.speed import overlapping_groups
from dpmorse import Budget, DPMoGHard, Ledger
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.typing import IntArray

N_ITER = 8


def killed_fits(n_fits: int = 20, n_rows: int = 200_000) -> dict[str, int]:
    """Kill a worker during each fit, at a random moment; count the fits that are as if nothing happened."""
    import dask
    import dask.array
    import distributed  # noqa: F401 - its settings must be there before one of them is changed

    X = overlapping_groups(n_rows, 6, 0.2)
    lazy = dask.array.from_array(X, chunks=(n_rows // 40, -1)).map_blocks(_slowly, dtype=X.dtype)
    expected = model().fit(X)
    found = {"fits": n_fits, "workers killed": 0, "same model": 0, "one draw a release": 0, "one spend": 0}
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}), cluster(3) as client:
        for seed in range(n_fits):
            ledger, draws = Ledger(Budget(9.0)), CountedDraws()
            killer = _Killer(client, np.random.default_rng(seed).uniform(0.1, 2.0))
            with draws:
                fitted = model(ledger).fit(lazy)
            found["workers killed"] += killer.joined()
            found["same model"] += fitted.mixture_ == expected.mixture_
            found["one draw a release"] += draws.count == N_ITER
            found["one spend"] += ledger.events == expected.privacy_.events
    return found


def model(ledger: Ledger | None = None) -> DPMoGHard:
    """Return an estimator of which many fits are made."""
    return DPMoGHard(6, epsilon=1.0, bounds=(-1, 1), n_iter=N_ITER, random_state=5, ledger=ledger)


def _slowly(block: Any) -> Any:
    """Make a pass long enough to die in."""
    time.sleep(0.02)
    return block


class _Killer(threading.Thread):
    """Kills a worker process after some seconds, if the fit still runs."""

    def __init__(self, client: Any, seconds: float) -> None:
        super().__init__()
        self._pids = list(client.run(os.getpid).values())
        self._seconds, self._over, self._killed = seconds, threading.Event(), False
        self.start()

    def run(self) -> None:
        if not self._over.wait(self._seconds):
            os.kill(self._pids[0], signal.SIGKILL)
            self._killed = True

    def joined(self) -> bool:
        """Say whether a worker was killed while the fit ran."""
        self._over.set()
        self.join()
        return self._killed


class CountedDraws:
    """Counts how often noise is drawn."""

    def __enter__(self) -> Self:
        self.count, self._original = 0, NativeSampler.gaussian

        def counted(sampler: NativeSampler, scales: IntArray) -> IntArray:
            self.count += 1
            return self._original(sampler, scales)

        setattr(NativeSampler, "gaussian", counted)  # noqa: B010 - undone below
        return self

    def __exit__(self, *_: object) -> None:
        setattr(NativeSampler, "gaussian", self._original)  # noqa: B010 - as it was
