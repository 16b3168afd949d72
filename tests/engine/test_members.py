"""Members of soft cells, listed eight flags at a time: the places of NumPy's."""

import numba
import numpy as np
import pytest

from dpmorse.engine._kernels import _list_members


@numba.njit
def listed(near, members):
    return _list_members(near, members)


@pytest.mark.parametrize("part", [0.0, 0.02, 0.13, 0.5, 0.98, 1.0])
@pytest.mark.parametrize("n", [8, 16, 800])
def test_places_of_flags(rng, n, part):
    near, members = rng.random(n) < part, np.full(n + 64, -7, dtype=np.int32)
    expected = np.flatnonzero(near)
    assert listed(near.view(np.uint64), members[:n]) == len(expected)
    assert np.array_equal(members[: len(expected)], expected)
    assert np.all(members[n:] == -7)  # what is beyond is left alone


def test_every_set_of_eight_flags():
    for flags in range(256):
        near = np.unpackbits(np.array([flags], dtype=np.uint8), bitorder="little").astype(bool)
        members = np.empty(8, dtype=np.int32)
        n = listed(near.view(np.uint64), members)
        assert np.array_equal(members[:n], np.flatnonzero(near))
