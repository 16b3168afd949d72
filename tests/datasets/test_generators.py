"""Each generator draws from the law its docstring states: closed forms where noise is taken away."""

import inspect

import numpy as np
import pytest

from dpmorse import InvalidParameterError, InvalidTypeError, datasets
from dpmorse.datasets._draws import draw_centres, draw_rotation

GENERATORS = [
    function
    for name, function in inspect.getmembers(datasets, inspect.isfunction)
    if name.startswith("make_") and name != "make_family"
]
EVERY_GENERATOR = pytest.mark.parametrize("make", GENERATORS, ids=lambda f: f.__name__)


def sizes(make):
    return {name for name in inspect.signature(make).parameters if name in {"n_features", "n_clusters"}}


def shares(y):
    return np.bincount(y) / y.size


@EVERY_GENERATOR
@pytest.mark.parametrize("seed", [7, np.random.RandomState(7), np.random.default_rng(7), None])
def test_every_source_of_randomness_will_do(make, seed):
    X, y = make(50, random_state=seed)
    assert X.shape[0] == y.shape[0] == 50


@EVERY_GENERATOR
def test_a_seed_decides_and_a_generator_moves_on(make):
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(make(50, random_state=7)[0], make(50, random_state=rng)[0])
    assert not np.array_equal(make(50, random_state=7)[0], make(50, random_state=rng)[0])


@EVERY_GENERATOR
def test_every_class_has_a_record_even_in_tiny_datasets(make):
    arguments = {"n_clusters": 4} if "n_clusters" in sizes(make) else {}
    y = make(20, random_state=0, **arguments)[1]
    fixed = 4 if make is datasets.make_patients else 2
    np.testing.assert_array_equal(np.unique(y[y >= 0]), np.arange(arguments.get("n_clusters", fixed)))


@EVERY_GENERATOR
def test_bad_sizes_are_refused_by_name(make):
    for name in [*sizes(make), "n_samples"]:
        with pytest.raises(InvalidParameterError, match=f"{name} must be"):
            make(random_state=0, **{name: 0})
        with pytest.raises(InvalidTypeError, match=f"{name} must be an integer"):
            make(random_state=0, **{name: 2.5})
    with pytest.raises(InvalidParameterError, match=r"n_samples must be at least n_clusters = \d+, got 1"):
        make(1, random_state=0)


@EVERY_GENERATOR
def test_bad_numbers_are_refused_by_name(make):
    for name, parameter in inspect.signature(make).parameters.items():
        if isinstance(parameter.default, float):
            with pytest.raises(InvalidParameterError, match=f"{name} must"):
                make(50, random_state=0, **{name: -1.0})


@pytest.mark.parametrize(("seed", "error"), [(-1, InvalidParameterError), ("a", InvalidTypeError)])
def test_a_bad_seed_is_refused(seed, error):
    with pytest.raises(error, match="random_state must be None, an integer >= 0"):
        datasets.make_blobs(50, random_state=seed)


@pytest.mark.parametrize("make", [datasets.make_moons, datasets.make_rings, datasets.make_spirals])
def test_flat_shapes_need_a_plane(make):
    with pytest.raises(InvalidParameterError, match=r"n_features must be >= 2, got 1"):
        make(50, n_features=1)


def test_classes_that_cannot_be_are_refused():
    with pytest.raises(InvalidParameterError, match=r"n_clusters must be >= 3, got 2"):
        datasets.make_dominant(n_clusters=2)
    with pytest.raises(InvalidParameterError, match=r"n_heavy must be between 1 and 3, got 4"):
        datasets.make_unbalanced(n_clusters=3, n_heavy=4)
    with pytest.raises(InvalidParameterError, match=r"n_clusters must be between 1 and 17, got 18"):
        datasets.make_unbalanced(n_clusters=18, n_heavy=2)
    with pytest.raises(InvalidParameterError, match=r"n_nuisance must be between 0 and 3, got 4"):
        datasets.make_subclasses(n_features=4, n_nuisance=4)


@pytest.mark.parametrize(("k", "d"), [(2, 1), (5, 3), (40, 2), (7, 50)])
def test_separation_is_the_median_distance_of_nearest_centres(k, d):
    centres = draw_centres(k, d, 3.5, np.random.default_rng(k))
    distances = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag(np.full(k, np.inf))
    assert np.median(distances.min(axis=1)) == pytest.approx(3.5)


def test_rotations_are_orthogonal():
    Q = draw_rotation(6, np.random.default_rng(0))
    np.testing.assert_allclose(Q @ Q.T, np.eye(6), atol=1e-12)


