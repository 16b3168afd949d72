"""Where components differ, and that nothing is lost by looking only there."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture, differing_part
from dpmorse.morse import merge_tree
from dpmorse.morse.critical.search import find_critical_points


def product(rng, n_columns=40, n_few=3, k=4, spread=4.0):
    """A mixture in a few random directions of skewed columns, times one normal distribution in the others."""
    factor = (
        np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0] * np.geomspace(0.01, 100, n_columns)[:, None]
    )
    shapes = rng.normal(size=(k, n_few, n_few)) / 3
    covariances = np.tile(np.eye(n_columns), (k, 1, 1))
    covariances[:, :n_few, :n_few] = shapes @ shapes.transpose(0, 2, 1) + 0.3 * np.eye(n_few)
    means = np.zeros((k, n_columns))
    means[:, :n_few] = spread * rng.normal(size=(k, n_few))
    whole = GaussianMixture(rng.dirichlet(np.full(k, 5.0)), means, covariances)
    return whole.affine(factor, rng.normal(size=n_columns)), whole


def test_the_directions_are_found(rng):
    mixture, _ = product(rng)
    part = differing_part(mixture)
    assert part.mixture.n_features == 3
    assert part.axes.shape == (40, 3)


def test_heights_and_memberships_are_those_of_the_whole(rng):
    mixture, _ = product(rng)
    part = differing_part(mixture)
    y, _ = part.mixture.sample(200, rng)
    x = part.lift(y)
    assert -mixture.log_density(x) == pytest.approx(-part.mixture.log_density(y) + part.height, abs=1e-7)
    assert mixture.responsibilities(x) == pytest.approx(part.mixture.responsibilities(y), abs=1e-7)
    assert mixture.gradient(x) @ part.axes == pytest.approx(part.mixture.gradient(y), abs=1e-5)


def test_critical_points_are_those_of_the_few_columns(rng):
    """The tree of a product is that of its mixture, in all columns: no gradient is left in any of them."""
    mixture, whole = product(rng, spread=2.0)
    few = GaussianMixture(whole.weights, whole.means[:, :3], whole.covariances[:, :3, :3])
    found, expected = find_critical_points(mixture), find_critical_points(few)
    assert found.certified
    assert found.modes.shape == (expected.n_modes, 40)
    rises = found.saddle_heights - found.mode_heights[0], expected.saddle_heights - expected.mode_heights[0]
    assert rises[0] == pytest.approx(rises[1], abs=1e-6)
    scale = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2)).mean(axis=0)
    assert np.abs(mixture.gradient(found.modes) * scale).max() < 1e-5
    assert found.mode_heights == pytest.approx(-mixture.log_density(found.modes), abs=1e-6)


@pytest.mark.parametrize("rule", ["auto", "overlap", "likelihood", "variance", "persistence", "single"])
def test_every_rule_has_a_tree(rng, rule):
    mixture, _ = product(rng)
    assert merge_tree(mixture, rule=rule, n_clusters=2).cut(2).max() == 1


def test_components_that_differ_everywhere_are_left_as_they_are(rng):
    means = rng.normal(size=(50, 40))
    assert differing_part(GaussianMixture(np.full(50, 0.02), means, np.tile(np.eye(40), (50, 1, 1)))) is None


def test_one_component_and_few_columns_are_left_as_they_are(rng):
    assert differing_part(GaussianMixture([1.0], np.zeros((1, 40)), np.eye(40)[None])) is None
    assert differing_part(product(rng, n_columns=10)[0]) is None


def test_a_direction_in_which_they_hardly_differ_counts(rng):
    _, whole = product(rng)
    means = whole.means.copy()
    means[0, 10] = 1e-6
    changed = GaussianMixture(whole.weights, means, whole.covariances)
    assert differing_part(changed).mixture.n_features == 4
