"""Each generator draws from the law that its docstring states: closed forms where noise is taken away."""

import numpy as np
import pytest

from benchmarks.generated import FAMILIES, curves, mixtures, tables
from benchmarks.generated.draws import draw_rotation


def shares(y):
    return np.bincount(y) / y.size


def made(make, n, **given):
    """Records of a generator; what is not given is at the low end of a family's range."""
    (family, *_) = (family for family in FAMILIES.values() if family.generate is make)
    parameters = {name: ends[0] for name, ends in family.ranges.items()}
    return make(n, random_state=np.random.default_rng(0), **{**parameters, **given})


def test_rotations_are_orthogonal():
    Q = draw_rotation(6, np.random.default_rng(0))
    np.testing.assert_allclose(Q @ Q.T, np.eye(6), atol=1e-12)


def test_elongated_axes_stay_within_the_stretch():
    X, y = made(mixtures.make_elongated, 40_000, n_features=4, n_clusters=4, stretch=9.0)
    axes = np.sqrt([np.linalg.eigvalsh(np.cov(X[y == k].T)) for k in range(4)])
    stretches = axes.max(axis=1) / axes.min(axis=1)
    assert 3.0 < stretches.max() < 9.0 * 1.1


def test_rare_classes_have_one_to_five_per_cent():
    y = made(mixtures.make_unbalanced, 100_000, n_clusters=8, n_heavy=3)[1]
    assert ((shares(y)[3:] > 0.009) & (shares(y)[3:] < 0.051)).all()
    assert (shares(y)[:3] > 0.051).all()


def test_one_class_dominates_two_are_medium_the_others_tiny():
    y = made(mixtures.make_dominant, 100_000, n_clusters=7, share=0.8)[1]
    assert shares(y)[0] == pytest.approx(0.8, abs=0.01)
    assert (shares(y)[1:3] > 0.02).all()
    assert (shares(y)[3:] < 0.011).all()


def test_concentric_classes_have_one_centre_and_squares_that_grow():
    X, y = made(mixtures.make_concentric, 60_000, n_features=6, n_clusters=3, ratio=3.0)
    for k in range(3):
        assert np.mean(X[y == k] ** 2) == pytest.approx(9.0**k, rel=0.03)
        assert np.abs(X[y == k].mean(axis=0)).max() < 0.05 * 3.0**k


def test_multiscale_labels_are_two_levels_of_the_same_records():
    arguments = {"n_clusters": 3, "n_subclusters": 4}
    X, coarse = made(mixtures.make_multiscale, 2000, **arguments)
    same, fine = made(mixtures.make_multiscale, 2000, fine=True, **arguments)
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(coarse, fine // 4)
    assert fine.max() == 11


def test_background_has_its_share_and_fills_the_box():
    X, y = made(mixtures.make_background, 50_000, n_features=2, share=0.2)
    noise = X[y == -1]
    assert len(noise) / len(X) == pytest.approx(0.2, abs=0.01)
    box = X.max(axis=0) - X.min(axis=0)
    np.testing.assert_allclose(noise.std(axis=0), box / np.sqrt(12), rtol=0.02)


def test_spirals_turn_with_the_radius():
    X, y = made(curves.make_spirals, 2000, n_clusters=4, turns=1.5, noise=1e-9)
    radius = np.linalg.norm(X, axis=1)
    expected = np.exp(2j * np.pi * (y / 4 + 1.5 * radius))
    np.testing.assert_allclose((X[:, 0] + 1j * X[:, 1]) / radius, expected, atol=1e-6)


@pytest.mark.parametrize("d", [2, 30])
def test_worms_are_at_most_as_far_as_long(d):
    X, y = made(curves.make_worms, 3000, n_features=d, n_clusters=4, radius=1e-9)
    for k in range(4):
        worm = X[y == k]
        reach = np.linalg.norm(worm[:, None] - worm[None, :200], axis=2).max()
        assert 0.2 < reach <= 1.0 + 1e-6


def test_a_sheet_without_curvature_is_flat():
    X, y = made(
        curves.make_manifold, 3000, n_features=20, n_clusters=3, dimension=2, curvature=1e-4, noise=1e-12
    )
    for k in range(3):
        values = np.linalg.eigvalsh(np.cov(X[y == k].T))
        assert values[:-2].sum() < 1e-5 * values.sum()


def test_curvature_bends_a_sheet_out_of_its_plane():
    X = made(curves.make_manifold, 3000, n_clusters=1, dimension=2, curvature=2.0, noise=1e-9)[0]
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert values[:-2].sum() > 0.2 * values.sum()


def test_nuisance_columns_do_not_know_the_class():
    X, y = made(tables.make_subclasses, 40_000, n_features=6, n_nuisance=2, n_clusters=2)
    distance = np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0)
    assert (distance[-2:] < 0.05).all()
    assert distance[:-2].max() > 0.2


