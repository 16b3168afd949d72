"""k-means on released points: scikit-learn's as the oracle, weights, points that coincide, and cores."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus

from dpmorse import _threads
from dpmorse.bases._kernels import lloyd, seed
from dpmorse.bases.k_means import k_means


def blobs(rng, n=600, d=3, k=6):
    centres = 4 * rng.standard_normal((k, d))
    return centres[rng.integers(k, size=n)] + rng.standard_normal((n, d))


def padded(points, centres):
    """Lay points and centres out for the compiled code."""
    d, k = points.shape[1], len(centres)
    columns = np.zeros((d + -d % 4, len(points)))
    columns[:d] = points.T
    room = np.zeros((k + -k % 4, len(columns)))
    room[:k, :d] = centres
    return columns, room


@pytest.mark.parametrize("d", [1, 3, 4, 9])
@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_iterations_end_where_those_of_scikit_learn_do(rng, d, k):
    points, weights = blobs(rng, d=d), rng.uniform(0.1, 3.0, 600)
    start = points[:k]
    expected = KMeans(k, init=start, n_init=1, tol=0).fit(points, sample_weight=weights)
    columns, centres = padded(points, start)
    labels = np.full(len(points), -1)
    inertia = lloyd(columns, weights, centres, k, 300, 0.0, labels)
    assert np.array_equal(labels, expected.labels_)
    assert np.allclose(centres[:k, :d], expected.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert inertia == pytest.approx(expected.inertia_)


def test_it_is_as_good_as_scikit_learn(rng):
    ratios = []
    for _ in range(20):
        points = blobs(rng, k=12)
        peer = KMeans(12, n_init=10, random_state=int(rng.integers(1000))).fit(points).inertia_
        ratios.append(k_means(points, 12, 10, rng).inertia / peer)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.01)


def test_starts_are_as_good_as_those_of_scikit_learn(rng):
    points = blobs(rng, k=12)
    columns, room = padded(points, np.zeros((12, 3)))
    ours, peers = [], []
    for i in range(200):
        seed(columns, np.ones(len(points)), rng.random((12, 4)), room)
        ours.append(_inertia(points, room[:, :3]))
        peers.append(_inertia(points, kmeans_plusplus(points, 12, random_state=i)[0]))
    noise = np.hypot(np.std(ours), np.std(peers)) / np.sqrt(200)
    assert abs(np.mean(ours) - np.mean(peers)) < 4 * noise


def _inertia(points, centres):
    return np.square(points[:, None] - centres).sum(axis=2).min(axis=1).sum()


def test_starts_follow_weights_and_squared_distances(rng):
    # The first centre is drawn by weight; the second by weight times its squared distance to the first.
    points, weights = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 1.0])
    columns, room = padded(points, np.zeros((2, 1)))
    drawn = np.zeros((3, 3))
    for _ in range(20_000):
        seed(columns, weights, rng.random((2, 1)), room)
        first, second = (np.flatnonzero(points[:, 0] == x)[0] for x in room[:2, 0])
        drawn[first, second] += 1 / 20_000
    chances = weights * np.square(points - points.T)
    expected = weights[:, None] / 4 * chances / chances.sum(axis=1, keepdims=True)
    assert np.allclose(drawn, expected, atol=0.015)


def test_a_weight_counts_as_so_many_points(rng):
    points, weights = blobs(rng, n=200), rng.integers(0, 4, 200)
    start, repeated = points[:5], np.repeat(points, weights, axis=0)
    found = []
    for some, counts in ((points, weights.astype(float)), (repeated, np.ones(len(repeated)))):
        columns, centres = padded(some, start)
        lloyd(columns, counts, centres, 5, 300, 0.0, np.full(len(some), -1))
        found.append(centres)
    assert np.allclose(*found)


def test_a_centre_without_points_moves_to_the_farthest():
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    columns, centres = padded(points, [[0.1], [-50.0]])
    inertia = lloyd(columns, np.ones(4), centres, 2, 300, 0.0, np.full(4, -1))
    assert np.allclose(centres[:2, 0], [0.1, 9.0])
    assert inertia == pytest.approx(0.02)


@pytest.mark.parametrize("n_init", [1, 4])
def test_fewer_different_points_than_centres(rng, n_init):
    points = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    found = k_means(points, 7, n_init, rng)
    assert found.centres.shape == (7, 2)
    assert np.isfinite(found.centres).all()
    assert found.inertia == 0
    assert np.array_equal(found.centres[found.labels], points)


@pytest.mark.parametrize("points", [np.empty((0, 2)), [[0.0, np.nan]], [[np.inf, 0.0]]], ids=str)
def test_points_that_are_none(rng, points):
    with pytest.raises(ValueError, match="finite"):
        k_means(np.asarray(points), 2, 10, rng)


def test_distances_that_overflow(rng):
    columns, centres = padded(1e200 * blobs(rng), np.zeros((6, 3)))
    seed(columns, np.ones(600), rng.random((6, 3)), centres)
    labels = np.full(600, -1)
    lloyd(columns, np.ones(600), centres, 6, 5, 0.0, labels)
    assert np.isin(labels, np.arange(6)).all()


def test_points_of_no_weight_have_no_say(rng):
    points = np.vstack([blobs(rng), [[1e3, 1e3, 1e3]]])
    found = k_means(points, 6, 10, rng, np.append(np.ones(600), 0.0))
    assert np.abs(found.centres).max() < 100


def test_far_from_the_origin_nothing_changes(rng):
    points = blobs(rng)
    here, there = (k_means(points + shift, 6, 10, np.random.default_rng(0)) for shift in (0.0, 1e8))
    assert np.array_equal(here.labels, there.labels)
    assert np.allclose(here.centres + 1e8, there.centres, atol=1e-6)


def test_the_number_of_cores_changes_no_bit(rng, monkeypatch):
    points, found = blobs(rng), []
    for n_cores in (1, 3):
        monkeypatch.setattr(_threads, "available_cores", lambda n=n_cores: n)
        found.append(k_means(points, 6, 10, np.random.default_rng(0)))
    assert np.array_equal(found[0].centres, found[1].centres)
    assert found[0].inertia == found[1].inertia
