"""The compiled labels against the argmax of log densities, wherever that is not decided by rounding."""

import numpy as np
import pytest

from dpmorse import GaussianMixture
from dpmorse.densities._kernels import BLOCK
from dpmorse.typing import label_dtype
from plain import random_mixture


def make(rng, n_components, n_features, **options):
    return GaussianMixture(*random_mixture(rng, n_components, n_features, **options))


def assert_most_probable(mixture, X, labels):
    """Each label is the argmax, or as good as the argmax to rounding."""
    logs = mixture.component_log_densities(X)
    best = logs.argmax(axis=1)
    rows = np.arange(len(X))
    found, highest = logs[rows, labels], logs[rows, best]
    differs = labels != best
    assert np.all(highest[differs] - found[differs] <= 1e-9 * np.abs(highest[differs]))
    assert differs.mean() < 0.01


@pytest.mark.parametrize("n_features", range(1, 18))
def test_every_number_of_columns(rng, n_features):
    mixture = make(rng, 7, n_features)
    X = rng.normal(size=(700, n_features))
    assert_most_probable(mixture, X, mixture.labels(X))


@pytest.mark.parametrize(
    ("n_components", "dtype"), [(1, np.int8), (2, np.int8), (128, np.int8), (129, np.int16), (300, np.int16)]
)
def test_every_number_of_components_in_the_smallest_type(rng, n_components, dtype):
    mixture = make(rng, n_components, 3)
    X = np.vstack([rng.uniform(-1, 1, size=(2000, 3)), mixture.means])
    labels = mixture.labels(X)
    assert labels.dtype == dtype
    assert_most_probable(mixture, X, labels)
    assert n_components < 3 or labels.max() >= n_components - 3


@pytest.mark.parametrize(
    ("n_labels", "dtype"),
    [(0, np.int8), (1, np.int8), (128, np.int8), (129, np.int16), (32768, np.int16), (32769, np.int32)],
)
def test_smallest_type_of_labels(n_labels, dtype):
    assert label_dtype(n_labels) == dtype


@pytest.mark.parametrize("n_rows", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 20_000])
def test_edges_of_blocks_and_threads(rng, n_rows):
    mixture = make(rng, 5, 3)
    X = rng.normal(size=(n_rows, 3))
    labels = mixture.labels(X)
    assert labels.shape == (n_rows,)
    if n_rows:
        assert_most_probable(mixture, X, labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only"])
def test_memory_layouts_and_types(rng, dtype, layout):
    mixture = make(rng, 5, 3)
    base = (rng.normal(size=(600, 3)) * (3 if dtype is np.int64 else 1)).astype(dtype)
    X = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
        "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": np.copy,
    }[layout](base)
    X.flags.writeable = layout != "read-only"
    assert_most_probable(mixture, np.asarray(base, dtype=np.float64), mixture.labels(X))
    assert np.array_equal(X, base)


def test_points_are_moved_into_the_box(rng):
    mixture = make(rng, 6, 5)
    X = 3 * rng.normal(size=(1000, 5))
    lower, upper = rng.uniform(-1, 0, size=5), rng.uniform(0, 1, size=5)
    assert np.array_equal(mixture.labels(X, lower, upper), mixture.labels(np.clip(X, lower, upper)))
    assert np.array_equal(mixture.labels(X, lower), mixture.labels(np.maximum(X, lower)))
    assert np.array_equal(mixture.labels(X, upper=upper), mixture.labels(np.minimum(X, upper)))


def test_ties_go_to_the_lowest_index():
    mixture = GaussianMixture(np.full(4, 0.25), [[1.0], [-0.5], [0.5], [-0.5]], np.full((4, 1, 1), 0.04))
    assert mixture.labels([[0.0], [-0.5], [0.75]]).tolist() == [1, 1, 0]


def test_a_plane_halfway_between_two_centres(rng):
    """Closed form: with equal weights and covariances the boundary is the bisecting plane."""
    mixture = GaussianMixture([0.5, 0.5], [[-1.0, 0, 0], [1.0, 0, 0]], np.tile(np.eye(3), (2, 1, 1)))
    X = rng.normal(size=(5000, 3))
    assert np.array_equal(mixture.labels(X), X[:, 0] > 0)


def test_far_tails():
    """Where every density underflows, distances still decide; where they overflow, index 0 does."""
    mixture = GaussianMixture([0.3, 0.7], [[0.0, 0.0], [0.0, 0.0]], [np.eye(2), 4 * np.eye(2)])
    assert mixture.labels([[1e4, 0.0], [1e150, 0.0], [0.0, -1e150]]).tolist() == [1, 1, 1]
    assert mixture.labels([[1e200, 0.0], [-1e300, 1e300]]).tolist() == [0, 0]


def test_digits_survive_far_from_the_origin(rng):
    """A column at 1e12 with unit spread: the centre is subtracted before anything is multiplied."""
    near = make(rng, 4, 3)
    X = rng.integers(-2000, 2000, size=(3000, 3)) / 1024
    centres = np.rint(near.means * 1024) / 1024
    shift = np.array([2.0**40, 0.0, -(2.0**35)])
    there = GaussianMixture(near.weights, centres + shift, near.covariances)
    here = GaussianMixture(near.weights, centres, near.covariances)
    assert np.array_equal(there.labels(X + shift), here.labels(X))


def test_components_without_weight_never_win():
    mixture = GaussianMixture([0.0, 1.0, 0.0], [[0.0], [9.0], [1.0]], np.ones((3, 1, 1)))
    assert mixture.labels([[0.0], [1.0], [1e3]]).tolist() == [1, 1, 1]
