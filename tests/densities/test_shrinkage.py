"""Shrinkage: nothing is lost without noise, everything without signal, and in between it pays."""

import numpy as np
import pytest

from dpmorse.densities import floor_spectrum, james_stein, shrink_to_identity


def noise_matrix(rng, d, stddev):
    E = rng.normal(size=(d, d)) * stddev
    return (E + E.T) / 2  # diagonal: stddev; off the diagonal: stddev / sqrt 2


def test_without_noise_nothing_changes(rng):
    A = rng.normal(size=(4, 5, 5)) * 0.3
    matrices = np.eye(5) + A @ A.transpose(0, 2, 1)
    assert shrink_to_identity(matrices, np.zeros(4)) == pytest.approx(matrices)


def test_pure_noise_is_mostly_removed(rng):
    d, stddev = 12, 0.2
    noisy = np.stack([np.eye(d) + noise_matrix(rng, d, stddev) for _ in range(200)])
    shrunk = shrink_to_identity(noisy, np.full(200, stddev))
    before = np.square(noisy - np.eye(d)).sum(axis=(1, 2)).mean()
    after = np.square(shrunk - np.eye(d)).sum(axis=(1, 2)).mean()
    assert after < 0.1 * before


@pytest.mark.parametrize("size", [0.05, 0.2, 1.0])
def test_shrinkage_never_costs_much_and_often_pays(rng, size):
    """Mean squared error over random truths, beside the raw matrix with the same floor."""
    d, stddev = 8, 0.15
    truths = np.stack(
        [floor_spectrum((np.eye(d) + noise_matrix(rng, d, size))[None], 0.2)[0] for _ in range(300)]
    )
    noisy = truths + np.stack([noise_matrix(rng, d, stddev) for _ in range(300)])
    raw = floor_spectrum(noisy, 0.2)
    shrunk = shrink_to_identity(noisy, np.full(300, stddev))
    errors = [np.square(estimate - truths).sum(axis=(1, 2)).mean() for estimate in (shrunk, raw)]
    assert errors[0] < 1.05 * errors[1]


def test_results_are_positive_definite(rng):
    noisy = np.stack([noise_matrix(rng, 6, 3.0) for _ in range(50)])
    for stddev in (0.0, 0.1, 10.0):
        assert np.linalg.eigvalsh(shrink_to_identity(noisy, np.full(50, stddev))).min() > 0.019


def test_james_stein_factor():
    assert james_stein(np.array([4.0, 1.0, 0.5, 0.0]), np.ones(4)) == pytest.approx([0.75, 0, 0, 0])
