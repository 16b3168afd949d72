"""Quantiles from counts in bins: right where there is no noise, and covered as often as is promised where there is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import lognorm, norm, t

from counted_profiles import STEPS, counted, with_noise
from dpmorse.profiles import Account, Curves, cluster_table, group_table

PARTS = (0.05, 0.25, 0.5, 0.75, 0.9)


def mixed(rng, n=6000):
    """Two components that overlap, in one column."""
    components = np.arange(n) % 2
    return rng.normal(size=(n, 1)) + 1.5 * components[:, None], components


@pytest.mark.parametrize("cut", [[0, 1], [0, 0]], ids=str)
@pytest.mark.parametrize("n_bins", [2, 6, 24])
def test_without_noise_they_are_those_of_the_records(cut, n_bins, rng):
    X, components = mixed(rng)
    table = cluster_table(counted(X, components, n_bins=n_bins), np.array(cut), quantiles=PARTS)
    for c in range(max(cut) + 1):
        own = X[np.array(cut)[components] == c, 0]
        for p in PARTS:
            found = table.quantiles[p].at(c, 0)
            near = 0.03 if 0.1 < p < 0.9 else 0.1
            assert found.value == pytest.approx(np.quantile(own, p), abs=near)
            assert found.low <= np.quantile(own, p) + near / 5
            assert found.high >= np.quantile(own, p) - near / 5


@pytest.mark.parametrize("law", [norm(), lognorm(0.6), t(3)], ids=["normal", "lognormal", "t3"])
@pytest.mark.parametrize("n_bins", [4, 8, 16])
def test_intervals_cover_where_the_expected_shape_is_a_normal_one(law, n_bins):
    """Truth is another distribution than what the mixture lets one expect, as for most real columns."""
    rng = np.random.default_rng(n_bins)
    hits, total = 0, 0
    expected = norm(law.ppf(0.5), (law.ppf(0.84) - law.ppf(0.16)) / 2)
    steps = np.linspace(0.002, 0.998, STEPS + 1)
    curves = np.clip(expected.ppf(steps), -50, 50)[None, None]
    for _ in range(60):
        X = np.clip(law.rvs(size=(4000, 1), random_state=rng), -50, 50)
        profile = with_noise(counted(X, np.zeros(4000, dtype=int), n_bins=n_bins, curves=curves), rng, 20, 30)
        table = group_table(profile, np.ones((1, 1)))
        for p, found in table.quantiles.items():
            hits += found.low[0, 0] <= np.quantile(X, p) <= found.high[0, 0]
            total += 1
    assert 0.90 <= hits / total <= 1.0


def test_the_variance_is_that_of_the_noise(rng):
    """Of F(x) - p N at many points, over many draws of noise."""
    X, components = mixed(rng, n=3000)
    holes = rng.random((3000, 1)) < 0.2
    exact = counted(X, components, holes=holes, n_bins=6)
    profile = with_noise(exact, rng, 15, 25)
    curves = Curves.of(profile, Account.of(profile), 0)
    some = np.linspace(0, len(curves.grid) - 1, 9).astype(int)
    # Without what counts of neighbouring bins say of the shape, which is not part of the variance.
    at_edges = [i for i in some if np.isin(curves.grid[i], profile.edges[:, 0]).any()] + [
        0,
        len(curves.grid) - 1,
    ]
    for p in (0.25, 0.5):
        found = []
        for _ in range(500):
            drawn = with_noise(exact, rng, 15, 25)
            one = Curves.of(drawn, Account.of(drawn), 0)
            found.append((one.below - p * one.totals(drawn.unbiased)[:, None])[:, at_edges])
        fixed, linear, square = curves.variances
        stated = np.sqrt(fixed + p * linear + p**2 * square)[:, at_edges]
        own_edge = np.array([np.isin(curves.grid[at_edges], profile.edges[k, 0]) for k in range(2)])
        own_edge[:, -2:] = True
        spread = np.std(found, axis=0)
        assert spread[own_edge] == pytest.approx(stated[own_edge], rel=0.15)


def test_an_interval_is_as_wide_as_the_noise_allows(rng):
    """Close to what is known of a median: half the root of the bins times noise, over the density."""
    X = rng.normal(size=(20_000, 1))
    profile = with_noise(counted(X, np.zeros(20_000, dtype=int), n_bins=8), rng, 30, 50)
    median = group_table(profile, np.ones((1, 1))).median.at(0, 0)
    least = 2 * 1.96 * 50 * np.sqrt(10) / 2 / (20_000 * norm.pdf(0))
    assert least * 0.9 < median.high - median.low < 1.6 * least


def test_half_in_doubt_is_not_known(rng):
    X, components = mixed(rng, n=400)
    profile = with_noise(counted(X, components, n_bins=2), rng, 5, 200)
    table = cluster_table(profile, np.array([0, 1]))
    assert table.supported.all()
    assert np.isnan([table.median.value, table.median.low, table.median.high]).all()


def test_whole_numbers_have_whole_quantiles(rng):
    X = rng.poisson(6, size=(9000, 1)).astype(float)
    profile = with_noise(counted(X, np.arange(9000) % 2, bounds=(0.0, 100.0), whole=True), rng, 5, 10)
    table = cluster_table(profile, np.array([0, 0]))
    for p, found in table.quantiles.items():
        one = found.at(0, 0)
        assert one.value == round(one.value)
        assert one.low <= np.quantile(X, p, method="inverted_cdf") <= one.high
        assert one.high - one.low <= 2


def test_a_spike_between_edges_is_not_missed(rng):
    """Half of the values are one number, which no smooth density lets one expect."""
    X = rng.normal(size=(8000, 1)) * 3
    X[rng.random(8000) < 0.5] = 1.0
    curves = (3 * norm.ppf(np.linspace(0.002, 0.998, STEPS + 1)))[None, None]
    hits = 0
    for seed in range(40):
        noisy = np.random.default_rng(seed)
        profile = with_noise(counted(X, np.zeros(8000, dtype=int), n_bins=8, curves=curves), noisy, 10, 20)
        median = group_table(profile, np.ones((1, 1))).median.at(0, 0)
        hits += median.low <= 1.0 <= median.high
    assert hits >= 37


def test_all_in_one_bin_may_be_anywhere_in_it(rng):
    """What was expected is a hundred times too wide, as where noise has hidden the units."""
    X = 2.0 + 0.1 * rng.normal(size=(5000, 1))
    curves = (10 * norm.ppf(np.linspace(0.002, 0.998, STEPS + 1)))[None, None]
    profile = with_noise(counted(X, np.zeros(5000, dtype=int), n_bins=4, curves=curves), rng, 20, 40)
    median = group_table(profile, np.ones((1, 1))).median.at(0, 0)
    assert median.low <= 2.0 <= median.high
    assert median.high - median.low > 3


def test_a_group_does_not_depend_on_the_others(rng):
    X, components = mixed(rng)
    profile = with_noise(counted(X, components), rng)
    alone = group_table(profile, np.array([[1.0, 0.0]]))
    among = group_table(profile, np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    for p in alone.quantiles:
        assert alone.quantiles[p].at(0, 0) == among.quantiles[p].at(1, 0)


def test_of_a_population_less_is_known(rng):
    X, components = mixed(rng, n=2000)
    profile = counted(X, components)
    at_hand, drawn = (cluster_table(profile, np.array([0, 1]), population=p) for p in (False, True))
    wide = drawn.median.high - drawn.median.low
    assert np.all(wide > at_hand.median.high - at_hand.median.low)
    # That of a normal sample of 1,000 at its median.
    assert wide[:, 0] == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(1000) / norm.pdf(0), rel=0.35)


def test_columns_of_one_value_have_it_as_quantiles(rng):
    profile = counted(np.full((500, 1), 7.0), np.arange(500) % 2, bounds=(7.0, 7.0))
    found = cluster_table(profile, np.array([0, 1])).median
    assert found.value.tolist() == found.low.tolist() == found.high.tolist() == [[7.0], [7.0]]


def test_values_beyond_what_is_expected_are_not_spread_to_far_bounds(rng):
    """Half of the values beyond the last edge lie near it, however far the bound is."""
    X = np.abs(rng.standard_t(2, size=(20_000, 1)))
    profile = counted(X, np.zeros(20_000, dtype=int), bounds=(-1e5, 1e5), n_bins=8)
    profile = replace(profile, curves=np.clip(profile.curves, -1e5, 8.0))
    found = group_table(profile, np.ones((1, 1)), quantiles=[0.995]).quantiles[0.995]
    assert found.value[0, 0] < 200


@pytest.mark.parametrize("shift", [0.5, 1.0])
def test_where_many_lie_beyond_what_is_expected_the_bin_before_is_a_tail_too(shift, rng):
    """Records reach further than expected: the last bin expects all of its own at its inner end."""
    expected = np.quantile(np.linspace(0, 1, 10_001), np.linspace(0, 1, STEPS + 1))
    X = rng.uniform(0, 1 + shift, size=(20_000, 1))
    profile = counted(X, np.zeros(20_000, dtype=int), n_bins=6, curves=expected[None, None])
    curves = Curves.of(with_noise(profile, rng, 1.0, 1.0), Account.of(profile), 0)
    inside = (curves.grid > 1.02) & (curves.grid < profile.edges[0, 0, -1])
    true = np.searchsorted(np.sort(X[:, 0]), curves.grid[inside])
    off = np.abs(curves.below[0, inside] - true)
    assert inside.any()
    assert np.all(off <= 4 * np.sqrt(8) + curves.doubt[0, inside])
