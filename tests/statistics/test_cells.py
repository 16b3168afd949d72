"""Cells are computed in exact integers and agree with the mixture they come from."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpmorse import GaussianMixture
from dpmorse.statistics import EXP_TABLE, FINE_GRID_BITS, GRID_BITS, ROUNDING_BITS, WEIGHT_BITS, GaussianCells
from dpmorse.statistics.cells import SMALLEST_PART, TABLE_STEPS_PER_NAT
from plain import random_cells, random_mixture, unit_box

ONE = 1 << GRID_BITS


def score_in_python_integers(cells, record, k):
    """The definition, in unbounded integers: shows that float64 loses nothing."""
    total = int(cells.constants[k])
    for i in range(len(record)):
        u = int(cells.offsets[k, i]) + sum(
            int(cells.factors[k, i, j]) * int(record[j]) for j in range(len(record))
        )
        v = round(Fraction(u, 1 << ROUNDING_BITS))  # round half to even, like rint
        total += v * v
    return total


@pytest.mark.parametrize("n_features", [1, 2, 5, 17])
@pytest.mark.parametrize("scale", [0.003, 0.3, 3.0])
@pytest.mark.parametrize("grid_bits", [GRID_BITS, FINE_GRID_BITS])
def test_scores_are_exact(rng, n_features, scale, grid_bits):
    mixture, one = random_mixture(rng, 4, n_features, scale=scale), 1 << grid_bits
    cells = GaussianCells.from_mixture(*mixture, grid_bits=grid_bits)
    q = rng.integers(-one, one + 1, size=(20, n_features))
    q[0] = one  # a corner, where intermediate values are largest
    scores = cells.scores(q)
    expected = [[score_in_python_integers(cells, record, k) for k in range(4)] for record in q]
    assert scores.astype(object).tolist() == expected
    assert scores.max() < 2**53


@pytest.mark.parametrize("n_features", [1, 3, 8])
def test_scores_are_those_of_the_mixture(rng, n_features):
    """In nats, up to a common constant, to far better than any margin that matters."""
    weights, means, covariances = random_mixture(rng, 6, n_features)
    cells = GaussianCells.from_mixture(weights, means, covariances)
    q = rng.integers(-ONE, ONE + 1, size=(300, n_features))
    logs = GaussianMixture(weights, means, covariances).component_log_densities(q / ONE)
    nats = cells.scores(q) * 4.0**-cells.score_bits
    behind = nats - nats.min(axis=1, keepdims=True)
    assert behind == pytest.approx(logs.max(axis=1, keepdims=True) - logs, abs=2e-3, rel=1e-5)


def test_labels_are_the_most_probable_components(rng):
    weights, means, covariances = random_mixture(rng, 8, 4)
    q = unit_box(4).quantise(rng.uniform(-1, 1, size=(5000, 4)))
    labels = GaussianCells.from_mixture(weights, means, covariances).labels(q)
    expected = GaussianMixture(weights, means, covariances).labels(q / ONE)
    assert np.mean(labels == expected) > 0.9995


def test_ties_go_to_the_lowest_index():
    identical = np.tile(0.1 * np.eye(2), (3, 1, 1))
    cells = GaussianCells.from_mixture(np.full(3, 1 / 3), np.zeros((3, 2)), identical)
    assert cells.labels(np.array([[0, 0], [ONE, -5]])).tolist() == [0, 0]


def test_responsibilities_are_integers_that_never_exceed_one(rng):
    cells = random_cells(rng, 12, 3)
    gamma = cells.responsibilities(rng.integers(-ONE, ONE + 1, size=(4000, 3)))
    assert gamma.min() >= 0
    assert gamma.sum(axis=1).max() <= 1 << WEIGHT_BITS
    assert gamma.sum(axis=1).min() > (1 << WEIGHT_BITS) - 12, "each of the 12 quotients loses less than 1"


def test_responsibilities_follow_the_mixture(rng):
    weights, means, covariances = random_mixture(rng, 5, 3)
    q = rng.integers(-ONE, ONE + 1, size=(500, 3))
    gamma = GaussianCells.from_mixture(weights, means, covariances).responsibilities(q)
    expected = GaussianMixture(weights, means, covariances).responsibilities(q / ONE)
    part = expected / expected.max(axis=1, keepdims=True)
    clear = np.all(np.abs(part - SMALLEST_PART) > 1e-4, axis=1)
    expected[part < SMALLEST_PART] = 0.0
    expected /= expected.sum(axis=1, keepdims=True)
    assert clear.mean() > 0.9
    assert gamma[clear] / (1 << WEIGHT_BITS) == pytest.approx(expected[clear], abs=2e-3)


def test_one_cell_takes_all():
    cells = GaussianCells.from_mixture(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    assert cells.responsibilities(np.array([[3, 4], [ONE, ONE]])).tolist() == [[4096], [4096]]


def test_floor_of_the_quotient_is_the_integer_quotient(rng):
    """(W << 12) // total by a correctly rounded float division, as the kernels do it."""
    weight = rng.integers(0, 2**20 + 1, size=200_000)
    total = weight + rng.integers(1, 2**30, size=weight.size)
    by_float = np.floor(weight.astype(float) * 2.0**WEIGHT_BITS / total.astype(float))
    assert np.array_equal(by_float.astype(np.int64), (weight << WEIGHT_BITS) // total)


def test_table_of_the_exponential():
    t = np.arange(EXP_TABLE.size) / TABLE_STEPS_PER_NAT
    assert EXP_TABLE[0] == 2**20
    assert pytest.approx(2**20 * np.exp(-t), abs=1.0) == EXP_TABLE
    after = math.exp(-EXP_TABLE.size / TABLE_STEPS_PER_NAT)
    assert after <= SMALLEST_PART < EXP_TABLE[-1] / 2**20


def test_a_cell_that_is_a_hundred_times_less_likely_has_no_share():
    """Two cells of one shape: how much less likely the second is depends on the place alone."""
    means = np.array([[-0.5], [0.5]])
    cells = GaussianCells.from_mixture(np.full(2, 0.5), means, np.full((2, 1, 1), 0.05))
    q = np.arange(-ONE, ONE + 1)[:, None]
    less_likely = np.exp(-np.abs(q[:, 0]) / ONE / 0.05)
    smaller = cells.responsibilities(q).min(axis=1)
    assert np.array_equal(smaller > 0, less_likely > 0.0100001)
    shared = less_likely > 0.011
    assert smaller[shared] / 4096 == pytest.approx((less_likely / (1 + less_likely))[shared], abs=1e-3)


@pytest.mark.parametrize("variance", [1e-12, 1e-8, 1e4])
def test_extreme_covariances_stay_exact(rng, variance):
    means = rng.uniform(-1, 1, size=(3, 2))
    cells = GaussianCells.from_mixture(np.full(3, 1 / 3), means, np.tile(variance * np.eye(2), (3, 1, 1)))
    q = rng.integers(-ONE, ONE + 1, size=(50, 2))
    assert cells.scores(q).max() < 2**53
    nearest = ((q[:, None, :] / ONE - means) ** 2).sum(axis=2)
    clear = np.sort(nearest, axis=1)[:, 1] - nearest.min(axis=1) > 1e-2
    assert np.array_equal(cells.labels(q)[clear], nearest.argmin(axis=1)[clear])
