"""Work divided among threads that stay: every row once, errors told, also in a forked process."""

import os
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

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
    assert len(pieces) <= max(1, n_rows // smallest)
    assert len(pieces) == 1 or min(pieces) >= smallest
    assert n_cores > 1 or len(pieces) == 1


def test_who_is_done_takes_another_piece():
    # One thread is held up in its first piece until the others have done all the rest.
    left, rest_is_done = _threads.HandedOut(list(range(20)), 3), threading.Event()
    done = []

    def work():
        for piece in left:
            if piece == 0:
                assert rest_is_done.wait(60)
            done.append(piece)
            if len(done) == 19:
                rest_is_done.set()
        return threading.get_ident()

    assert threading.get_ident() in _threads.at_once(work, 3)
    assert sorted(done) == list(range(20))
    assert done[-1] == 0


def test_libraries_that_were_loaded_since_are_found(monkeypatch):
    looks = []
    monkeypatch.setattr(_threads, "ThreadpoolController", lambda: looks.append(1) or ThreadpoolController())
    _threads._libraries.cache_clear()
    for _ in range(2):
        with _threads.one_library_thread():
            assert all(library["num_threads"] == 1 for library in threadpool_info())
    assert len(looks) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_was_just_loaded", None)
    with _threads.one_blas_thread():
        assert len(looks) == 2


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
