"""Curvatures of f at points: all of them in few columns, and those that matter in many."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from dpmorse.typing import FloatArray

FEW_COLUMNS = 32
"""Largest number of columns for which a full decomposition, of all points at once, is as fast."""


def curvatures_and_axes(
    metrics: FloatArray, hessians: FloatArray, gradients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve ``H v = c A v`` at each point: c ascending, and A-orthonormal columns v.

    In many columns only those directions are returned that f bends down in, and that of what is left of the
    gradient; in all others the curvature is 1 and the slope 0. Columns of zeros stand for no direction.
    """
    if metrics.shape[1] <= FEW_COLUMNS or not len(metrics):
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
