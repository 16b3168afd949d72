"""Mixtures whose modes and saddles are known on paper."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import find_critical_points, merge_tree


def equal_mixture(means, covariances=None):
    means = np.atleast_2d(means)
    k, d = means.shape
    return GaussianMixture(
        np.full(k, 1 / k), means, np.tile(np.eye(d), (k, 1, 1)) if covariances is None else covariances
    )


@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("separation", [2.01, 2.5, 4.0, 12.0, 200.0])
def test_two_equal_gaussians_part_at_two_standard_deviations(n_features, separation):
    """Saddle at the midpoint, f = s^2/8 + (D/2) ln 2 pi: both components are equal there and weights are 1/2."""
    means = np.zeros((2, n_features))
    means[:, 0] = -separation / 2, separation / 2
    points = find_critical_points(equal_mixture(means))
    assert points.n_modes == 2
    assert points.certified
    assert points.saddle_heights == pytest.approx(
        [separation**2 / 8 + n_features / 2 * np.log(2 * np.pi)], rel=1e-12
    )
    assert np.abs(points.saddles).max() < 1e-9 * separation


@pytest.mark.parametrize("separation", [0.0, 0.5, 1.5, 1.99])
def test_two_equal_gaussians_closer_than_that_have_one_mode(separation):
    tree = merge_tree(equal_mixture([[0.0, 0.0], [separation, 0.0]]))
    assert tree.n_modes == 1
    assert tree.modes[0] == pytest.approx([separation / 2, 0.0], abs=1e-6)
    assert len(tree.saddles) == 0


@pytest.mark.parametrize(
    ("side", "n_modes"), [(1.5, 1), (2.2, 1), (2.4, 4), (2.42, 4), (2.44, 4), (2.46, 3), (3.0, 3)]
)
def test_the_centre_of_a_triangle_is_a_mode_below_root_six(side, n_modes):
    """Hess = (1 - a^2/6) I at the centroid: a fourth mode that is no centre, until a = sqrt 6 = 2.449."""
    corners = side / np.sqrt(3) * np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(3) / 3])
    points = find_critical_points(equal_mixture(corners))
    assert points.n_modes == n_modes
    assert points.certified
    centred = np.linalg.norm(points.modes, axis=1).min() < 1e-6
    assert centred == (side < np.sqrt(6))
    assert len(points.saddles) == {1: 0, 4: 3, 3: 3}[n_modes]
    assert np.ptp(points.saddle_heights) < 1e-9 if len(points.saddles) else True


@pytest.mark.parametrize(("side", "n_modes"), [(1.9, 1), (2.1, 4), (4.0, 4)])
def test_a_square_is_a_product(side, n_modes):
    """f(x, y) = g(x) + g(y): saddles at (0, +-m) and (+-m, 0) with m the mode of g; heights add up."""
    square = side / 2 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    points = find_critical_points(equal_mixture(square))
    line = find_critical_points(equal_mixture(np.array([[-side / 2], [side / 2]])))
    assert points.n_modes == n_modes
    if n_modes == 4:
        expected = line.mode_heights[0] + line.saddle_heights[0]
        assert points.saddle_heights == pytest.approx(np.full(4, expected), rel=1e-12)


def test_three_modes_of_two_components():
    points = find_critical_points(
        GaussianMixture([0.5, 0.5], [[0.0, 0.0], [1.5, 1.5]], [np.diag([1.0, 0.05]), np.diag([0.05, 1.0])])
    )
    assert points.n_modes == 3
    assert set(points.component_modes) == {0, 1}
    assert points.modes[2].sum() == pytest.approx(1.5)  # on the axis of symmetry
    assert points.saddle_ends.tolist() == [[0, 2], [1, 2]]


@pytest.mark.parametrize("n_features", [3, 5, 10, 20])
def test_lifts_to_more_columns_change_nothing(n_features):
    """Independent unit columns add (D - 2)/2 ln 2 pi to f everywhere, and nothing else."""
    rng = np.random.default_rng(5)
    means, covariances = (
        rng.uniform(-3, 3, (6, 2)),
        np.array([np.diag(v) for v in rng.uniform(0.1, 1.5, (6, 2))]),
    )
    flat = find_critical_points(equal_mixture(means, covariances))
    lifted = np.tile(np.eye(n_features), (6, 1, 1))
    lifted[:, :2, :2] = covariances
    axes = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    mixture = equal_mixture(np.c_[means, np.zeros((6, n_features - 2))], lifted)
    points = find_critical_points(mixture.affine(axes, np.ones(n_features)))
    added = (n_features - 2) / 2 * np.log(2 * np.pi)
    assert points.mode_heights == pytest.approx(flat.mode_heights + added, abs=1e-9)
    assert points.saddle_heights[: len(flat.saddle_heights)] == pytest.approx(
        flat.saddle_heights + added, abs=1e-9
    )


def test_one_component_is_one_mode():
    tree = merge_tree(GaussianMixture([1.0], [[2.0, 3.0]], [np.diag([4.0, 9.0])]))
    assert tree.modes == pytest.approx(np.array([[2.0, 3.0]]))
    assert tree.cut(1).tolist() == [0]
    assert tree.linkage_matrix().shape == (0, 4)
    assert tree.persistence.tolist() == [np.inf]
    assert tree.suggested_n_clusters == 1


@pytest.mark.parametrize("side", [2.6, 3.0, 5.0])
def test_persistence_and_order_of_three_in_a_row(side):
    """Three on a line, the last one farther: it merges last, and its persistence is its barrier's."""
    tree = merge_tree(equal_mixture([[0.0], [side], [3 * side]]))
    heights = tree.critical_points.saddle_heights[tree.spanning_saddles]
    assert np.all(np.diff(heights) > 0)
    assert tree.cut(2).tolist() == [0, 0, 1]
    finite = tree.persistence[np.isfinite(tree.persistence)]
    assert len(finite) == 2
    assert finite.max() == pytest.approx(heights[1] - tree.critical_points.mode_heights.max(), abs=0.2)
