"""Generated tables of numbers and categories are what their docstrings say; references find their classes."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from benchmarks._k_prototypes import k_prototypes
from benchmarks._product_em import product_em
from benchmarks.generated.categories import make_mushrooms, make_votes
from benchmarks.generated.mixed import KINDS, make_mixed
from benchmarks.generated.mixed_table import MixedTable, with_noise_column


def arrays(table):
    return [value for value in vars(table).values() if isinstance(value, np.ndarray)]


def easy(rng, n=2000):
    """Three classes that numbers and categories tell apart, with missing values."""
    y = rng.integers(3, size=n)
    numbers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[y] + rng.normal(size=(n, 2))
    codes = np.where(rng.random((n, 4)) < 0.8, y[:, None], rng.integers(3, size=(n, 4)))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    codes[rng.random(codes.shape) < 0.1] = -1
    bound = np.full(2, 30.0)
    return MixedTable("easy", numbers * [1.0, 1e3], codes, (3,) * 4, -bound, bound * [1.0, 1e3], y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("instance", [0, 7])
def test_shapes_and_classes(kind, instance):
    table = make_mixed(kind, 500, instance)
    assert table.numbers.shape == (500, table.lower.size)
    assert table.codes.shape == (500, len(table.n_levels))
    assert table.codes.min() == -1
    assert (table.codes.max(axis=0) < table.n_levels).all()
    assert np.unique(table.y).tolist() == list(range(table.n_clusters))
    known = ~np.isnan(table.numbers)
    assert ((table.numbers > table.lower) & (table.numbers < table.upper))[known].all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_instance_is_the_same_table(kind):
    for ours, theirs in zip(arrays(make_mixed(kind, 200, 3)), arrays(make_mixed(kind, 200, 3)), strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)
    assert make_mixed(kind, 200, 3).y.tolist() != make_mixed(kind, 200, 4).y.tolist()


def test_the_law_does_not_depend_on_the_number_of_records():
    small, large = make_mixed("both", 20_000, 1), make_mixed("both", 60_000, 1)
    assert small.n_levels == large.n_levels
    for label in range(small.n_clusters):
        ours, theirs = (np.nanmean(t.numbers[t.y == label], axis=0) for t in (small, large))
        assert ours / np.nanstd(small.numbers, axis=0) == pytest.approx(
            theirs / np.nanstd(small.numbers, axis=0), abs=0.1
        )


def test_kinds_differ_in_what_they_say():
    assert make_mixed("allcat", 100, 0).numbers.shape == (100, 0)
    assert make_mixed("combo", 1000, 0).n_clusters == 9
    assert make_mixed("curved", 1000, 0).n_clusters == 4
    table = make_mixed("cat", 20_000, 0)  # its numbers tell nothing
    means = np.array([np.nanmean(table.numbers[table.y == k], axis=0) for k in range(table.n_clusters)])
    assert np.ptp(means, axis=0) / np.nanstd(table.numbers, axis=0) == pytest.approx(0, abs=0.15)
    table = make_mixed("num", 20_000, 0)  # its categories tell nothing
    for column in table.codes.T:
        shares = [np.mean(column[(table.y == k) & (column >= 0)] == 0) for k in range(table.n_clusters)]
        assert np.ptp(shares) < 0.05


def test_encoded_records():
    table = make_mixed("both", 300, 2)
    E, layout = table.encoded(), table.layout
    assert E.shape == (300, layout.width)
    missing = np.isnan(table.numbers)
    assert np.array_equal(E[:, layout.hole_part], missing)
    assert np.array_equal(E[:, layout.number_part][~missing], table.numbers[~missing])
    assert np.array_equal(E[:, layout.number_part][missing], np.where(missing, layout.middle, 0)[missing])
    for j, own in enumerate(layout.levels):
        block = E[:, layout.level_part][:, own]
        assert np.array_equal(np.where(block.any(axis=1), block.argmax(axis=1), -1), table.codes[:, j])


def test_tables_that_look_like_public_ones():
    mushrooms, votes = make_mushrooms(), make_votes(replicates=4)
    assert mushrooms.codes.shape == (8124, 22)
    assert 2 <= min(mushrooms.n_levels) <= max(mushrooms.n_levels) <= 12
    assert votes.codes.shape == (4 * 435, 16)
    assert set(votes.n_levels) == {2}
    assert np.mean(votes.codes == -1) == pytest.approx(0.05, abs=0.01)
    assert mushrooms.n_clusters == votes.n_clusters == 2


def test_a_column_of_noise_tells_nothing():
    table = with_noise_column(make_votes(replicates=100))
    assert table.n_levels[-1] == 30
    noise, shares = table.codes[:, -1], [np.mean(table.y[table.codes[:, -1] == k]) for k in range(30)]
    assert np.bincount(noise) / noise.size == pytest.approx(1 / 30, abs=0.005)
    assert shares == pytest.approx([table.y.mean()] * 30, abs=0.06)
    assert table.encoded().shape == (43_500, 62)


def test_em_finds_classes_that_are_far_apart(rng):
    table = easy(rng)
    mixture = product_em(table, 3)
    assert adjusted_rand_score(table.y, mixture.labels(table.encoded())) > 0.97
    order = np.argsort([np.argmax(p[:3]) for p in mixture.probabilities])
    assert mixture.means[order] == pytest.approx(np.array([[0, 0], [9, 0], [0, 9e3]]), abs=100)
    assert mixture.means[order][:, 0] == pytest.approx([0, 9, 0], abs=0.3)


def test_em_without_numbers_and_without_categories(rng):
    table = easy(rng)
    no_numbers = dataclasses.replace(table, numbers=np.empty((2000, 0)), lower=np.empty(0), upper=np.empty(0))
    no_categories = dataclasses.replace(table, codes=np.empty((2000, 0), dtype=int), n_levels=())
    for part, least in ((no_numbers, 0.7), (no_categories, 0.8)):
        mixture = product_em(part, 3)
        assert adjusted_rand_score(part.y, mixture.labels(part.encoded())) > least


def test_em_is_the_same_twice():
    table = make_mixed("combo", 500, 0)
    assert product_em(table, 3, n_rounds=5) == product_em(table, 3, n_rounds=5)


def test_k_prototypes_find_classes_that_are_far_apart(rng):
    table = easy(rng)
    assert adjusted_rand_score(table.y, k_prototypes(table, 3)) > 0.7