def test_blobs_are_round_with_spreads_in_their_ratio():
    X, y = datasets.make_blobs(40_000, n_features=5, n_clusters=6, spread_ratio=4.0, random_state=0)
    spreads = np.array([X[y == k].std(axis=0) for k in range(6)])
    assert (spreads.max(axis=1) / spreads.min(axis=1)).max() < 1.1
    assert 1.5 < spreads.max() / spreads.min() < 4.0 * 1.1


def test_elongated_axes_stay_within_the_stretch():
    X, y = datasets.make_elongated(40_000, n_clusters=4, stretch=9.0, random_state=0)
    axes = np.sqrt([np.linalg.eigvalsh(np.cov(X[y == k].T)) for k in range(4)])
    stretches = axes.max(axis=1) / axes.min(axis=1)
    assert 3.0 < stretches.max() < 9.0 * 1.1


def test_rare_classes_have_one_to_five_per_cent():
    y = datasets.make_unbalanced(100_000, n_clusters=8, n_heavy=3, random_state=0)[1]
    assert ((shares(y)[3:] > 0.009) & (shares(y)[3:] < 0.051)).all()
    assert (shares(y)[:3] > 0.051).all()


def test_one_class_dominates_two_are_medium_the_others_tiny():
    y = datasets.make_dominant(100_000, n_clusters=7, share=0.8, random_state=0)[1]
    assert shares(y)[0] == pytest.approx(0.8, abs=0.01)
    assert (shares(y)[1:3] > 0.02).all()
    assert (shares(y)[3:] < 0.011).all()


def test_concentric_classes_have_one_centre_and_squares_that_grow():
    X, y = datasets.make_concentric(60_000, n_features=6, n_clusters=3, ratio=3.0, random_state=0)
    for k in range(3):
        assert np.mean(X[y == k] ** 2) == pytest.approx(9.0**k, rel=0.03)
        assert np.abs(X[y == k].mean(axis=0)).max() < 0.05 * 3.0**k


def test_multiscale_labels_are_two_levels_of_the_same_records():
    arguments = {"n_clusters": 3, "n_subclusters": 4, "random_state": 0}
    X, coarse = datasets.make_multiscale(2000, **arguments)
    same, fine = datasets.make_multiscale(2000, fine=True, **arguments)
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(coarse, fine // 4)
    assert fine.max() == 11


def test_background_has_its_share_and_fills_the_box():
    X, y = datasets.make_background(50_000, n_features=2, share=0.2, random_state=0)
    noise = X[y == -1]
    assert len(noise) / len(X) == pytest.approx(0.2, abs=0.01)
    box = X.max(axis=0) - X.min(axis=0)
    np.testing.assert_allclose(noise.std(axis=0), box / np.sqrt(12), rtol=0.02)


def test_moons_lie_on_half_circles():
    X, y = datasets.make_moons(2000, noise=1e-9, random_state=0)
    upper, lower = X[y == 0], X[y == 1] - [1.0, 0.5]
    for moon, side in ((upper, 1), (lower, -1)):
        np.testing.assert_allclose(np.linalg.norm(moon, axis=1), 1.0, atol=1e-7)
        assert (side * moon[:, 1] > -1e-7).all()


@pytest.mark.parametrize("d", [2, 5])
def test_rings_have_radii_one_two_three(d):
    X, y = datasets.make_rings(2000, n_features=d, n_clusters=3, noise=1e-9, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), y + 1.0, atol=1e-7)


def test_spirals_turn_with_the_radius():
    X, y = datasets.make_spirals(2000, n_clusters=4, turns=1.5, noise=1e-9, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    expected = np.exp(2j * np.pi * (y / 4 + 1.5 * radius))
    np.testing.assert_allclose((X[:, 0] + 1j * X[:, 1]) / radius, expected, atol=1e-6)


@pytest.mark.parametrize("d", [2, 30])
def test_worms_are_at_most_as_far_as_long(d):
    X, y = datasets.make_worms(3000, n_features=d, n_clusters=4, radius=1e-9, random_state=0)
    for k in range(4):
        worm = X[y == k]
        reach = np.linalg.norm(worm[:, None] - worm[None, :200], axis=2).max()
        assert 0.2 < reach <= 1.0 + 1e-6


def test_a_sheet_without_curvature_is_flat():
    X, y = datasets.make_manifold(
        3000, n_features=20, n_clusters=3, dimension=2, curvature=1e-4, noise=1e-12, random_state=0
    )
    for k in range(3):
        values = np.linalg.eigvalsh(np.cov(X[y == k].T))
        assert values[:-2].sum() < 1e-5 * values.sum()


def test_curvature_bends_a_sheet_out_of_its_plane():
    X = datasets.make_manifold(3000, n_clusters=1, dimension=2, curvature=2.0, noise=1e-9, random_state=0)[0]
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert values[:-2].sum() > 0.2 * values.sum()