def test_pieces_have_the_tails_of_a_student_law():
    """With df degrees of freedom the kurtosis of a coordinate is 3 + 6 / (df - 4)."""
    X = made(
        tables.make_subclasses, 400_000, n_features=1, n_clusters=1, n_subclasses=1, n_nuisance=0, tail=12.0
    )[0]
    z = (X - X.mean()) / X.std()
    assert np.mean(z**4) == pytest.approx(3.75, abs=0.25)


def test_skewed_columns_are_positive_with_logarithms_as_wide_as_stated():
    X, y = made(tables.make_skewed, 60_000, n_features=6, n_clusters=3, skewness=0.5)
    assert (X > 0).all()
    for k in range(3):
        widths = np.log(X[y == k]).std(axis=0)
        np.testing.assert_allclose(widths[0::2], 0.5, rtol=0.03)
        np.testing.assert_allclose(widths[1::2], 0.5, rtol=0.15)  # gamma: about, not exactly


def test_scales_of_skewed_columns_span_a_thousand():
    X = made(tables.make_skewed, 5000, n_features=4, n_clusters=1, skewness=0.1)[0]
    assert np.median(X, axis=0).max() / np.median(X, axis=0).min() > 300


def test_discrete_columns_are_counts_answers_halves_and_reals_in_turn():
    X, _ = made(tables.make_discrete, 5000, n_features=8)
    counts, answers, halves, reals = (X[:, i::4] for i in range(4))
    assert (counts == np.rint(counts)).all()
    assert (counts >= 0).all()
    np.testing.assert_array_equal(np.unique(answers), [0.0, 1.0])
    assert (2 * halves == np.rint(2 * halves)).all()
    assert np.unique(reals).size == reals.size


def test_counts_of_a_class_are_poisson():
    X, y = made(tables.make_discrete, 60_000, n_features=4, n_clusters=3)
    for k in range(3):
        mine = X[y == k, 0]
        assert mine.var() == pytest.approx(mine.mean(), rel=0.05)


def test_a_slab_separates_along_one_column_only():
    X, y = made(tables.make_slab, 40_000, n_features=6, separation=6.0, width=10.0, tail=4.0)
    apart = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    thin = int(np.argmax(apart))
    assert apart[thin] == pytest.approx(6.0, abs=0.1)
    others = np.delete(np.arange(6), thin)
    assert apart[others].max() < 0.6
    np.testing.assert_allclose(X[:, others].std(axis=0), 10.0, rtol=0.03)


def test_boxes_do_not_overlap_and_lie_in_the_unit_cube():
    X, y = made(tables.make_boxes, 20_000, n_features=3, n_clusters=7, gap=0.02)
    low = np.array([X[y == k].min(axis=0) for k in range(7)])
    high = np.array([X[y == k].max(axis=0) for k in range(7)])
    apart = (high[:, None] <= low[None, :]) | (high[None, :] <= low[:, None])
    assert (apart.any(axis=2) | np.eye(7, dtype=bool)).all()
    assert (X >= 0).all()
    assert (X <= 1).all()


def test_boxes_without_gaps_fill_the_cube():
    X, y = made(tables.make_boxes, 50_000, n_features=2, n_clusters=5, gap=1e-6)
    areas = [np.prod(np.ptp(X[y == k], axis=0)) for k in range(5)]
    assert sum(areas) == pytest.approx(1.0, abs=0.02)


def test_a_trajectory_remembers_and_stays_around_one_mean():
    X, y = made(tables.make_trajectory, 60_000, n_features=4, n_clusters=3, memory=0.8)
    assert (np.diff(y) >= 0).all()
    for k in range(3):
        mine = X[y == k] - X[y == k].mean(axis=0)
        assert np.sum(mine[1:] * mine[:-1]) / np.sum(mine**2) == pytest.approx(0.8, abs=0.03)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    assert (np.ptp(means, axis=0) < X.std(axis=0)).all()


def test_classes_of_a_trajectory_differ_in_loudness():
    X, y = made(tables.make_trajectory, 30_000, n_clusters=4, contrast=6.0, memory=0.3)
    loudness = np.array([np.sqrt(np.mean(X[y == k] ** 2)) for k in range(4)])
    assert loudness.max() / loudness.min() > 1.5
