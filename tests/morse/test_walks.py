"""Compiled steps against plain linear algebra, in few columns and many; the same walks on any number of cores."""

import numpy as np
import pytest

from dpmorse import _threads
from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from dpmorse.morse.critical import Landscape, quadratic_string
from morse_mixtures import random_mixture


def points_between(landscape, n_points=60):
    """Return points between centres, where few or many components matter."""
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, landscape.n_components, (2, n_points))
    part = rng.random((n_points, 1))
    near = rng.standard_normal((n_points, landscape.n_features)) / 10
    return part * landscape.centres[first] + (1 - part) * landscape.centres[second] + near


@pytest.fixture(params=[("overlapping", 2, 9), ("crossed", 3, 5), ("noisy", 8, 25), ("overlapping", 40, 6)])
def landscape(request):
    family, n_features, n_components = request.param
    return Landscape(random_mixture(family, n_features, 930, n_components))


def test_newton_steps_are_those_of_a_full_decomposition(landscape):
    points = points_between(landscape)
    shapes, found = landscape.shapes(points), landscape.newton_steps(points)
    curvatures, axes = quadratic_string._all_directions(shapes.metrics, shapes.hessians)
    slopes = np.einsum("nde,nd->ne", axes, shapes.gradients)
    steps = -np.einsum("nde,ne->nd", axes, slopes / np.maximum(np.abs(curvatures), 1e-3))
    np.testing.assert_allclose(found.curvatures, curvatures[:, 0], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.steps, steps, rtol=1e-6, atol=1e-6)
    alone = curvatures[:, 0] > 1 - 1e-6  # no axis is softer than another
    along = np.einsum("nd,nde,ne->n", found.axes, shapes.metrics, axes[:, :, 0])
    np.testing.assert_allclose(np.abs(along[~alone]), 1.0, atol=1e-6)


def test_lengths_are_those_of_the_metric(landscape):
    points = points_between(landscape)
    steps = np.random.default_rng(4).standard_normal(points.shape)
    expected = np.einsum("nd,nde,ne->n", steps, landscape.shapes(points).metrics, steps)
    np.testing.assert_allclose(landscape.squared_lengths(points, steps), expected, rtol=1e-9)


def test_components_that_are_left_early_change_nothing():
    """Far from most of 20 components in 40 columns: heights and gradients of the mixture itself."""
    rng = np.random.default_rng(5)
    mixture = GaussianMixture(
        np.full(20, 0.05), rng.uniform(-3, 3, (20, 40)), np.tile(np.eye(40), (20, 1, 1))
    )
    land = Landscape(mixture)
    points = np.vstack([mixture.sample(100, rng=1)[0], mixture.means[::2] + mixture.means[1::2] / 7])
    shapes = land.shapes(land.to_whitened(points))
    axes = (land.from_whitened(np.eye(40)) - land.from_whitened(np.zeros((40, 40)))).T
    np.testing.assert_allclose(shapes.heights, -mixture.log_density(points), rtol=1e-12)
    np.testing.assert_allclose(shapes.gradients, mixture.gradient(points) @ axes, rtol=1e-8, atol=1e-8)


def test_a_lone_component_is_round():
    """One component: the Newton step ends in its centre, and every curvature is 1."""
    land = Landscape(GaussianMixture([1.0], [[1.0, 2.0, 3.0]], [np.diag([1.0, 4.0, 0.1])]))
    points = np.random.default_rng(6).standard_normal((20, 3))
    found = land.newton_steps(points)
    np.testing.assert_allclose(points + found.steps, np.tile(land.centres, (20, 1)), atol=1e-12)
    np.testing.assert_allclose(found.curvatures, 1.0)


@pytest.mark.parametrize(("n_features", "n_components"), [(2, 30), (8, 45), (40, 8)])
def test_trees_are_the_same_on_any_number_of_cores(n_features, n_components, monkeypatch):
    mixture, found = random_mixture("overlapping", n_features, 931, n_components), []
    for n_cores in (1, 2, 5):
        monkeypatch.setattr(_threads, "available_cores", lambda n_cores=n_cores: n_cores)
        found.append(merge_tree(mixture).to_dict())
    assert found[0] == found[1] == found[2]
