"""The mixture against closed forms, finite differences, scikit-learn and its own invariances."""

import copy
import dataclasses
import pickle

import mpmath
import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture as SklearnMixture

from dpmorse import GaussianMixture, InvalidParameterError
from plain import random_mixture


def make(rng, n_components=4, n_features=3, **options):
    return GaussianMixture(*random_mixture(rng, n_components, n_features, **options))


def as_sklearn(mixture):
    model = SklearnMixture(mixture.n_components)
    model.weights_, model.means_ = mixture.weights, mixture.means
    model.covariances_ = mixture.covariances
    model.precisions_cholesky_ = np.linalg.cholesky(np.linalg.inv(mixture.covariances))
    return model


def test_agrees_with_scikit_learn(rng):
    mixture = make(rng)
    X = rng.normal(size=(200, 3))
    theirs = as_sklearn(mixture)
    assert mixture.log_density(X) == pytest.approx(theirs.score_samples(X), rel=1e-9, abs=1e-9)
    assert mixture.responsibilities(X) == pytest.approx(theirs.predict_proba(X), abs=1e-9)
    assert np.array_equal(mixture.labels(X), theirs.predict(X))


def test_one_component_is_a_normal_density(rng):
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    mixture = GaussianMixture([1.0], [[1.0, -1.0]], [covariance])
    X = rng.normal(size=(50, 2))
    assert mixture.log_density(X) == pytest.approx(stats.multivariate_normal([1, -1], covariance).logpdf(X))
    precision = np.linalg.inv(covariance)
    assert mixture.gradient(X) == pytest.approx((X - [1, -1]) @ precision)
    assert mixture.hessian(X) == pytest.approx(np.broadcast_to(precision, (50, 2, 2)))


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_derivatives_match_finite_differences(rng, n_features):
    mixture = make(rng, n_features=n_features)
    X = rng.uniform(-1, 1, size=(20, n_features))
    step = 1e-5
    for i in range(n_features):
        shift = step * np.eye(n_features)[i]
        slope = -(mixture.log_density(X + shift) - mixture.log_density(X - shift)) / (2 * step)
        assert mixture.gradient(X)[:, i] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        bend = (mixture.gradient(X + shift) - mixture.gradient(X - shift)) / (2 * step)
        assert mixture.hessian(X)[:, i] == pytest.approx(bend, rel=1e-4, abs=1e-3)


def test_midpoint_of_two_equal_gaussians():
    """Closed form: at the midpoint of unit Gaussians s apart, f = s^2/8 + (D/2) ln 2 pi and Hess = 1 - s^2/4."""
    for separation in (0.5, 2.0, 6.0, 200.0):
        mixture = GaussianMixture([0.5, 0.5], [[-separation / 2], [separation / 2]], np.ones((2, 1, 1)))
        origin = np.zeros((1, 1))
        assert -mixture.log_density(origin)[0] == pytest.approx(separation**2 / 8 + 0.5 * np.log(2 * np.pi))
        assert mixture.gradient(origin)[0, 0] == pytest.approx(0, abs=1e-12)
        assert mixture.hessian(origin)[0, 0, 0] == pytest.approx(1 - separation**2 / 4)


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e6, 1e100])
def test_far_tails(distance):
    """Where p underflows, f, its gradient and Hessian still are those of the dominating component."""
    mixture = GaussianMixture([0.3, 0.7], [[0.0, 0.0], [1.0, 0.0]], np.tile(np.eye(2), (2, 1, 1)))
    X = np.array([[distance, 0.0]])
    assert mixture.log_density(X)[0] == pytest.approx(-0.5 * (distance - 1) ** 2, rel=1e-3)
    assert mixture.gradient(X) == pytest.approx(np.array([[distance - 1, 0.0]]), rel=1e-9)
    assert mixture.hessian(X)[0] == pytest.approx(np.eye(2), abs=1e-6)
    assert mixture.responsibilities(X).sum() == pytest.approx(1)


def test_tiny_and_zero_weights():
    covariances = np.tile(np.eye(1), (3, 1, 1))
    mixture = GaussianMixture([1 - 1e-300, 1e-300, 0.0], [[0.0], [100.0], [3.0]], covariances)
    X = np.array([[100.0], [3.0]])
    assert np.all(np.isfinite(mixture.gradient(X)))
    assert np.all(np.isfinite(mixture.hessian(X)))
    assert mixture.labels(X).tolist() == [1, 0]
    assert mixture.responsibilities(X)[:, 2].tolist() == [0, 0]
    assert 2 not in mixture.sample(1000, np.random.default_rng(0))[1]


def test_nearly_singular_covariance_keeps_its_digits():
    """Correlation 1 - 1e-12, and columns whose units differ by 1e12, against 50-digit arithmetic."""
    scale, correlation = 1e12, 1 - 1e-12
    covariance = np.array([[1.0, correlation * scale], [correlation * scale, scale**2]])
    mixture = GaussianMixture([1.0], [[0.0, 0.0]], [covariance])
    x = np.array([1.0, scale * 1.000001])
    with mpmath.workdps(50):
        matrix = mpmath.matrix([[mpmath.mpf(float(v)) for v in row] for row in covariance])
        point = mpmath.matrix([mpmath.mpf(float(v)) for v in x])
        quadratic = (point.T * mpmath.inverse(matrix) * point)[0]
        expected = -quadratic / 2 - mpmath.log(mpmath.det(matrix)) / 2 - mpmath.log(2 * mpmath.pi)
    assert mixture.log_density(x[None])[0] == pytest.approx(float(expected), rel=1e-3)


