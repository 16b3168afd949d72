"""What a mixture lets one expect of the records that it labels: closed forms, and draws of its own."""

import numpy as np
import pytest

from dpmorse.bases.staged.expected import expected_records
from dpmorse.densities import GaussianMixture
from dpmorse.statistics import Domain

WIDE = Domain(np.array([-50.0]), np.array([50.0]), radius=1.0)


def of(weights, means, variances, domain=WIDE):
    means = np.array(means, dtype=float)[:, None]
    mixture = GaussianMixture(weights, means, np.array(variances, dtype=float)[:, None, None])
    return expected_records(mixture, domain, np.random.default_rng(0))


def test_components_far_apart_label_their_own_records():
    """Nothing is lost and nothing gained: no chance of the draws is left in what is expected."""
    found = of([0.3, 0.7], [-20, 20], [1.0, 4.0])
    assert found.shares == pytest.approx([0.3, 0.7], rel=1e-9)
    assert found.means[:, 0] == pytest.approx([-20, 20], rel=1e-9)
    assert found.covariances[:, 0, 0] == pytest.approx([1.0, 4.0], rel=1e-9)


def test_a_little_overlap_moves_a_component_a_little():
    """Components at -2 and 2: the right one loses its 2.3 % left of 0 and gains as many right of it."""
    found = of([0.5, 0.5], [-2.0, 2.0], [1.0, 1.0])
    draws = np.abs(np.random.default_rng(1).normal(2.0, 1.0, size=1_000_000))
    assert found.means[1, 0] == pytest.approx(draws.mean(), abs=0.01)
    assert found.covariances[1, 0, 0] == pytest.approx(draws.var(), rel=0.02)


def test_neighbours_cut_one_another_off():
    """Equal components at -a and a: the records of the right one are positive, |x| of a normal at a."""
    found = of([0.5, 0.5], [-0.5, 0.5], [1.0, 1.0])
    draws = np.abs(np.random.default_rng(1).normal(0.5, 1.0, size=1_000_000))
    assert found.means[1, 0] == pytest.approx(draws.mean(), abs=0.02)
    assert found.covariances[1, 0, 0] == pytest.approx(draws.var(), rel=0.05)
    assert found.covariances[1, 0, 0] < 0.6, "narrower than the component"


def test_a_component_that_labels_nothing_is_expected_as_it_is():
    found = of([0.999999, 0.000001], [0, 0], [1.0, 1.0])
    assert found.shares == pytest.approx([1.0, 0.0], abs=1e-4)
    assert found.means[1, 0] == 0.0
    assert found.covariances[1, 0, 0] == pytest.approx(1.0)


def test_records_are_labelled_by_their_clipped_form():
    """A ball of radius 1: what lies beyond is labelled at its surface, and expected where it is."""
    found = of([0.5, 0.5], [-3.0, 3.0], [1.0, 1.0], Domain(np.array([-1.0]), np.array([1.0]), radius=1.0))
    assert found.means[:, 0] == pytest.approx([-3.0, 3.0], abs=0.1)


def test_many_components_and_columns_stay_well_conditioned():
    rng = np.random.default_rng(2)
    mixture = GaussianMixture(np.full(40, 1 / 40), rng.normal(size=(40, 30)), np.tile(np.eye(30), (40, 1, 1)))
    domain = Domain(np.full(30, -50.0), np.full(30, 50.0), radius=1.0)
    found = expected_records(mixture, domain, np.random.default_rng(0))
    assert np.linalg.eigvalsh(found.covariances).min() > 0.1
