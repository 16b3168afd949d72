"""The generators of tables and sensors: the columns are of the kind that is stated."""

import numpy as np
import pytest

from dpmorse.datasets import (
    make_boxes,
    make_discrete,
    make_skewed,
    make_slab,
    make_subclasses,
    make_trajectory,
)


def test_nuisance_columns_do_not_know_the_class():
    X, y = make_subclasses(40_000, n_features=6, n_nuisance=2, n_clusters=2, random_state=0)
    distance = np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0)
    assert (distance[-2:] < 0.05).all()
    assert distance[:-2].max() > 0.2


def test_pieces_have_the_tails_of_a_student_law():
    """With df degrees of freedom the kurtosis of a coordinate is 3 + 6 / (df - 4)."""
    X = make_subclasses(
        400_000, n_features=1, n_clusters=1, n_subclasses=1, n_nuisance=0, tail=12.0, random_state=0
    )[0]
    z = (X - X.mean()) / X.std()
    assert np.mean(z**4) == pytest.approx(3.75, abs=0.25)


def test_skewed_columns_are_positive_with_logarithms_as_wide_as_stated():
    X, y = make_skewed(60_000, n_features=6, n_clusters=3, skewness=0.5, random_state=0)
    assert (X > 0).all()
    for k in range(3):
        widths = np.log(X[y == k]).std(axis=0)
        np.testing.assert_allclose(widths[0::2], 0.5, rtol=0.03)
        np.testing.assert_allclose(widths[1::2], 0.5, rtol=0.15)  # gamma: about, not exactly


def test_scales_of_skewed_columns_span_a_thousand():
    X = make_skewed(5000, n_features=4, n_clusters=1, skewness=0.1, random_state=0)[0]
    assert np.median(X, axis=0).max() / np.median(X, axis=0).min() > 300


def test_discrete_columns_are_counts_answers_halves_and_reals_in_turn():
    X, _ = make_discrete(5000, n_features=8, random_state=0)
    counts, answers, halves, reals = (X[:, i::4] for i in range(4))
    assert (counts == np.rint(counts)).all()
    assert (counts >= 0).all()
    np.testing.assert_array_equal(np.unique(answers), [0.0, 1.0])
    assert (2 * halves == np.rint(2 * halves)).all()
    assert np.unique(reals).size == reals.size


def test_counts_of_a_class_are_poisson():
    X, y = make_discrete(60_000, n_features=4, n_clusters=3, random_state=0)
    for k in range(3):
        mine = X[y == k, 0]
        assert mine.var() == pytest.approx(mine.mean(), rel=0.05)


def test_a_slab_separates_along_one_column_only():
    X, y = make_slab(40_000, n_features=6, separation=6.0, width=10.0, tail=4.0, random_state=0)
    apart = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    thin = int(np.argmax(apart))
    assert apart[thin] == pytest.approx(6.0, abs=0.1)
    others = np.delete(np.arange(6), thin)
    assert apart[others].max() < 0.6
    np.testing.assert_allclose(X[:, others].std(axis=0), 10.0, rtol=0.03)


def test_boxes_do_not_overlap_and_lie_in_the_unit_cube():
    X, y = make_boxes(20_000, n_features=3, n_clusters=7, gap=0.02, random_state=0)
    low = np.array([X[y == k].min(axis=0) for k in range(7)])
    high = np.array([X[y == k].max(axis=0) for k in range(7)])
    apart = (high[:, None] <= low[None, :]) | (high[None, :] <= low[:, None])
    assert (apart.any(axis=2) | np.eye(7, dtype=bool)).all()
    assert (X >= 0).all()
    assert (X <= 1).all()


def test_boxes_without_gaps_fill_the_cube():
    X, y = make_boxes(50_000, n_features=2, n_clusters=5, gap=1e-6, random_state=0)
    areas = [np.prod(np.ptp(X[y == k], axis=0)) for k in range(5)]
    assert sum(areas) == pytest.approx(1.0, abs=0.02)


def test_a_trajectory_remembers_and_stays_around_one_mean():
    X, y = make_trajectory(60_000, n_features=4, n_clusters=3, memory=0.8, random_state=0)
    assert (np.diff(y) >= 0).all()
    for k in range(3):
        mine = X[y == k] - X[y == k].mean(axis=0)
        assert np.sum(mine[1:] * mine[:-1]) / np.sum(mine**2) == pytest.approx(0.8, abs=0.03)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    assert (np.ptp(means, axis=0) < X.std(axis=0)).all()


def test_classes_of_a_trajectory_differ_in_loudness():
    X, y = make_trajectory(30_000, n_clusters=4, contrast=6.0, memory=0.3, random_state=0)
    loudness = np.array([np.sqrt(np.mean(X[y == k] ** 2)) for k in range(4)])
    assert loudness.max() / loudness.min() > 1.5
