"""Parts that are read one after the other, and worked on by threads."""

import itertools
import threading

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from dpmorse.engine import Reads, StreamedEngine
from dpmorse.privacy.exact import opened
from dpmorse.statistics import WEIGHT_BITS, CellMoments
from parts_read import in_parts
from plain import assert_same, exact_moments, random_cells, unit_box


def counted(n, log):
    """Yield numbers, and note when each is read."""
    for i in range(n):
        log.append(("read", i, threading.get_ident()))
        yield i


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_parts_keep_their_order_and_are_read_by_the_caller(n_threads):
    log = []
    reads = Reads(lambda: counted(50, log), lambda part: 10 * part)
    assert list(reads.then(lambda part: part + 1).each(str, n_threads)) == [
        f"{10 * i + 1}" for i in range(50)
    ]
    assert {thread for _, _, thread in log} == {threading.get_ident()}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_few_parts_are_in_memory(n_threads):
    """However many parts there are, few are read before the first is done."""
    log = []
    found = Reads(lambda: counted(100, log), lambda part: part).each(str, n_threads)
    next(found)
    assert len(log) == n_threads + 3
    assert len(list(found)) == 99


def test_what_does_not_last_is_done_before_the_next_is_read():
    log, buffer = [], np.zeros(1)

    def start():
        for i in range(20):
            buffer[0] = i
            log.append("read")
            yield buffer

    def work(part):
        log.append("done")
        return float(part[0])

    assert list(Reads(start, work, lasting=False).each(float, 3)) == list(range(20))
    assert log == ["read", "done"] * 20


def test_an_error_of_a_part_is_raised():
    def refuse(part):
        raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match="part 0"):
        list(Reads(lambda: iter(range(9)), refuse).each(str, 2))


@pytest.mark.parametrize("inner", [InMemoryEngine(), InMemoryEngine(chunk_rows=70, n_threads=3)])
@pytest.mark.parametrize("weight_bits", [0, WEIGHT_BITS])
def test_threads_that_keep_their_memory_add_up_the_same(rng, inner, weight_bits):
    """Parts of all sizes, so that what a thread keeps of one is longer than the next."""
    X, cuts = rng.normal(size=(9000, 3)), [0, 5000, 5001, 5100, 8000, 8000, 9000]
    statistic = CellMoments(unit_box(3), 6, weight_bits, of_residuals=True)
    cells = random_cells(rng, 6, 3, radii=2.0)
    parts = in_parts([X[a:b] for a, b in itertools.pairwise(cuts)])
    found = opened(StreamedEngine(inner).reduce(parts, statistic, cells))
    assert_same(found, exact_moments(X, statistic, cells))


def test_an_engine_for_one_pass_may_be_asked_something_else(rng):
    """What it has prepared, and the memory of its threads, are of another number of cells then."""
    X, engine = rng.normal(size=(500, 3)), InMemoryEngine(n_threads=1).for_one_pass()
    for n_cells in (6, 2, 9):
        statistic = CellMoments(unit_box(3), n_cells, WEIGHT_BITS, of_residuals=True)
        cells = random_cells(rng, n_cells, 3, radii=2.0)
        assert_same(opened(engine.reduce(X, statistic, cells)), exact_moments(X, statistic, cells))
