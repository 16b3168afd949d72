"""f = -ln p in coordinates where the whole mixture has unit covariance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse.critical import _kernels
from dpmorse.typing import FloatArray, IntArray

_WORK_PER_THREAD = 1 << 19  # multiplications; below that a thread costs more than it saves
_TRACE = 1e-12


@dataclass(frozen=True)
class Shapes:
    """f and its derivatives at n points, with the metric A = sum_k w_k P_k.

    In the metric A the Hessian has eigenvalues at most 1 and ``-A^-1 grad`` is the mean-shift step; all
    step lengths and tolerances of the Morse step are measured in it, hence affinely invariant.
    """

    heights: FloatArray
    gradients: FloatArray
    metrics: FloatArray
    hessians: FloatArray

    def mean_shift(self) -> FloatArray:
        """Return the step to the minimum of the EM majorant, ``-A^-1 grad``."""
        return np.asarray(-np.linalg.solve(self.metrics, self.gradients[..., None])[..., 0], dtype=np.float64)


class Landscape:
    """The energy f of a mixture, on whitened points.

    Components of weight 0 are left out; ``kept`` are the indices of the others. Heights are those of the
    mixture in its own units: whitening changes coordinates, never f.
    """

    def __init__(self, mixture: GaussianMixture) -> None:
        self.kept: IntArray = np.flatnonzero(mixture.weights > 0)
        weights, means = mixture.weights[self.kept], mixture.means[self.kept]
        self._origin = weights @ means
        self._axes = _pooled_axes(weights, means - self._origin, mixture.covariances[self.kept])
        self.centres = self.to_whitened(means)
        self.whiteners = mixture.whiteners[self.kept] @ self._axes
        self.offsets = mixture.log_factors[self.kept]
        self.precisions = np.einsum("kji,kjl->kil", self.whiteners, self.whiteners)
        rows, columns = np.tril_indices(self.n_features)
        self._components = _kernels.Components(
            np.ascontiguousarray(self.centres.T),
            np.ascontiguousarray(self.whiteners[:, rows, columns].T),
            self.offsets,
            self.whiteners,
            self.precisions,
        )

    @property
    def n_components(self) -> int:
        """Number of components of positive weight."""
        return int(self.centres.shape[0])

    @property
    def n_features(self) -> int:
        """Dimension of the space."""
        return int(self.centres.shape[1])

    def to_whitened(self, points: FloatArray) -> FloatArray:
        """Return points of the mixture's space in whitened coordinates."""
        return np.asarray(np.linalg.solve(self._axes, (points - self._origin).T).T, dtype=np.float64)

    def from_whitened(self, points: FloatArray) -> FloatArray:
        """Return whitened points in the mixture's coordinates."""
        return points @ self._axes.T + self._origin

    def heights(self, points: FloatArray) -> FloatArray:
        """Return f."""
        points, heights = np.ascontiguousarray(points), np.empty(len(points))

        def fill(start: int, stop: int) -> None:
            _kernels.fill_heights(points, start, stop, self._components, heights)

        self._over(fill, len(points))
        return heights

    def shapes(self, points: FloatArray) -> Shapes:
        """Return f, gradient, metric and Hessian."""
        points, (n, d) = np.ascontiguousarray(points), points.shape
        found = Shapes(np.empty(n), np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d)))

        def fill(start: int, stop: int) -> None:
            _kernels.fill_shapes(
                points,
                start,
                stop,
                self._components,
                found.heights,
                found.gradients,
                found.metrics,
                found.hessians,
            )

        self._over(fill, n)
        return found

    def extrema(self, paths: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return positions, heights and numbers of the local minima and maxima of f along polylines.

        Entries of a row alternate, and the first and the last are minima; see ``fill_extrema``.
        """
        paths = np.ascontiguousarray(paths)
        counts = np.empty(len(paths), dtype=np.int64)
        positions = np.empty((len(paths), _kernels.MOST_EXTREMA))
        heights = np.empty_like(positions)

        def fill(start: int, stop: int) -> None:
            _kernels.fill_extrema(paths, start, stop, self._components, positions, heights, counts)

        self._over(fill, len(paths), weight=4 * paths.shape[1])
        return positions, heights, counts

    def _over(self, fill: Callable[[int, int], None], n_points: int, weight: int = 1) -> None:
        smallest = max(1, _WORK_PER_THREAD // (self._components.factors.size * weight))
        over_rows(fill, n_points, smallest)


def _pooled_axes(weights: FloatArray, centred: FloatArray, covariances: FloatArray) -> FloatArray:
    """Return a Cholesky factor of the covariance of the whole mixture, columns scaled before factoring.

    It only conditions the arithmetic, so a trace of the identity may be added where components are so
    small against their distances that the covariance is singular to rounding.
    """
    within = np.einsum("k,kij->ij", weights, covariances)
    with np.errstate(over="ignore", invalid="ignore"):
        pooled = within + np.einsum("k,ki,kj->ij", weights, centred, centred)
        scale = np.sqrt(np.diagonal(pooled))
        correlation = pooled / scale / scale[:, None]
    if not np.all(np.isfinite(correlation)):
        raise InvalidParameterError("mixture: the components are too far apart for floating-point numbers.")
    axes: FloatArray = scale[:, None] * np.linalg.cholesky(correlation + _TRACE * np.eye(len(scale)))
    return axes
