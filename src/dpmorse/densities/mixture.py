"""A mixture of Gaussians as a value: immutable, checked once, exact in far tails."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from dpmorse._threads import over_rows
from dpmorse.densities._checks import checked_parameters, factored, freeze
from dpmorse.densities._kernels import (
    Components,
    Marginals,
    label_pass,
    log_density_pass,
    marginal_log_density_pass,
)
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import BoolArray, FloatArray, IntArray, LabelArray, label_dtype

_CHUNK_VALUES = 1 << 20
"""Values in an intermediate array of shape (points, components, features): 8 MB for any number of points."""

_SMALLEST_PIECE = 4096
"""Fewest points that a thread is started for. For fewer, starting it costs more than it saves."""


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    r"""The density ``p = sum_k w_k N(mu_k, Sigma_k)`` and the energy ``f = -ln p``.

    Parameters
    ----------
    weights : array-like of shape (n_components,)
        Non-negative, summing to 1. A component of weight 0 is kept and takes part in nothing.
    means : array-like of shape (n_components, n_features)
        Centres.
    covariances : array-like of shape (n_components, n_features, n_features)
        Symmetric and positive definite.

    Attributes
    ----------
    whiteners : ndarray of shape (n_components, n_features, n_features)
        Lower triangles L_k with ``L_k^T L_k = Sigma_k^-1``.
    log_factors : ndarray of shape (n_components,)
        ln of each weighted density at its own centre; -inf for weight 0.

    Guarantees
    ----------
    * Values, gradients and Hessians are computed from log densities: finite at any distance where
      the squared Mahalanobis distance is a finite float.
    * Covariances are factored after scaling each column to unit variance, so columns in very
      different units lose no accuracy.

    Edge cases
    ----------
    ======================================  ====================================================
    singular or indefinite covariance       ``InvalidParameterError`` naming the component
    weights that do not sum to 1 (1e-6)     ``InvalidParameterError``; smaller errors are rescaled
    all mass in one component               the other weights may be 0
    ======================================  ====================================================

    Examples
    --------
    >>> from dpmorse.densities import GaussianMixture
    >>> mixture = GaussianMixture([0.5, 0.5], [[-1.0], [1.0]], [[[0.04]], [[0.04]]])
    >>> mixture.responsibilities([[0.9]]).round(3).tolist()
    [[0.0, 1.0]]
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    whiteners: FloatArray = field(init=False, repr=False)
    log_factors: FloatArray = field(init=False, repr=False)
    _cholesky: FloatArray = field(init=False, repr=False)

    def __repr__(self) -> str:
        return f"GaussianMixture({self.n_components} components, {self.n_features} columns)"

    def __post_init__(self) -> None:
        """Check, copy, factor and freeze the parameters."""
        weights, means, covariances = checked_parameters(self.weights, self.means, self.covariances)
        # Sigma = S C S with S the standard deviations. The correlations C are factored instead of Sigma,
        # because their condition does not depend on the units of the columns.
        scales = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        with np.errstate(
            over="ignore"
        ):  # an entry that overflows is not a correlation; `factored` refuses it
            correlations = covariances / scales[:, :, None] / scales[:, None, :]
        correlation_factors = factored(correlations)
        identity = np.eye(means.shape[1])
        inverse = [solve_triangular(factor, identity, lower=True) for factor in correlation_factors]
        # With C = F F^T: Sigma = (S F)(S F)^T, and the whitener is (S F)^-1 = F^-1 S^-1.
        cholesky = scales[:, :, None] * correlation_factors
        # ln det(Sigma) / 2 is the sum of ln of the factor's diagonal: the determinant itself could underflow.
        half_log_det = np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        log_factors = log_weights - half_log_det - 0.5 * means.shape[1] * np.log(2 * np.pi)
        freeze(
            self,
            weights=weights,
            means=means,
            covariances=covariances,
            _cholesky=cholesky,
            whiteners=np.array(inverse) / scales[:, None, :],
            log_factors=log_factors,
        )

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.weights.size)

    @property
    def n_features(self) -> int:
        """Dimension of the space."""
        return int(self.means.shape[1])

    @property
    def landscape(self) -> "GaussianMixture":
        """Return the density whose valleys tell clusters apart: this one."""
        return self

    def numbers_of(self, X: FloatArray) -> FloatArray:
        """Return the entries of records that are numbers: all."""
        return X

    def __eq__(self, other: object) -> bool:
        """Compare parameters bit by bit."""
        return isinstance(other, GaussianMixture) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("weights", "means", "covariances")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle by calling the constructor, which checks the arrays and makes them read-only."""
        return type(self), (self.weights, self.means, self.covariances)

    def component_log_densities(self, X: FloatArray) -> FloatArray:
        """Return ln(w_k N(x; mu_k, Sigma_k)), shape (n_samples, n_components)."""
        X = self._points(X)
        logs, components = np.empty((len(X), self.n_components)), self._padded()

        def fill(start: int, stop: int) -> None:
            log_density_pass(X, start, stop, components, logs)

        over_rows(fill, len(X), smallest=_SMALLEST_PIECE)
        return logs

    def marginal_log_densities(self, X: FloatArray, known: BoolArray) -> FloatArray:
        """Return ln(w_k p_k) of the known values of each point, shape (n_samples, n_components).

        ``known`` says which values these are; the others are integrated out. Of a point without any, these
        are the logarithms of the weights.
        """
        X = self._points(X)
        scales = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))
        correlations = self.covariances / (scales[:, :, None] * scales[:, None, :])
        with np.errstate(divide="ignore"):
            marginals = Marginals(self.means, scales, correlations, np.log(self.weights))
        logs = np.empty((len(X), self.n_components))

        def fill(start: int, stop: int) -> None:
            marginal_log_density_pass(X, known, start, stop, marginals, logs)

        over_rows(fill, len(X), smallest=_SMALLEST_PIECE)
        return logs

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return ln p(x), shape (n_samples,)."""
        X = self._points(X)
        density = np.empty(len(X))
        for rows in self._chunks(len(X), self.n_components):
            density[rows] = logsumexp(self.component_log_densities(X[rows]), axis=1)
        return density

    def responsibilities(self, X: FloatArray) -> FloatArray:
        """Return the probability of each component given the point, shape (n_samples, n_components)."""
        return normalised(self.component_log_densities(X))

    def labels(
        self, X: FloatArray, lower: FloatArray | None = None, upper: FloatArray | None = None
    ) -> LabelArray:
        """Return the most probable component of each point, in the smallest signed type that holds it.

        Ties go to the lowest index; so do points so far away that every squared distance overflows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points; float32 and float64 arrays in any memory layout are read without a copy.
        lower, upper : ndarray of shape (n_features,) or None
            A box that points are first moved into.
        """
        X = self._points(X, keep_single=True)
        labels = np.empty(len(X), dtype=label_dtype(self.n_components))
        everywhere = np.full(self.n_features, np.inf)
        low = -everywhere if lower is None else np.asarray(lower, dtype=np.float64)
        high = everywhere if upper is None else np.asarray(upper, dtype=np.float64)
        components = self._padded()

        def fill(start: int, stop: int) -> None:
            label_pass(X, start, stop, low, high, components, labels)

        over_rows(fill, len(X), smallest=_SMALLEST_PIECE)
        return labels

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradient of f = -ln p, shape (n_samples, n_features)."""
        X = self._points(X)
        return np.concatenate(
            [np.einsum("nk,nkd->nd", *self._pulls(X[rows])) for rows in self._chunks(len(X))]
        )

    def hessian(self, X: FloatArray) -> FloatArray:
        """Return the Hessian of f = -ln p, shape (n_samples, n_features, n_features).

        With responsibilities w_k, precisions P_k and pulls g_k = P_k (x - mu_k):
        ``Hess f = sum_k w_k (P_k - (g_k - g)(g_k - g)^T)``, ``g = sum_k w_k g_k`` the gradient. The
        centred form is the covariance of the pulls, free of cancellation far from the centres.
        """
        X = self._points(X)
        precisions = np.einsum("kji,kjl->kil", self.whiteners, self.whiteners)
        hessians: list[FloatArray] = []
        for rows in self._chunks(len(X)):
            w, pulls = self._pulls(X[rows])
            centred = pulls - np.einsum("nk,nkd->nd", w, pulls)[:, None, :]
            spread = np.einsum("nk,nki,nkj->nij", w, centred, centred, optimize=True)
            hessians.append(np.einsum("nk,kij->nij", w, precisions) - spread)
        return np.concatenate(hessians)

    def sample(
        self, n_samples: int, rng: np.random.Generator | int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Draw points and the component each came from."""
        rng = np.random.default_rng(rng)
        labels = rng.choice(self.n_components, size=n_samples, p=self.weights)
        normal = rng.standard_normal((n_samples, self.n_features))
        points = self.means[labels]
        for k, rows in enumerate(rows_of_each(labels, self.n_components)):
            points[rows] += normal[rows] @ self._cholesky[k].T
        return points, labels

    def affine(self, scale: FloatArray, shift: FloatArray) -> "GaussianMixture":
        """Return the density of ``scale x + shift``: a change of units.

        Parameters
        ----------
        scale : array-like of shape (n_features,) or (n_features, n_features)
            One factor per column, or an invertible matrix.
        shift : array-like of shape (n_features,)
            Added after scaling.
        """
        scale = np.asarray(scale, dtype=np.float64)
        if scale.ndim == 1:
            covariances = self.covariances * (scale[:, None] * scale)
            return GaussianMixture(self.weights, self.means * scale + shift, covariances)
        return GaussianMixture(self.weights, self.means @ scale.T + shift, scale @ self.covariances @ scale.T)

    def _pulls(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return responsibilities (n, K) and pulls P_k (x - mu_k) (n, K, D)."""
        offsets = X[:, None, :] - self.means
        u = np.einsum("kij,nkj->nki", self.whiteners, offsets)
        logs = self.log_factors - 0.5 * np.einsum("nki,nki->nk", u, u)
        return normalised(logs), np.einsum("kij,nki->nkj", self.whiteners, u)

    def _padded(self) -> Components:
        """Pad columns with zeros, which change no distance, to a multiple of four, for the compiled code."""
        missing = -self.n_features % 4
        return Components(
            np.pad(self.means, ((0, 0), (0, missing))),
            np.pad(self.whiteners, ((0, 0), (0, missing), (0, missing))),
            self.log_factors,
        )

    def _points(self, X: FloatArray, *, keep_single: bool = False) -> FloatArray:
        points = np.asarray(X)
        if not (keep_single and points.dtype == np.float32):
            points = points.astype(np.float64, copy=False)
        if points.ndim != 2 or points.shape[1] != self.n_features:
            raise InvalidParameterError(
                f"X must have shape (n_samples, {self.n_features}), got {points.shape}."
            )
        return points

    def _chunks(self, n: int, values: int | None = None) -> Iterator[slice]:
        """Split n points so that arrays of their values stay small: one for each component and column."""
        step = max(1, _CHUNK_VALUES // (values or self.n_components * self.n_features))
        return (slice(start, start + step) for start in range(0, max(n, 1), step))


def normalised(logs: FloatArray) -> FloatArray:
    """Turn log densities into responsibilities that sum to 1, in place and at any distance."""
    # The largest exponent becomes 0, so that the sum is at least 1 and never underflows.
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return logs


def rows_of_each(labels: IntArray, n_labels: int) -> list[IntArray]:
    """Return the rows with each label, in ascending order."""
    small = labels.astype(label_dtype(n_labels))  # which NumPy sorts in linear time
    ends = np.cumsum(np.bincount(labels, minlength=n_labels))
    return np.split(np.argsort(small, kind="stable"), ends[:-1])


def carried(points: FloatArray, before: GaussianMixture, after: GaussianMixture) -> FloatArray:
    """Return points moved with their most probable component.

    A point keeps its coordinates in units of the component's standard deviations. Points of components that
    are the same in both mixtures stay as they are.
    """
    moved = points.copy()
    labels = np.argmax(before.responsibilities(points), axis=1) if len(points) else np.empty(0, np.intp)
    changed = np.any(before.means != after.means, axis=1)
    changed |= np.any(before.covariances != after.covariances, axis=(1, 2))
    for k in np.flatnonzero(changed):
        mine = labels == k
        coordinates = (points[mine] - before.means[k]) @ before.whiteners[k].T
        moved[mine] = after.means[k] + coordinates @ np.linalg.cholesky(after.covariances[k]).T
    return moved
