"""Work divided among threads that stay: every row once, errors told, also in a forked process."""

import os
import sys
import threading
import time

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
    n_threads = max(1, min(n_cores, n_rows // smallest))
    assert len(pieces) == (min(4 * n_threads, n_rows // smallest) if n_threads > 1 else 1)
    assert len(pieces) == 1 or min(pieces) >= smallest


def test_who_is_done_takes_another_piece():
    # One thread is held up in its first piece until the others have done all the rest.
    done, rest_is_done = [], threading.Event()

    def work(pieces):
        for piece in pieces:
            if piece == 0:
                assert rest_is_done.wait(60)
            done.append(piece)
            if len(done) == 19:
                rest_is_done.set()

    _threads.at_once(work, range(20), 2)
    assert sorted(done) == list(range(20))
    assert done[-1] == 0


@pytest.mark.parametrize("raises_here", [True, False], ids=["in the calling thread", "in another"])
def test_what_is_raised_is_raised_and_ends_the_work(raises_here):
    both, raised, done, caller = threading.Barrier(2), threading.Event(), [], threading.get_ident()

    def work(pieces):
        for piece in pieces:
            if not raised.is_set():
                both.wait(60)  # both threads have begun
                if (threading.get_ident() == caller) == raises_here:
                    raised.set()
                    raise ValueError("no")
                assert raised.wait(60)
                time.sleep(0.05)  # long enough to take away what is left
            done.append(piece)

    with pytest.raises(ValueError, match="no"):
        _threads.at_once(work, range(1000), 2)
    assert len(done) < 900


def test_threads_that_others_hold_are_not_waited_for():
    n_workers, held, free = os.cpu_count(), threading.Semaphore(0), threading.Event()

    def hold():
        held.release()
        assert free.wait(60)

    holders = [_threads._waiting_threads().submit(hold) for _ in range(n_workers)]
    for _ in holders:
        assert held.acquire(timeout=60)
    assert _threads.at_once(list, range(10), 3) == [list(range(10))]
    free.set()
    for holder in holders:
        holder.result()


def test_work_may_divide_itself():
    done = np.zeros(1000, dtype=int)

    def work(start, stop):
        done[start:stop] += 1

    def divided(pieces):
        for piece in pieces:
            _threads.at_once(
                lambda rows: [work(r, r + 1) for r in rows], range(10 * piece, 10 * piece + 10), 3
            )

    _threads.at_once(divided, range(100), 8)
    assert np.all(done == 1)


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    assert printed_by(AFTER_A_FORK).split() == ["2", "2"]
