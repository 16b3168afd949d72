"""The one account: it adds up, whatever the noise, and is what the counts say where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from counted_profiles import counted, labelled, with_noise
from dpmorse.profiles import Account
from dpmorse.profiles.account import _onto_simplex
from dpmorse.profiles.profile import hidden_together


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1e-6, 1.0, 50.0, 3000.0]),
    entry=st.sampled_from([1e-6, 1.0, 50.0, 3000.0]),
    n_categories=st.integers(0, 2),
    public=st.booleans(),
)
def test_it_adds_up(seed, size, entry, n_categories, public):
    rng = np.random.default_rng(seed)
    X, codes, holes, components = labelled(rng, n=600, n_components=4, n_categories=n_categories)
    exact = counted(X, components, codes=codes, holes=holes, n_bins=4)
    profile = with_noise(exact, rng, size, entry)
    profile = replace(profile, n_records=600.0) if public else profile
    account = Account.of(profile)
    assert np.all(account.sizes >= 0)
    assert np.all(account.entries >= 0)
    for column in profile.columns:
        total = account.entries[:, column.part].sum(axis=1)
        assert total == pytest.approx(account.sizes, rel=1e-9, abs=1e-9 * account.sizes.sum())
    assert not account.entries[~profile.used].any()
    if public:
        assert account.sizes.sum() == pytest.approx(600, rel=1e-12)


def test_without_noise_it_is_what_was_counted(rng):
    X, codes, holes, components = labelled(rng)
    profile = counted(X, components, codes=codes, holes=holes)
    account = Account.of(profile)
    assert account.sizes == pytest.approx(profile.sizes, rel=1e-6)
    assert account.entries == pytest.approx(profile.entries, abs=1e-3)


def test_what_noise_hides_is_what_was_expected(rng):
    X, _, _, components = labelled(rng, n_categories=0)
    exact = counted(X, components, n_bins=4)
    profile = with_noise(exact, rng, size=1e-6, entry=1e6)
    profile = replace(profile, entries=exact.entries)  # no larger than one standard deviation
    account = Account.of(profile)
    assert account.entries / account.sizes[:, None] == pytest.approx(profile.expected, abs=0.02)


def test_categories_of_a_hidden_component_are_like_those_of_all_others(rng):
    X, codes, _, components = labelled(rng, n_categories=1)
    profile = with_noise(counted(X, components, codes=codes), rng, size=1.0, entry=1.0)
    hidden = components == 0
    entries, sizes = profile.entries.copy(), profile.sizes.copy()
    entries[0], sizes[0] = 0.0, 2.0  # two standard deviations
    account = Account.of(replace(profile, entries=entries, sizes=sizes))
    part = profile.columns[-1].part
    others = np.bincount(codes[~hidden, 0]) / (~hidden).sum()
    assert account.entries[0, part] / account.sizes[0] == pytest.approx(others, abs=0.01)


def test_components_that_noise_hides_one_by_one_are_seen_together(rng):
    noise = np.full(25, 100.0)
    assert not hidden_together(np.full(25, 250.0), noise).any()  # 6,250, noise 500
    assert hidden_together(np.full(25, 50.0), noise).all()  # 1,250
    assert hidden_together(np.append(np.full(24, 50.0), 5000.0), noise).tolist() == [True] * 24 + [False]
    X, codes, _, components = labelled(rng, n=5000, n_components=25, n_categories=1)
    profile = with_noise(counted(X, components, codes=codes, n_bins=4), rng, size=100.0, entry=200.0)
    own = replace(profile, sizes=np.full(25, 250.0), expected=profile.expected)
    expected = replace(own, entries=own.expected * 250.0)
    account = Account.of(expected)
    assert account.entries / account.sizes[:, None] == pytest.approx(expected.expected, abs=1e-9)


def test_nothing_at_all_is_an_account_too(rng):
    X, codes, _, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes), rng)
    account = Account.of(
        replace(profile, sizes=np.full(6, -500.0), entries=np.full(profile.entries.shape, -90.0))
    )
    assert account.sizes.sum() > 0
    assert np.isfinite(account.entries).all()


def test_the_simplex_is_reached_by_the_shortest_way(rng):
    points, totals = rng.normal(size=(5, 4)) * 3, rng.uniform(0.5, 5, size=5)
    found = _onto_simplex(points, totals)
    for point, total, near in zip(points, totals, found, strict=True):
        best = minimize(
            lambda x, point=point: np.sum((x - point) ** 2),
            np.full(4, total / 4),
            bounds=[(0, None)] * 4,
            constraints={"type": "eq", "fun": lambda x, total=total: x.sum() - total},
        )
        assert near == pytest.approx(best.x, abs=1e-5)


def test_entries_that_are_not_there_stay_empty():
    found = _onto_simplex(np.array([[1.0, -np.inf, 3.0], [-np.inf, -np.inf, -2.0]]), np.array([2.0, 5.0]))
    assert found.tolist() == [[0.0, 0.0, 2.0], [0.0, 0.0, 5.0]]
