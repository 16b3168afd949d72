"""Tables of released sums: equal to what records give where there is no noise, and covering it where there is."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmorse.profiles import cluster_table
from invented_profiles import edges_of, exact_profile, with_noise

ESTIMATES = ("share", "centre", "spread")


def labelled(rng, n=3000, n_components=6, n_features=3):
    """Records, and a component for each that has nothing to do with where it is."""
    components = np.append(np.arange(n_components), rng.integers(0, n_components, size=n - n_components))
    X = rng.normal(size=(n, n_features)) @ rng.normal(size=(n_features, n_features))
    return X + rng.normal(size=(n_components, n_features))[components] * 3, components


def truth(X, labels):
    """Share, mean and standard deviation of every cluster, by the records."""
    clusters = range(labels.max() + 1)
    return {
        "share": np.bincount(labels) / len(labels),
        "centre": np.array([X[labels == c].mean(axis=0) for c in clusters]),
        "spread": np.array([X[labels == c].std(axis=0) for c in clusters]),
    }


CUTS = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_without_noise_a_table_is_what_the_records_say(cut, n_features, rng):
    X, components = labelled(rng, n_features=n_features)
    cut = np.array(cut)
    table = cluster_table(exact_profile(X, components, rng), cut)
    for name, expected in truth(X, cut[components]).items():
        found = getattr(table, name)
        assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-6), name
        assert np.all(found.low <= expected + 1e-9), name
        assert np.all(found.high >= expected - 1e-9), name
        assert np.all(found.high - found.low < 0.01), name
    assert table.counts == pytest.approx(np.bincount(cut[components]))
    assert table.supported.all()


def test_a_cut_adds_up_its_components(rng):
    """Also with noise: counts and sums of a cluster are those of its parts."""
    X, components = labelled(rng)
    profile = with_noise(exact_profile(X, components, rng), rng, count=9.0, sums=1.0, squares=1.0)
    parts, whole = cluster_table(profile, np.arange(6)), cluster_table(profile, np.array([0, 0, 0, 1, 1, 1]))
    for c, of in enumerate((slice(0, 3), slice(3, 6))):
        assert whole.counts[c] == pytest.approx(parts.counts[of].sum())
        assert whole.share.value[c] == pytest.approx(parts.share.value[of].sum())
        assert whole.count_stddev[c] == pytest.approx(np.sqrt(3) * profile.count_stddev)


def coverage(tables, expected):
    """How often each number was inside its interval, the mean over clusters and columns."""
    return {
        name: np.mean(
            [
                (getattr(t, name).low <= expected[name]) & (expected[name] <= getattr(t, name).high)
                for t in tables
            ]
        )
        for name in ESTIMATES
    }


@pytest.mark.parametrize("cut", [[0, 1, 2, 3], [0, 0, 0, 1]], ids=str)
def test_intervals_hold_the_truth_as_often_as_they_say(cut, rng):
    """Fresh noise, many times; nothing is hidden beyond the radii, and nothing else widens intervals."""
    X, components = labelled(rng, n=6000, n_components=4, n_features=2)
    cut, exact = np.array(cut), exact_profile(X, components, rng)
    expected = truth(X, cut[components])
    scale = 30 / exact.radii[0] ** 2
    noise = {"count": 30.0, "sums": 30 / exact.radii[0], "squares": scale}
    profiles = [with_noise(exact, rng, **noise) for _ in range(1500)]
    for level, least, most in ((0.95, 0.93, 0.97), (0.5, 0.46, 0.54)):
        tables = [cluster_table(profile, cut, level=level) for profile in profiles]
        for name, found in coverage(tables, expected).items():
            assert least < found < most, (name, level)


def test_intervals_of_a_population_hold_what_it_has(rng):
    """Records are drawn anew each time; intervals about the records at hand miss the population's numbers."""
    expected = {
        "share": np.array([0.3, 0.7]),
        "centre": np.array([[2.0, -1.0], [-2.0, 0.0]]),
        "spread": np.array([[1.0, 0.5], [0.5, 1.0]]),
    }
    at_hand, of_population = [], []
    for _ in range(500):
        labels = (rng.random(1000) > 0.3).astype(int)
        X = expected["centre"][labels] + rng.normal(size=(1000, 2)) * expected["spread"][labels]
        exact = exact_profile(X, labels, np.random.default_rng(1))
        noisy = with_noise(exact, rng, count=3.0, sums=0.3, squares=0.03)
        at_hand.append(cluster_table(noisy, np.arange(2)))
        of_population.append(cluster_table(noisy, np.arange(2), population=True))
    for name, found in coverage(of_population, expected).items():
        assert 0.93 < found < 0.97, name
        assert coverage(at_hand, expected)[name] < 0.9, name


