"""f = -ln p and its derivatives, in coordinates where the whole mixture has unit covariance.

With memberships w_k(x), precisions P_k and g_k = P_k (x - mu_k):

    grad f = sum_k w_k g_k,    Hess f = A - Cov_w(g_k),    A(x) = sum_k w_k P_k.

All step lengths and tolerances of the search are measured in the metric A(x), so that results do not depend
on the units of the columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse.critical import _kernels
from dpmorse.morse.critical._path_kernels import MOST_EXTREMA, fill_extrema
from dpmorse.typing import BoolArray, FloatArray, IntArray

# Points are given, at the farthest, this many standard deviations of the whole mixture from its mean: beyond,
# squares of distances in the metric of a narrow component leave the range in which differences mean anything.
FARTHEST = 1e6

# Multiplications that are worth a thread of their own; below that, starting it costs more than it saves.
_WORK_PER_THREAD = 1 << 17

# What a Newton step takes, in evaluations of f.
_NEWTON_STEP = 10

# Precisions, in units of the whole mixture, whose squares overflow: Hessians hold such squares.
_STEEPEST = 1e154
_TOO_FAR = "mixture: the components are too far apart for floating-point numbers."

# Added to the diagonal of the correlation matrix before it is factored; see ``_pooled_axes``.
_TRACE = 1e-12

# A string moves by this part of a mean-shift step at a time, and by no more than 0.5 in the metric A: nodes
# that moved farther could overtake their neighbours before they are spread again.
_STRING_STEP, _LONGEST_STRING_STEP = 0.7, 0.5


@dataclass(frozen=True)
class Shapes:
    """f and its derivatives at n points, with the metric A = sum_k w_k P_k.

    In the metric A the Hessian has eigenvalues at most 1, because Cov_w(g_k) is never negative, and
    ``-A^-1 grad`` is the mean-shift step.
    """

    heights: FloatArray
    gradients: FloatArray
    metrics: FloatArray
    hessians: FloatArray

    def mean_shift(self) -> FloatArray:
        """Return the step to the minimum of the EM majorant, ``-A^-1 grad``."""
        return np.asarray(-np.linalg.solve(self.metrics, self.gradients[..., None])[..., 0], dtype=np.float64)


@dataclass(frozen=True)
class NewtonSteps:
    """Newton steps at n points, and the axis of lowest curvature there, in the metric A."""

    steps: FloatArray
    curvatures: FloatArray
    axes: FloatArray


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
        self.n_components, self.n_features = means.shape
        self.centres = self.to_whitened(means)
        self.whiteners = mixture.whiteners[self.kept] @ self._axes
        self.offsets = mixture.log_factors[self.kept]
        self.precisions = self.whiteners.swapaxes(1, 2) @ self.whiteners
        if not np.abs(self.precisions).max() < _STEEPEST:
            raise InvalidParameterError(_TOO_FAR)
        self.components = _kernels.packed(self.centres, self.whiteners, self.offsets, self.precisions)

    def to_whitened(self, points: FloatArray) -> FloatArray:
        """Return points of the mixture's space in whitened coordinates."""
        whitened: FloatArray = np.ascontiguousarray(np.linalg.solve(self._axes, (points - self._origin).T).T)
        return whitened

    def from_whitened(self, points: FloatArray) -> FloatArray:
        """Return whitened points in the mixture's coordinates."""
        return points @ self._axes.T + self._origin

    def heights(self, points: FloatArray) -> FloatArray:
        """Return f."""
        points, heights = np.ascontiguousarray(points), np.empty(len(points))
        self.over(partial(_kernels.fill_heights, points, self.components, heights), len(points))
        return heights

    def shapes(self, points: FloatArray) -> Shapes:
        """Return f, gradient, metric and Hessian."""
        points, (n, d) = np.ascontiguousarray(points), points.shape
        found = np.empty(n), np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))
        self.over(partial(_kernels.fill_shapes, points, self.components, *found), n)
        return Shapes(*found)

    def squared_lengths(self, points: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the square of the length of each step, in the metric A at its point."""
        points, steps = np.ascontiguousarray(points), np.ascontiguousarray(steps)
        squared = np.empty(len(points))
        work = partial(_kernels.fill_squared_lengths, points, steps, self.components, squared)
        self.over(work, len(points))
        return squared

    def newton_steps(self, points: FloatArray) -> NewtonSteps:
        """Return where Newton's method leads, downhill along all axes."""
        steps = np.array(points, order="C")
        axes = np.empty_like(steps)
        curvatures, _ = self.walk(_kernels.NEWTON, steps, axes, weight=_NEWTON_STEP)
        return NewtonSteps(steps, curvatures, axes)

    def walk(
        self, how: int, points: FloatArray, axes: FloatArray | None = None, *, weight: int
    ) -> tuple[FloatArray, BoolArray]:
        """Move points, and axes; return heights at the ends and whether walks arrived (``_kernels.walk``)."""
        heights, arrived = np.full(len(points), np.inf), np.zeros(len(points), dtype=bool)
        axes = points if axes is None else axes  # not looked at
        work = partial(_kernels.walk, how, points, axes, self.components, heights, arrived)
        self.over(work, len(points), weight=weight)
        return heights, arrived

    def extrema(self, paths: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return positions, heights and numbers of the local minima and maxima of f along polylines.

        Entries of a row alternate, and the first and the last are minima; see ``fill_extrema``.
        """
        paths = np.ascontiguousarray(paths)
        counts = np.empty(len(paths), dtype=np.int64)
        positions = np.empty((len(paths), MOST_EXTREMA))
        found = positions, np.empty_like(positions), counts
        fill = partial(fill_extrema, paths, self.components, *found)
        self.over(fill, len(paths), weight=4 * paths.shape[1])
        return found

    def over(self, work: Callable[[int, int], None], n_points: int, weight: int = 1) -> None:
        """Divide work on points among threads; ``weight`` is what a point takes, in evaluations of f."""
        smallest = max(1, 2 * _WORK_PER_THREAD // (self.precisions.size * weight))
        over_rows(work, n_points, smallest)


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
        raise InvalidParameterError(_TOO_FAR)
    axes: FloatArray = scale[:, None] * np.linalg.cholesky(correlation + _TRACE * np.eye(len(scale)))
    return axes


def relax_strings(landscape: Landscape, paths: FloatArray, n_steps: int) -> FloatArray:
    """Relax paths towards the lowest pass between their ends, which stay where they are.

    The string method (E, Ren and Vanden-Eijnden, J. Chem. Phys. 126, 2007): mean-shift every node, then
    spread the nodes evenly again, with lengths in the metric A so that the result does not depend on units.
    """
    paths = np.array(paths)
    n_paths, n_nodes, d = paths.shape
    for _ in range(n_steps):
        shapes = landscape.shapes(paths.reshape(-1, d))
        shift = shapes.mean_shift()
        length = np.sqrt(np.maximum(-np.einsum("nd,nd->n", shift, shapes.gradients), 0))
        shift *= _STRING_STEP * np.minimum(1, _LONGEST_STRING_STEP / np.maximum(length, 1e-300))[:, None]
        paths[:, 1:-1] += shift.reshape(paths.shape)[:, 1:-1]
        paths = _spread(paths, shapes.metrics.reshape(n_paths, n_nodes, d, d))
    return paths


def _spread(paths: FloatArray, metrics: FloatArray) -> FloatArray:
    """Move nodes along their polylines so that pieces have equal length."""
    pieces, between = np.diff(paths, axis=1), (metrics[:, 1:] + metrics[:, :-1]) / 2
    lengths = np.sqrt(np.einsum("pnd,pnde,pne->pn", pieces, between, pieces)) + 1e-12
    reached = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(lengths, axis=1)], axis=1)
    reached /= reached[:, -1:]
    n_nodes = paths.shape[1]
    rows = 2.0 * np.arange(len(paths))[:, None]
    wanted = (np.linspace(0, 1, n_nodes) + rows).ravel()
    position = np.interp(wanted, (reached + rows).ravel(), np.tile(np.arange(n_nodes), len(paths)))
    piece = np.minimum(position.astype(np.int64), n_nodes - 2).reshape(len(paths), n_nodes)
    fraction = (position.reshape(piece.shape) - piece)[..., None]
    owner = np.arange(len(paths))[:, None]
    spread: FloatArray = (1 - fraction) * paths[owner, piece] + fraction * paths[owner, piece + 1]
    return spread
