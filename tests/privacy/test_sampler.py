"""The sampler's law: chi-square against the discrete Gaussian, exact arithmetic, and OpenDP."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpmorse.privacy import LARGEST_SCALE
from dpmorse.privacy.random_bytes import LazyUniform, SeededBytes, SystemBytes, exp_minus_bounds
from dpmorse.privacy.sampler import NativeSampler, _thresholds


def sampler(seed, **options):
    return NativeSampler(SeededBytes(np.random.SeedSequence(seed)), **options)


def draw(scale, n, seed=0, **options):
    return sampler(seed, **options).gaussian(np.full(n, scale, dtype=np.int64))


def chi_square_p_value(values, scale, per_bin=20):
    """p-value of the hypothesis that the values follow N_Z(0, scale^2), in bins of neighbouring values."""
    reach = math.ceil(8 * scale) + 2
    support = np.arange(-reach, reach + 1)
    expected = np.exp(-(support**2) / (2 * scale**2))
    expected *= values.size / expected.sum()
    observed = np.bincount(np.clip(values, -reach, reach) + reach, minlength=support.size)
    bins = np.cumsum(expected) // per_bin
    _, group = np.unique(bins, return_inverse=True)
    return stats.chisquare(np.bincount(group, observed), np.bincount(group, expected)).pvalue


@pytest.mark.parametrize("scale", [1, 3, 10, 64])
def test_law(scale):
    assert chi_square_p_value(draw(scale, 300_000, seed=scale), scale) > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 3, 10, 64, 1000])
def test_law_with_ten_million_draws(scale):
    assert chi_square_p_value(draw(scale, 10_000_000, seed=100 + scale), scale) > 1e-6


@pytest.mark.parametrize("wrong", [0.99, 1.01])
def test_an_error_of_one_percent_in_the_scale_is_rejected(wrong):
    values = draw(64, 1_000_000, seed=1)
    assert chi_square_p_value(values, 64, per_bin=20_000) > 1e-6
    assert chi_square_p_value(values, 64 * wrong, per_bin=20_000) < 1e-9


def test_exact_path_has_the_same_law():
    """With a band of 2^-3 most draws are settled in rational arithmetic."""
    assert chi_square_p_value(draw(3, 20_000, seed=2, tolerance=2.0**-3), 3) > 1e-6


def test_the_float_never_decides():
    """The band only chooses between a fast and a slow way to the same answer, draw by draw.

    The slow path rarely needs more than the 64 bits both have, so that the streams stay aligned.
    """
    assert np.array_equal(draw(5, 2_000, seed=3), draw(5, 2_000, seed=3, tolerance=2.0**-6))


@pytest.mark.parametrize("scale", [2**20, 2**28 + 12345, LARGEST_SCALE])
def test_large_scales_look_gaussian(scale):
    values = draw(scale, 200_000, seed=4) / scale
    assert stats.kstest(values, "norm").pvalue > 1e-6


def test_scales_may_differ_within_one_batch():
    scales = np.tile(np.array([1, 50, 2**30], dtype=np.int64), 50_000)
    values = sampler(5).gaussian(scales).reshape(-1, 3)
    assert chi_square_p_value(values[:, 0], 1) > 1e-6
    assert chi_square_p_value(values[:, 1], 50) > 1e-6
    assert values[:, 2].std() / 2**30 == pytest.approx(1, abs=0.02)


def test_draws_are_independent_of_each_other():
    values = draw(1000, 200_000, seed=6).astype(float)
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 5 / math.sqrt(values.size)


def test_signs_are_fair_and_zero_is_not_doubled():
    values = draw(1, 400_000, seed=7)
    positive, negative = (values > 0).sum(), (values < 0).sum()
    assert stats.binomtest(int(positive), int(positive + negative)).pvalue > 1e-6
    at_zero = 1 / sum(math.exp(-k * k / 2) for k in range(-20, 21))
    assert stats.binomtest(int((values == 0).sum()), values.size, at_zero).pvalue > 1e-6


def test_same_law_as_opendp():
    from dpmorse.privacy.opendp_noise import OpenDPSampler

    pytest.importorskip("opendp")
    theirs = OpenDPSampler().gaussian(np.full(50_000, 7, dtype=np.int64))
    ours = NativeSampler(SystemBytes()).gaussian(np.full(50_000, 7, dtype=np.int64))
    assert chi_square_p_value(theirs, 7) > 1e-6
    table = [np.bincount(np.clip(v, -21, 21) + 21, minlength=43) for v in (ours, theirs)]
    assert stats.chi2_contingency(np.array(table)[:, np.sum(table, axis=0) > 20]).pvalue > 1e-6


def test_seeded_draws_repeat_and_system_draws_do_not():
    assert np.array_equal(draw(100, 50, seed=8), draw(100, 50, seed=8))
    assert not np.array_equal(draw(100, 50, seed=8), draw(100, 50, seed=9))
    system = NativeSampler(SystemBytes())
    scales = np.full(50, 10**6, dtype=np.int64)
    assert not np.array_equal(system.gaussian(scales), system.gaussian(scales))


def test_secure_follows_the_source():
    assert NativeSampler(SystemBytes()).secure
    assert not sampler(0).secure


@pytest.mark.parametrize("bad", [0, -1, LARGEST_SCALE + 1])
def test_scales_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match="scales must lie"):
        draw(bad, 3)


def test_no_draws():
    assert draw(5, 0).size == 0


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
@pytest.mark.parametrize("bits", [80, 200])
def test_enclosure_of_the_exponential(exponent, bits):
    low, high = exp_minus_bounds(exponent, bits)
    with mpmath.workdps(120):
        exact = mpmath.e ** -(mpmath.mpf(exponent.numerator) / exponent.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= exact
        assert exact <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low < Fraction(8, 1 << bits)


def test_thresholds_are_exact():
    with mpmath.workdps(80):
        expected = [0, *(int(mpmath.floor(2**64 * mpmath.e**-k)) for k in range(44, 0, -1))]
    assert _thresholds().tolist() == expected


def test_a_uniform_that_starts_like_the_threshold_is_extended():
    """The first 64 bits of e^-1 do not settle the comparison; the next bits do, both ways."""
    with mpmath.workdps(80):
        first = int(mpmath.floor(2**64 * mpmath.exp(-1)))
    below = LazyUniform(first, lambda n: b"\x00" * n)
    above = LazyUniform(first, lambda n: b"\xff" * n)
    assert below.is_below_exp_minus(Fraction(1))
    assert not above.is_below_exp_minus(Fraction(1))


def test_float_exponential_is_far_more_accurate_than_the_band():
    """The fast path trusts exp to 2^-40; measured against 50 digits it is right to 2^-50."""
    exponents = np.random.default_rng(0).exponential(3.0, size=2000)
    with mpmath.workdps(50):
        worst = max(abs(mpmath.exp(-mpmath.mpf(x)) - mpmath.mpf(float(np.exp(-x)))) for x in exponents)
    assert worst < 2.0**-50