@pytest.mark.parametrize("population", [False, True])
def test_higher_levels_are_wider_and_so_are_populations(population, rng):
    X, components = labelled(rng)
    profile = with_noise(exact_profile(X, components, rng), rng, count=30.0, sums=2.0, squares=0.5)
    tables = [
        cluster_table(profile, np.arange(6), level=level, population=population)
        for level in (0.5, 0.9, 0.95, 0.999)
    ]
    for narrow, wide in itertools.pairwise(tables):
        for name in ESTIMATES:
            inner, outer = getattr(narrow, name), getattr(wide, name)
            assert np.array_equal(inner.value, outer.value) or narrow is tables[0]
            assert np.all((inner.low <= inner.value) & (inner.value <= inner.high))
            assert np.all((outer.low <= inner.low) & (inner.high <= outer.high))
            assert np.any((outer.low < inner.low) & (inner.high < outer.high))
    drawn = cluster_table(profile, np.arange(6), level=0.95, population=True)
    for name in ESTIMATES:
        inner, outer = getattr(cluster_table(profile, np.arange(6)), name), getattr(drawn, name)
        assert np.all((outer.low <= inner.low) & (inner.high <= outer.high))
        assert np.any(outer.high - outer.low > 1.001 * (inner.high - inner.low))


def test_records_beyond_the_radius_widen_what_they_were_taken_from(rng):
    """Every tenth record lies at twice the radius: the raw variance is too small, its interval is not."""
    components = np.zeros(20_000, dtype=int)
    X = rng.normal(size=(20_000, 2))
    X[:2000] *= 8
    exact = exact_profile(X, components, rng, reach=edges_of(2)[1], standard=True)
    noisy = replace(exact, tail_stddev=10.0)
    expected, table = truth(X, components), cluster_table(noisy, np.array([0]))
    assert np.all(table.spread.value < 0.9 * expected["spread"])
    blind = cluster_table(replace(noisy, tails=0 * noisy.tails), np.array([0])).spread.high
    assert np.all(blind < table.spread.high)
    assert np.all(np.abs(table.centre.value - expected["centre"]) < 0.1)
    assert np.all((table.centre.low < expected["centre"]) & (expected["centre"] < table.centre.high))


@settings(max_examples=150)
@given(
    counts=st.lists(st.floats(-500, 5000), min_size=4, max_size=4),
    size=st.sampled_from([1e-3, 1.0, 1e3]),
    cut=st.sampled_from([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]),
    seed=st.integers(0, 1000),
    population=st.booleans(),
)
def test_every_released_value_gives_a_table_inside_the_bounds(counts, size, cut, seed, population):
    """Counts may be negative, moments no moments at all: numbers are finite, in order, and possible."""
    rng = np.random.default_rng(seed)
    X, components = labelled(rng, n=40, n_components=4, n_features=2)
    exact = exact_profile(X, components, rng, bounds=(-5.0, 7.0))
    noisy = with_noise(exact, rng, count=50.0, sums=50.0 * size, squares=50.0 * size)
    noisy = replace(
        noisy, counts=np.array(counts), tails=rng.normal(size=noisy.tails.shape) * 30, tail_stddev=30.0
    )
    table = cluster_table(noisy, np.array(cut), population=population)
    for name in ESTIMATES:
        found = getattr(table, name)
        assert np.isfinite([found.low, found.value, found.high]).all()
        assert np.all((found.low <= found.value) & (found.value <= found.high))
    assert np.all((table.share.low >= 0) & (table.share.high <= 1))
    assert np.all((table.centre.low >= -5) & (table.centre.high <= 7))
    assert np.all((table.spread.low >= 0) & (table.spread.high <= 6.0001))


def test_where_noise_hides_a_spread_half_of_what_was_expected_is_published(rng):
    """Not 0, which no reader should take for a measurement; the interval begins there nevertheless."""
    X, components = labelled(rng, n_features=2)
    exact = exact_profile(X, components, rng, standard=True)
    hidden = replace(exact, second_moments=np.zeros((6, 2, 2)), second_moment_stddev=20.0)
    spread = cluster_table(replace(hidden, sums=np.zeros((6, 2))), np.arange(6)).spread
    assert np.all(spread.low == 0)
    assert np.all((spread.value > 0.49) & (spread.value <= spread.high))


def test_a_cluster_without_records_is_told_by_whole_bounds(rng):
    """Nothing is known of the centre of a cluster whose released size is 0 or less, and nothing is claimed."""
    X, components = labelled(rng, n_features=2)
    exact = exact_profile(X, components, rng, bounds=(-20.0, 20.0))
    noisy = with_noise(exact, rng, count=30.0, sums=30.0, squares=30.0)
    for count in (0.0, -40.0):
        counts = np.append(noisy.counts[:5], count)
        table = cluster_table(replace(noisy, counts=counts), np.arange(6))
        assert not table.supported[5]
        assert table.centre.low[5] == pytest.approx(-20)
        assert table.centre.high[5] == pytest.approx(20)
