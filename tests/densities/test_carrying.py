import numpy as np

from dpmorse.densities import GaussianMixture, carried

BEFORE = GaussianMixture(
    np.array([0.5, 0.5]), np.array([[0.0, 0.0], [4.0, 0.0]]), np.stack([np.eye(2), 0.01 * np.eye(2)])
)
AFTER = GaussianMixture(
    BEFORE.weights, np.array([[0.0, 0.0], [10.0, 0.0]]), np.stack([np.eye(2), np.diag([0.25, 1.0])])
)


def test_points_keep_their_coordinates_in_units_of_their_component():
    points = np.array([[0.3, -0.7], [4.0, 0.0], [4.1, 0.2]])
    moved = carried(points, BEFORE, AFTER)
    np.testing.assert_array_equal(moved[0], points[0])
    np.testing.assert_allclose(moved[1:], [[10.0, 0.0], [10.5, 2.0]])


def test_nothing_moves_between_equal_mixtures_nor_where_there_is_nothing():
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(carried(points, BEFORE, BEFORE), points)
    assert carried(np.empty((0, 2)), BEFORE, AFTER).shape == (0, 2)
