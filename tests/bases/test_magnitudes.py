"""Where a column's records are, by counts of signs and powers of two, in units of their noise."""

import numpy as np
import pytest

from dpmorse.bases.magnitudes import LARGEST_HIDDEN, bounds_of
from dpmorse.privacy import GaussianNoise, LaplaceNoise
from dpmorse.statistics import MagnitudeHistograms

N_BINS = MagnitudeHistograms(1).n_bins
GAUSSIAN, LAPLACE = GaussianNoise(), LaplaceNoise()


def found(counts, noise=GAUSSIAN, n_columns=5, background=0.0):
    """What is found where bins that begin at these values hold so much, and all others ``background``."""
    row = np.full(N_BINS, background)
    for value, count in counts.items():
        row[MagnitudeHistograms(1).bins(np.array([[float(value)]]))[0, 0]] = count
    return bounds_of(row, n_columns, noise)


def bounds(counts, **options):
    box = found(counts, **options)
    return None if box is None else (box.lower, box.upper)


def test_nothing_is_found_in_nothing():
    assert bounds({}) is None


def test_a_bin_that_stands_out_is_found():
    """Values of 4 to 8, with one power of two as a margin; the other sign gets a quarter."""
    assert bounds({4: 30}, background=-0.1) == (-4.0, 16.0)
    assert bounds({-4: 30}, background=-0.1) == (-16.0, 4.0)


def test_a_bin_that_noise_may_reach_is_not():
    assert bounds({4: 4.5}) is None


def test_runs_are_found_where_no_bin_stands_out():
    """Four bins of 3 have 6 times the noise of their sum, 2."""
    assert bounds({1: 3}) is None
    assert bounds({1: 3, 2: 3, 4: 3, 8: 3}, background=-0.1) == (-16.0, 64.0)


def test_signs_are_found_together_where_neither_stands_out():
    """Two bins of 3.3 on either side: 4.7 times their noise for one sign, 6.6 for both."""
    assert bounds({1: 3.3, 2: 3.3}) is None
    assert bounds({1: 3.3, 2: 3.3, -1: 3.3, -2: 3.3}) == (-16.0, 16.0)


def test_the_other_sign_counts_where_it_may_hold_something():
    assert bounds({4: 30, -4: 0.5}, background=-0.1) == (-16.0, 16.0)
    assert bounds({4: 30, -0.5: 30}, background=-0.1) == (-4.0, 16.0)


def test_both_signs_reach_as_far_as_the_further_one():
    assert bounds({4: 30, -2: 30}, background=-0.1) == (-16.0, 16.0)
    assert bounds({100: 30, -100: 30}) == (-256.0, 256.0)


def test_groups_far_apart_are_in_one_range():
    assert bounds({1: 30, 2.0**20: 30}, background=-0.1) == (-(2.0**20), 2.0**22)


def test_a_tail_is_followed():
    """Bins that hold more than half of the noise, on the average, next to what stands out."""
    assert bounds({4: 30, 8: 1, 16: 0.2, 32: 0.9}, background=-0.1) == (-32.0, 128.0)
    assert bounds({4: 30, 8: 0.4}, background=-0.1) == (-4.0, 16.0)
    assert bounds({4: 30, 16: 1, 32: 0.4}, background=-0.1) == (-4.0, 16.0)


def test_a_small_group_nearby_is_found():
    assert bounds({4: 60, 64: 2.6}, background=-0.6) == (-64.0, 256.0)
    assert bounds({4: 60, 64: 2.4}, background=-0.6) == (-4.0, 16.0)
    assert bounds({4: 60, 128: 2.6}, background=-0.6) == (-4.0, 16.0)


def test_two_powers_are_added_where_much_may_hide():
    enough = 1 / LARGEST_HIDDEN
    assert bounds({4: enough + 1}) == (-4.0, 16.0)
    assert bounds({4: enough - 1}) == (-8.0, 32.0)
    assert found({4: 10}).hidden == pytest.approx(0.1)


def test_a_column_of_zeros():
    assert bounds({0: 30}) == (-(2.0**-31), 2.0**-31)
    assert bounds({0: 30, 4: 30}, background=-0.1) == (-4.0, 16.0)


def test_the_largest_values_there_are():
    assert bounds({1e300: 30}, background=-0.1) == (-(2.0**62), 2.0**64)


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
def test_noise_is_seldom_taken_for_records(noise):
    """Five columns of nothing: something is found in less than one fit of a hundred, also in long tails."""
    rng = np.random.default_rng(0)
    draw = rng.normal if noise is GAUSSIAN else lambda size: rng.laplace(size=size) / np.sqrt(2)
    rows = draw(size=(5000, N_BINS))
    assert sum(bounds_of(row, 5, noise) is not None for row in rows) <= 10


def test_laplace_noise_asks_for_more():
    assert bounds({4: 6}) is not None
    assert bounds({4: 6}, noise=LAPLACE) is None
    assert bounds({4: 13}, noise=LAPLACE) is not None
