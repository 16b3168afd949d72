"""Tables of cuts: numbers that add up, and intervals that cover as often as is promised."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from counted_profiles import counted, labelled, with_noise
from dpmorse.profiles import cluster_table, group_table

CUTS = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]


def truth(codes, holes, components, cut, c):
    """Share, parts of levels, and parts of missing values of a cluster, by the records."""
    mine = np.array(cut)[components] == c
    d = holes.shape[1] - codes.shape[1]
    levels = [
        np.bincount(codes[mine & ~holes[:, d + j], j], minlength=codes[:, j].max() + 1) / mine.sum()
        for j in range(codes.shape[1])
    ]
    return mine.mean(), levels, holes[mine].mean(axis=0)


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_without_noise_a_table_is_what_the_records_say(cut, rng):
    X, codes, holes, components = labelled(rng)
    table = cluster_table(counted(X, components, codes=codes, holes=holes), np.array(cut))
    for c in range(max(cut) + 1):
        share, levels, missing = truth(codes, holes, components, cut, c)
        assert table.share.value[c] == pytest.approx(share)
        assert table.missing.value[c] == pytest.approx(missing, abs=1e-6)
        for found, expected in zip(table.level_share, levels, strict=True):
            assert found.value[c] == pytest.approx(expected, abs=1e-6)
            assert np.all(found.low[c] <= expected + 1e-6)
            assert np.all(found.high[c] >= expected - 1e-6)
    assert table.counts == pytest.approx(np.bincount(np.array(cut)[components]))
    assert table.supported.all()


@pytest.mark.parametrize("entry", [1.0, 30.0, 400.0])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_all_numbers_of_a_table_add_up(cut, entry, rng):
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng, entry / 2, entry)
    table, whole = cluster_table(profile, np.array(cut)), group_table(profile, np.ones((1, 6)))
    assert table.share.value.sum() == pytest.approx(1, abs=1e-12)
    assert table.counts.sum() == pytest.approx(whole.counts[0], rel=1e-12)
    d = profile.n_numbers
    for j, found in enumerate(table.level_share):
        total = found.value.sum(axis=1) + table.missing.value[:, d + j]
        known = ~np.isnan(total)
        assert total[known] == pytest.approx(1, abs=1e-9)
        if known.all():
            everybody = table.share.value @ found.value
            assert everybody == pytest.approx(whole.level_share[j].value[0], abs=1e-9)
    for estimate in (table.share, table.missing, *table.level_share):
        known = ~np.isnan(estimate.value)
        assert np.all((estimate.value[known] >= 0) & (estimate.value[known] <= 1))
        assert np.all(estimate.low[known] <= estimate.value[known] + 1e-12)
        assert np.all(estimate.value[known] <= estimate.high[known] + 1e-12)


@pytest.mark.parametrize("cut", CUTS[:3], ids=str)
def test_intervals_hold_the_truth_in_95_of_100(cut):
    rng = np.random.default_rng(0)
    X, codes, holes, components = labelled(rng, n=6000)
    exact = counted(X, components, codes=codes, holes=holes)
    hits, total = np.zeros(3), np.zeros(3)
    for _ in range(200):
        table = cluster_table(with_noise(exact, rng, 15, 25), np.array(cut))
        for c in range(max(cut) + 1):
            share, levels, missing = truth(codes, holes, components, cut, c)
            pairs = [(0, table.share[c], share)]
            pairs += [(1, one[c], part) for one, part in zip(table.level_share, levels, strict=True)]
            pairs += [(2, table.missing[c, j], missing[j]) for j in range(1, 5)]
            for kind, estimate, true in pairs:
                hit = (estimate.low <= true + 1e-12) & (true - 1e-12 <= estimate.high)
                hits[kind] += np.sum(hit)
                total[kind] += np.size(hit)
    assert np.all(hits / total > [0.91, 0.935, 0.935])
    # Levels that hardly occur are covered more often: their intervals end at 0.
    assert np.all(hits / total < [0.965, 0.99, 0.99])


def test_levels_of_intervals(rng):
    """Half widths go with normal quantiles."""
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng)
    narrow, wide = (cluster_table(profile, np.array(CUTS[1]), level=level) for level in (0.68, 0.9973))
    assert np.all(narrow.share.low >= wide.share.low)
    assert np.all(narrow.share.high <= wide.share.high)
    half = [table.share.high - table.share.low for table in (narrow, wide)]
    assert half[1] / half[0] == pytest.approx(3 / 0.9945, rel=0.02)


def test_a_cut_adds_up_its_components(rng):
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng)
    parts, whole = cluster_table(profile, np.arange(6)), cluster_table(profile, np.array([0, 0, 0, 1, 1, 1]))
    for c, of in enumerate((slice(0, 3), slice(3, 6))):
        assert whole.counts[c] == pytest.approx(parts.counts[of].sum())
        assert whole.share.value[c] == pytest.approx(parts.share.value[of].sum())
        assert whole.count_stddev[c] ** 2 == pytest.approx(np.square(parts.count_stddev[of]).sum())


def test_a_component_may_be_anywhere_in_the_order(rng):
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng)
    order = rng.permutation(6)
    names = ("sizes", "entries", "edges", "curves", "expected")
    turned = replace(profile, **{name: getattr(profile, name)[order] for name in names})
    some, other = (cluster_table(p, labels) for p, labels in ((profile, np.arange(6)), (turned, order)))
    for name in ("share", "median", "q1", "q3", "missing"):
        for end in ("value", "low", "high"):
            assert getattr(getattr(some, name), end) == pytest.approx(
                getattr(getattr(other, name), end), nan_ok=True, abs=1e-9
            ), (name, end)


def test_of_what_may_be_noise_the_share_alone_is_known(rng):
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng, 3, 3)
    sizes, entries = profile.sizes.copy(), profile.entries.copy()
    sizes[2], entries[2] = 2.0, 0.0
    table = cluster_table(replace(profile, sizes=sizes, entries=entries), np.arange(6))
    assert table.supported.tolist() == [True, True, False, True, True, True]
    assert np.isfinite(table.share.value).all()
    for estimate in (table.median, table.q1, table.q3, *table.level_share):
        for end in ("value", "low", "high"):
            assert np.isnan(getattr(estimate, end)[2]).all()
            assert np.isfinite(getattr(estimate, end)[0]).all()
    assert np.isnan(table.missing.value[2, 1:]).all()


def test_nothing_and_everything_are_certain_shares(rng):
    X, codes, holes, components = labelled(rng)
    profile = with_noise(counted(X, components, codes=codes, holes=holes), rng)
    profile = replace(profile, sizes=np.zeros(6), entries=np.zeros(profile.entries.shape))
    table = group_table(profile, np.array([[0.0] * 6, [1.0] * 6, [1.0] + [0.0] * 5]))
    ends = list(zip(table.share.low, table.share.value, table.share.high, strict=True))
    assert ends[0] == (0, 0, 0)
    assert ends[1] == pytest.approx((1, 1, 1))
    assert (ends[2][0], ends[2][2]) == (0, 1)


def test_columns_that_are_never_missing_are_never_missing(rng):
    X, codes, _, components = labelled(rng)
    table = cluster_table(with_noise(counted(X, components, codes=codes), rng), np.arange(6))
    assert not table.missing.value.any()
    assert not (table.missing.high - table.missing.low).any()


def test_quantiles_that_are_asked_for_are_there_in_order(rng):
    X, _, _, components = labelled(rng, n_categories=0)
    table = cluster_table(counted(X, components), np.arange(6), quantiles=[0.9, 0.1])
    assert list(table.quantiles) == [0.1, 0.25, 0.5, 0.75, 0.9]
    for low, high in itertools.pairwise(table.quantiles.values()):
        assert np.all(low.value <= high.value)
