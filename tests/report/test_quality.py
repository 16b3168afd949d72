"""How clear a cluster is: known cases, and the same value whatever has merged its components."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpmorse.densities import GaussianMixture
from dpmorse.report.quality import (
    apartness,
    joint_memberships,
    merges_apart,
    separation,
    separation_in_words,
    size_in_words,
)


def joint_of(weights, means, n=40_000):
    mixture = GaussianMixture(weights, np.array(means)[:, None], np.ones((len(means), 1, 1)))
    return joint_memberships(mixture.responsibilities(mixture.sample(n, 0)[0]))


def test_groups_that_cannot_be_told_apart():
    joint = joint_of([0.3, 0.2, 0.5], [0.0, 0.0, 50.0])
    a, b, c = np.eye(3)
    assert apartness(joint, a, b) == pytest.approx(0.0, abs=1e-9)
    assert apartness(joint, a + b, c) == pytest.approx(1.0, abs=1e-9)
    # A record of the first is one of the second in two cases of five.
    assert separation(joint, np.array([a, a + b, c])) == pytest.approx([0.6, 1.0, 1.0], abs=1e-9)


def test_two_gaussians_that_overlap():
    """The mean membership is an integral: E[r] over records of one of two equal Gaussians."""
    joint = joint_of([0.5, 0.5], [-1.0, 1.0])
    x = np.linspace(-12, 12, 20_001)
    membership = 1 / (1 + np.exp(-2 * x))
    expected = np.trapezoid(membership * norm.pdf(x - 1), x)
    assert separation(joint, np.eye(2)) == pytest.approx([expected] * 2, abs=0.01)
    assert apartness(joint, *np.eye(2)) == pytest.approx(1 - (1 - expected) / 0.5, abs=0.02)


def test_a_group_without_records():
    joint = joint_of([1.0], [0.0])
    assert apartness(joint, np.zeros(1), np.ones(1)) is None
    assert separation(joint, np.zeros((1, 1))) == [1.0]
    linkage = np.array([[0, 1, 0.5, 2]])
    assert merges_apart(joint, np.array([[1.0], [0.0]]), linkage) == [None]


def test_merges_are_compared_side_by_side():
    joint = joint_of([0.3, 0.2, 0.5], [0.0, 0.0, 50.0])
    linkage = np.array([[0, 1, 0.1, 2], [2, 3, 9.0, 3]])
    assert merges_apart(joint, np.eye(3), linkage) == pytest.approx([0.0, 1.0], abs=1e-9)


def test_words():
    assert [separation_in_words(part) for part in (1.0, 0.9, 0.75, 0.2)] == [
        "clearly apart", "mostly apart", "overlaps others", "hardly apart",
    ]  # fmt: skip
    assert size_in_words(100) == "far larger than its noise"
    assert size_in_words(2.9) == size_in_words(-math.inf) == "may be noise"
