"""Work divided among threads that stay: every row once, errors told, also in a forked process."""

import os

import numpy as np
import pytest

from dpmorse import _threads
from own_process import printed_by

AFTER_A_FORK = """
import os
import numpy as np
from dpmorse import _threads

_threads.available_cores = lambda: 3
done = np.zeros(100, dtype=int)

def work(start, stop):
    done[start:stop] += 1

_threads.over_rows(work, 100, smallest=1)
if os.fork():
    os.wait()
else:
    _threads.over_rows(work, 100, smallest=1)
    print(done.min(), done.max(), flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("n_cores", [1, 2, 7])
@pytest.mark.parametrize(("n_rows", "smallest"), [(0, 1), (1, 1), (10, 3), (1000, 1), (1000, 400)])
def test_every_row_is_worked_on_once(n_cores, n_rows, smallest, monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: n_cores)
    done, pieces = np.zeros(n_rows, dtype=int), []

    def work(start, stop):
        done[start:stop] += 1
        pieces.append(stop - start)

    _threads.over_rows(work, n_rows, smallest)
    assert np.all(done == 1)
    assert len(pieces) == max(1, min(n_cores, n_rows // smallest))
    assert len(pieces) == 1 or min(pieces) >= smallest


@pytest.mark.parametrize("at", [0, 99])
def test_what_is_raised_in_a_thread_is_raised(at, monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 4)

    def work(start, stop):
        if start <= at < stop:
            raise ValueError(f"row {at}")

    with pytest.raises(ValueError, match=f"row {at}"):
        _threads.over_rows(work, 100, smallest=1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    assert printed_by(AFTER_A_FORK).split() == ["2", "2"]
