"""Algorithm 3 of Byun, Choi and Lee, as it is printed: a quadratic string between every two centres.

Kept as the reference that the search along ridgelines improves on; see ``docs/morse.md``. For each pair of
centres: the highest of 20 points on the segment, a short integration of the flow, five times the quadratic
string through the point so found, then Newton's method for grad f = 0. Two things are not the paper's: pairs
are computed in batches, and the flow is that of the metric A, so that the result does not depend on units.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from dpmorse.morse.critical.landscape import FARTHEST, Landscape
from dpmorse.typing import FloatArray

# The paper's m and tau_2: points between the ends of a string, and how often a string is drawn.
_INTERIOR_POINTS, _ROUNDS = 20, 5

# How long the flow is followed after each string; in the metric A, one unit of time is one mean-shift step.
_SHORT_TIME = 0.5

# Newton steps before a solution is given up, and the gradient that counts as zero.
_ROOT_STEPS, _TOLERANCE = 100, 1e-10

# Pairs of centres that are followed at a time, which bounds memory.
_BATCH = 4096

# Largest number of columns for which a full decomposition, of all points at once, is as fast.
_FEW_COLUMNS = 32


def critical_points_between_centres(landscape: Landscape) -> Iterator[FloatArray]:
    """Yield the critical points, of any index, that Algorithm 3 finds, one batch of pairs at a time."""
    first, second = np.triu_indices(landscape.n_components, 1)
    for start in range(0, len(first), _BATCH):
        rows = slice(start, start + _BATCH)
        a, b = landscape.centres[first[rows]], landscape.centres[second[rows]]
        points = _highest(landscape, a, b, (a + b) / 2)
        for _ in range(_ROUNDS):
            points = _highest(landscape, a, b, points)
        yield _solve(landscape, points)


def _highest(landscape: Landscape, a: FloatArray, b: FloatArray, through: FloatArray) -> FloatArray:
    """Return the highest point of each string, after a short flow.

    With u = b - a and v = through - a, the string x(s) = a + s u + (s - s^2)(4 v - 2 u) is the parabola with
    x(0) = a, x(1/2) = through and x(1) = b.
    """
    s = np.linspace(0, 1, _INTERIOR_POINTS + 2)[1:-1, None]
    u, v = (b - a)[:, None], (through - a)[:, None]
    string = a[:, None] + s * u + (s - s * s) * (4 * v - 2 * u)
    heights = landscape.heights(string.reshape(-1, a.shape[1])).reshape(len(a), -1)
    points: FloatArray = string[np.arange(len(a)), heights.argmax(axis=1)]
    return points + _SHORT_TIME * landscape.shapes(points).mean_shift()


def _solve(landscape: Landscape, points: FloatArray) -> FloatArray:
    """Return where Newton's method for grad f = 0 arrives, if it does."""
    points = np.array(points)
    solved = np.zeros(len(points), dtype=bool)
    for _ in range(_ROOT_STEPS):
        shapes = landscape.shapes(points)
        curvatures, axes = curvatures_and_axes(shapes.metrics, shapes.hessians, shapes.gradients)
        slopes = np.einsum("nde,nd->ne", axes, shapes.gradients)
        # a gradient counts as zero at no less than what rounding of the coordinates makes
        rounding = 8 * np.finfo(float).eps * np.sqrt(np.einsum("ndd,nd->n", shapes.metrics, points * points))
        solved = np.linalg.norm(slopes, axis=1) < np.maximum(_TOLERANCE, rounding)
        if solved.all():
            break
        curvatures = np.where(np.abs(curvatures) < 1e-8, 1e-8, curvatures)
        points[~solved] -= np.einsum("nde,ne->nd", axes, slopes / curvatures)[~solved]
        points = np.where(np.abs(points) < FARTHEST, points, 0.0)  # a start anew for what has run away
    return points[solved]


def curvatures_and_axes(
    metrics: FloatArray, hessians: FloatArray, gradients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve ``H v = c A v`` at each point: c ascending, and A-orthonormal columns v.

    In many columns only those directions are returned that f bends down in, and that of what is left of the
    gradient; in all others the curvature is 1 and the slope 0. Columns of zeros stand for no direction.
    """
    if metrics.shape[1] <= _FEW_COLUMNS or not len(metrics):
        return _all_directions(metrics, hessians)
    found = [_bent_directions(*point) for point in zip(metrics, hessians, gradients, strict=True)]
    most = max(len(curvatures) for curvatures, _ in found)
    curvatures, axes = np.ones((len(found), most)), np.zeros((*gradients.shape, most))
    for i, (some, directions) in enumerate(found):
        curvatures[i, : len(some)], axes[i, :, : len(some)] = some, directions
    return curvatures, axes


def _all_directions(metrics: FloatArray, hessians: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With A = L L^T, the eigenvectors u of L^-1 H L^-T give v = L^-T u."""
    inverse = np.linalg.inv(np.linalg.cholesky(metrics))
    transposed = inverse.swapaxes(1, 2)
    whitened = inverse @ hessians @ transposed
    curvatures, vectors = np.linalg.eigh((whitened + whitened.swapaxes(1, 2)) / 2)
    return curvatures, transposed @ vectors


def _bent_directions(
    metric: FloatArray, hessian: FloatArray, gradient: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Decompose ``A - H = F F^T``, the covariance of the gradients of the components at one point.

    Its rank is less than the number of components that matter there. With W = L^-1 F, the curvatures are
    those of I - W W^T: one less the squared singular values of W, and 1 in all other directions.
    """
    lower = cholesky(metric, lower=True)
    W = solve_triangular(lower, _low_rank_factor(metric, hessian), lower=True)
    basis, triangle = np.linalg.qr(W)
    squares, turn = np.linalg.eigh(triangle @ triangle.T)
    basis = basis @ turn[:, ::-1]
    slope = solve_triangular(lower, gradient, lower=True)
    rest = slope - basis @ (basis.T @ slope)
    rest -= basis @ (basis.T @ rest)  # what rounding has left
    length = np.linalg.norm(rest)
    directions = np.column_stack([basis, rest / length if length > 0 else rest])
    return np.append(1 - squares[::-1], 1.0), solve_triangular(lower, directions, lower=True, trans="T")


def _low_rank_factor(metric: FloatArray, hessian: FloatArray) -> FloatArray:
    """Return F with ``A - H = F F^T`` up to the rounding of H, relative to the diagonal of A."""
    n, scale = len(metric), np.sqrt(np.diag(metric))
    bent = (metric - hessian) / scale[:, None] / scale
    factor, order, rank, _ = dpstrf((bent + bent.T) / 2, lower=1, tol=n * np.finfo(float).eps)
    rank = max(rank, 1)  # a single component: any direction
    F = np.zeros((n, rank))
    F[order - 1] = np.tril(factor[:, :rank])
    return F * scale[:, None]
