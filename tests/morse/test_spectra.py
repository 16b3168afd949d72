"""Curvatures in many columns: the directions that matter, as a full decomposition finds them."""

import numpy as np
import pytest

from dpmorse.morse.critical import quadratic_string


def points(n_bent, n_columns=40, seed=0):
    """Return A, H = A - F F^T and a gradient; F has as many columns as f bends down in directions."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((3, n_columns, n_columns))
    metrics = roots @ roots.swapaxes(1, 2) / n_columns + np.eye(n_columns)
    F = rng.standard_normal((3, n_columns, n_bent)) / np.sqrt(n_columns)
    return metrics, metrics - F @ F.swapaxes(1, 2), rng.standard_normal((3, n_columns))


def newton_steps(curvatures, axes, gradients):
    slopes = np.einsum("nde,nd->ne", axes, gradients)
    return -np.einsum("nde,ne->nd", axes, slopes / np.abs(curvatures))


@pytest.mark.parametrize("n_bent", [1, 2, 12, 39])
def test_bent_directions_are_those_of_a_full_decomposition(n_bent):
    metrics, hessians, gradients = points(n_bent)
    all_curvatures, all_axes = quadratic_string._all_directions(metrics, hessians)
    curvatures, axes = quadratic_string.curvatures_and_axes(metrics, hessians, gradients)
    assert curvatures.shape[1] == n_bent + 1
    np.testing.assert_allclose(curvatures[:, :n_bent], all_curvatures[:, :n_bent], atol=1e-9)
    np.testing.assert_allclose(curvatures[:, n_bent], 1.0)
    np.testing.assert_allclose(
        np.abs(np.einsum("nd,nde,ne->n", axes[:, :, 0], metrics, all_axes[:, :, 0])), 1.0, atol=1e-9
    )
    np.testing.assert_allclose(
        newton_steps(curvatures, axes, gradients),
        newton_steps(all_curvatures, all_axes, gradients),
        atol=1e-7,
    )


def test_axes_are_orthonormal_in_the_metric():
    metrics, hessians, gradients = points(5)
    _, axes = quadratic_string.curvatures_and_axes(metrics, hessians, gradients)
    products = axes.swapaxes(1, 2) @ metrics @ axes
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(6), products.shape), atol=1e-9)


def test_a_lone_component_has_curvature_one_in_some_direction():
    metrics, _, gradients = points(1)
    curvatures, axes = quadratic_string.curvatures_and_axes(metrics, metrics, np.zeros_like(gradients))
    np.testing.assert_allclose(curvatures[:, 0], 1.0)
    assert np.linalg.norm(axes[:, :, 0], axis=1).min() > 0
    np.testing.assert_array_equal(axes[:, :, 1], 0)
