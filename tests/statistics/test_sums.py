"""Integers beyond 64 bits: the values are those of Python's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpmorse.statistics.sums import ROOM_BITS, add, add_columns, shift

LIMIT = 1 << ROOM_BITS
NUMBERS = hnp.arrays(np.int64, (3, 4), elements=st.integers(1 - LIMIT, LIMIT - 1))


@given(NUMBERS, NUMBERS, NUMBERS)
def test_sums_are_exact(a, b, c):
    total = add(add(a, b), c)
    assert total.tolist() == (a.astype(object) + b.astype(object) + c.astype(object)).tolist()


@given(NUMBERS, st.integers(0, 60))
def test_shifts_are_exact(values, bits):
    assert shift(values, bits).tolist() == (values.astype(object) * 2**bits).tolist()


@given(NUMBERS)
def test_sums_of_columns_are_exact(values):
    assert add_columns(values).tolist() == values.astype(object).sum(axis=1).tolist()


@pytest.mark.parametrize(("value", "kind"), [(LIMIT // 2 - 1, np.int64), (LIMIT // 2, object)])
def test_64_bits_are_used_where_they_hold_the_sum(value, kind):
    a = np.array([value, 0])
    assert add(a, a).dtype == kind
    assert add(np.empty(0, np.int64), np.empty(0, np.int64)).dtype == np.int64
