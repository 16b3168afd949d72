"""The count of what a pass must do, and the arithmetic of limits; no measurement."""

import pytest

from benchmarks._limits import Limits, Work, hard_pass_work, labels_work, soft_pass_work

MACHINE = Limits(bytes_per_second=100.0, single_per_second=20.0, double_per_second=10.0)


def test_work_of_a_record():
    """Two columns, three cells: a triangle of 3 and 2 squares per score; 1 + 2 + 3 per sum."""
    assert hard_pass_work(3, 2) == Work(16, 3 * 5, 6)
    assert soft_pass_work(3, 2, itemsize=4) == Work(8, 0, 3 * 5 + 3 * 6)
    assert labels_work(3, 2) == Work(16, 0, 15)


def test_the_slower_of_reading_and_arithmetic_is_the_limit():
    assert MACHINE.seconds_per_row(Work(200, 10, 5)) == pytest.approx(2.0)
    assert MACHINE.seconds_per_row(Work(50, 10, 5)) == pytest.approx(1.0)
    assert MACHINE.fraction(Work(50, 10, 5), 4.0) == pytest.approx(0.25)