def test_change_of_units(rng):
    mixture = make(rng)
    X = rng.normal(size=(40, 3))
    scale, shift = np.array([1e6, 1e-6, 3.0]), np.array([1.0, -5.0, 1e3])
    rescaled = mixture.affine(scale, shift)
    assert rescaled.log_density(X * scale + shift) == pytest.approx(
        mixture.log_density(X) - np.log(scale).sum(), rel=1e-6, abs=1e-6
    )
    matrix = rng.normal(size=(3, 3))
    turned = mixture.affine(matrix, shift)
    jacobian = np.log(abs(np.linalg.det(matrix)))
    assert turned.log_density(X @ matrix.T + shift) == pytest.approx(
        mixture.log_density(X) - jacobian, rel=1e-6
    )
    assert turned.responsibilities(X @ matrix.T + shift) == pytest.approx(
        mixture.responsibilities(X), abs=1e-6
    )


def test_samples_have_the_mixtures_moments(rng):
    mixture = make(rng)
    X, labels = mixture.sample(200_000, rng)
    mean = mixture.weights @ mixture.means
    second = np.einsum("k,kij->ij", mixture.weights, mixture.covariances) + np.einsum(
        "k,ki,kj->ij", mixture.weights, mixture.means, mixture.means
    )
    assert X.mean(axis=0) == pytest.approx(mean, abs=0.01)
    assert X.T @ X / len(X) == pytest.approx(second, abs=0.01)
    assert np.bincount(labels, minlength=4) / len(X) == pytest.approx(mixture.weights, abs=0.01)


def test_chunks_do_not_show(rng, monkeypatch):
    from dpmorse.densities import mixture as module

    mixture = make(rng)
    X = rng.normal(size=(100, 3))
    whole = mixture.log_density(X), mixture.gradient(X), mixture.hessian(X)
    monkeypatch.setattr(module, "_CHUNK_VALUES", 36)
    for expected, found in zip(
        whole, (mixture.log_density(X), mixture.gradient(X), mixture.hessian(X)), strict=True
    ):
        assert found == pytest.approx(expected, rel=1e-12)


def test_it_is_a_value(rng):
    parameters = random_mixture(rng, 2, 2)
    mixture = GaussianMixture(*parameters)
    parameters[1][0] = 99.0
    assert mixture.means[0, 0] != 99.0
    with pytest.raises(ValueError, match="read-only"):
        mixture.means[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        mixture.means = parameters[1]
    assert mixture == GaussianMixture(mixture.weights, mixture.means, mixture.covariances)
    assert mixture != GaussianMixture(mixture.weights, mixture.means + 1, mixture.covariances)
    assert mixture != "mixture"
    for copied in (copy.deepcopy(mixture), pickle.loads(pickle.dumps(mixture))):
        assert copied == mixture
        assert not copied.weights.flags.writeable


def test_the_largest_numbers_stay_what_they_are():
    """Covariances are made symmetric by adding halves: the sum of two large numbers is no number."""
    covariance = np.array([[1.7e308, 0.0], [0.0, 1.0]])
    mixture = GaussianMixture([1.0], [[0.0, 0.0]], [covariance])
    assert np.array_equal(mixture.covariances[0], covariance)
    assert np.isfinite(mixture.log_density([[1.0, 1.0]])).all()


def test_no_points():
    mixture = GaussianMixture([1.0], [[0.0]], [[[1.0]]])
    assert mixture.log_density(np.empty((0, 1))).shape == (0,)
    assert mixture.gradient(np.empty((0, 1))).shape == (0, 1)


eye = np.eye(2)[None]


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "message"),
    [
        ([], [[0, 0]], eye, "weights must have shape"),
        ([[1.0]], [[0, 0]], eye, "weights must have shape"),
        ([1.0], [0, 0], eye, "means must have shape"),
        ([0.5, 0.5], [[0, 0]], eye, r"means must have shape \(2, n_features\)"),
        ([1.0], [[0, 0]], np.eye(3)[None], "covariances must have shape"),
        ([1.0], [[0, np.nan]], eye, "means must be finite"),
        ([1.0], [[0, 0]], np.full((1, 2, 2), np.inf), "covariances must be finite"),
        ([2.0], [[0, 0]], eye, "sum to 1, got a smallest weight of 2 and a sum of 2"),
        ([-0.5, 1.5], [[0, 0], [0, 0]], np.tile(eye, (2, 1, 1)), "weights must be non-negative"),
        ([1.0], [[0, 0]], [[[1.0, 0.5], [0.2, 1.0]]], r"covariances\[0\] is not symmetric"),
        ([1.0], [[0, 0]], [[[1.0, 1.0], [1.0, 1.0]]], r"covariances\[0\] is not positive definite"),
        ([1.0], [[0, 0]], [[[1.0, 2.0], [2.0, 1.0]]], r"covariances\[0\] is not positive definite"),
        ([1.0], [[0, 0]], [[[0.0, 0.0], [0.0, 1.0]]], "a variance is <= 0"),
    ],
)
def test_bad_parameters(weights, means, covariances, message):
    with pytest.raises(InvalidParameterError, match=message):
        GaussianMixture(weights, means, covariances)


def test_points_of_the_wrong_width():
    mixture = GaussianMixture([1.0], [[0.0, 0.0]], eye)
    with pytest.raises(InvalidParameterError, match=r"X must have shape \(n_samples, 2\), got \(3, 4\)"):
        mixture.log_density(np.zeros((3, 4)))
