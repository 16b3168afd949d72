"""Compiled densities of components at points, and labelling: clip, score every component, keep the best.

Layout. Points are taken in blocks of ``BLOCK``, which stay in the first-level cache; a block is stored one
column after the other, so that the innermost loops run over points and vectorise. Columns are padded with
zeros to a multiple of four, and whiteners are applied in blocks of 4 x 4 that stay in registers.

Accuracy. Float64 throughout. A centre is subtracted before its whitener is applied, as in the plain form,
so that data far from the origin lose no digits.

All compiled code of densities is in this one file, because numba's cache notices changes per file.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpmorse._compile import compiled, compiled_fused
from dpmorse.typing import BoolArray, FloatArray

BLOCK = 256
"""Points in a block. A column of a block is 2 KB in float64, so that several fit in the first-level cache."""

Reals = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.signedinteger[Any]]


class Components(NamedTuple):
    """The components of a mixture, padded to whole groups of four columns."""

    centres: FloatArray
    whiteners: FloatArray
    log_factors: FloatArray


class Marginals(NamedTuple):
    """The components of a mixture, for records of which some values are missing."""

    centres: FloatArray
    scales: FloatArray
    correlations: FloatArray
    log_weights: FloatArray


_HALF_LOG_2_PI = 0.5 * np.log(2 * np.pi)

_LEAST_PIVOT = 1e-300
"""Smallest square in a Cholesky factor: correlations may seem singular by rounding."""


@compiled
def label_pass(
    X: Reals,
    start: int,
    stop: int,
    lower: FloatArray,
    upper: FloatArray,
    components: Components,
    labels: Labels,
) -> None:
    """Write the most probable component of rows ``start:stop`` of X, clipped to a box."""
    n_components, width = components.centres.shape
    columns, u = np.zeros((width, BLOCK)), np.empty((4, BLOCK))
    distance, lowest = np.empty(BLOCK), np.empty(BLOCK)
    nearest = np.empty(BLOCK, np.int32)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        _clip(X, begin, end, lower, upper, columns)
        # Points whose distances all overflow are nearer to no component and keep the lowest index.
        lowest[:] = np.inf
        nearest[:] = 0
        for k in range(n_components):
            _distances(columns, components, k, u, distance)
            _keep_nearer(k, distance, lowest, nearest)
        for r in range(end - begin):
            labels[begin + r] = nearest[r]


@compiled
def log_density_pass(X: FloatArray, start: int, stop: int, components: Components, logs: FloatArray) -> None:
    """Write ln(w_k N(x; mu_k, Sigma_k)) of rows ``start:stop`` of X."""
    n_components, width = components.centres.shape
    columns, u, distance = np.zeros((width, BLOCK)), np.empty((4, BLOCK)), np.empty(BLOCK)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        for j in range(X.shape[1]):
            x, column = X[:, j][begin:end], columns[j]
            for r in range(end - begin):
                column[r] = x[r]
        for k in range(n_components):
            _distances(columns, components, k, u, distance)
            for r in range(end - begin):
                logs[begin + r, k] = -0.5 * distance[r]


@compiled
def marginal_log_density_pass(
    X: FloatArray, known: BoolArray, start: int, stop: int, marginals: Marginals, logs: FloatArray
) -> None:
    """Write ln(w_k N) of the known values of rows ``start:stop``: the others are integrated out.

    The Cholesky factor of the correlations of what is known is made row by row, and solved on the way.
    """
    n_components, width = marginals.centres.shape
    places = np.empty(width, np.int64)
    root, solved = np.empty((width, width)), np.empty(width)
    for r in range(start, stop):
        n = 0
        for i in range(width):
            if known[r, i]:
                places[n] = i
                n += 1
        for k in range(n_components):
            log = marginals.log_weights[k] - n * _HALF_LOG_2_PI
            for a in range(n):
                i = places[a]
                offset = (X[r, i] - marginals.centres[k, i]) / marginals.scales[k, i]
                left = 1.0
                for b in range(a):
                    total = marginals.correlations[k, i, places[b]]
                    for c in range(b):
                        total -= root[a, c] * root[b, c]
                    root[a, b] = total / root[b, b]
                    left -= root[a, b] * root[a, b]
                    offset -= root[a, b] * solved[b]
                root[a, a] = np.sqrt(max(left, _LEAST_PIVOT))
                solved[a] = offset / root[a, a]
                log -= 0.5 * solved[a] * solved[a] + np.log(root[a, a] * marginals.scales[k, i])
            logs[r, k] = log


@compiled
def _clip(X: Reals, start: int, stop: int, lower: FloatArray, upper: FloatArray, columns: FloatArray) -> None:
    """Write rows ``start:stop`` of X, moved into the box, as columns."""
    for j in range(X.shape[1]):
        x, column, low, high = X[:, j][start:stop], columns[j], lower[j], upper[j]
        for r in range(stop - start):
            column[r] = min(max(np.float64(x[r]), low), high)


@compiled_fused
def _distances(
    columns: FloatArray, components: Components, k: int, u: FloatArray, distance: FloatArray
) -> None:
    """Write the squared distance to centre k less twice the component's ``log_factor``.

    This is -2 ln(w_k N(x; mu_k, Sigma_k)): the smallest belongs to the most probable component.
    """
    centre, whitener = components.centres[k], components.whiteners[k]
    _first_rows(columns, centre, whitener, -2 * components.log_factors[k], distance)
    for i in range(4, centre.shape[0], 4):
        u[:] = 0.0
        for j in range(0, i, 4):
            _whiten(columns, centre, whitener, i, j, u)
        _last_block(columns, centre, whitener, i, u, distance)


@compiled_fused
def _first_rows(
    columns: FloatArray, centre: FloatArray, whitener: FloatArray, constant: float, distance: FloatArray
) -> None:
    """Start the distance with the squares of rows 0..3, which need no other block."""
    c0, c1, c2, c3 = columns[0], columns[1], columns[2], columns[3]
    m0, m1, m2, m3 = centre[0], centre[1], centre[2], centre[3]
    row0, row1, row2, row3 = whitener[0], whitener[1], whitener[2], whitener[3]
    f00, f10, f11 = row0[0], row1[0], row1[1]
    f20, f21, f22 = row2[0], row2[1], row2[2]
    f30, f31, f32, f33 = row3[0], row3[1], row3[2], row3[3]
    for r in range(BLOCK):
        x0, x1, x2, x3 = c0[r] - m0, c1[r] - m1, c2[r] - m2, c3[r] - m3
        y0 = f00 * x0
        y1 = f10 * x0 + f11 * x1
        y2 = f20 * x0 + f21 * x1 + f22 * x2
        y3 = f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3
        distance[r] = constant + y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3


@compiled_fused
def _whiten(
    columns: FloatArray, centre: FloatArray, whitener: FloatArray, i: int, j: int, u: FloatArray
) -> None:
    """Add block (i, j) of the whitener, times four centred columns, to u."""
    c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
    m0, m1, m2, m3 = centre[j], centre[j + 1], centre[j + 2], centre[j + 3]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    row0, row1, row2, row3 = whitener[i], whitener[i + 1], whitener[i + 2], whitener[i + 3]
    f00, f01, f02, f03 = row0[j], row0[j + 1], row0[j + 2], row0[j + 3]
    f10, f11, f12, f13 = row1[j], row1[j + 1], row1[j + 2], row1[j + 3]
    f20, f21, f22, f23 = row2[j], row2[j + 1], row2[j + 2], row2[j + 3]
    f30, f31, f32, f33 = row3[j], row3[j + 1], row3[j + 2], row3[j + 3]
    for r in range(BLOCK):
        x0, x1, x2, x3 = c0[r] - m0, c1[r] - m1, c2[r] - m2, c3[r] - m3
        u0[r] = u0[r] + f00 * x0 + f01 * x1 + f02 * x2 + f03 * x3
        u1[r] = u1[r] + f10 * x0 + f11 * x1 + f12 * x2 + f13 * x3
        u2[r] = u2[r] + f20 * x0 + f21 * x1 + f22 * x2 + f23 * x3
        u3[r] = u3[r] + f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3


@compiled_fused
def _last_block(
    columns: FloatArray, centre: FloatArray, whitener: FloatArray, i: int, u: FloatArray, distance: FloatArray
) -> None:
    """Add the triangular block (i, i) to rows i..i+3, and their squares to the distance."""
    c0, c1, c2, c3 = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
    m0, m1, m2, m3 = centre[i], centre[i + 1], centre[i + 2], centre[i + 3]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    row0, row1, row2, row3 = whitener[i], whitener[i + 1], whitener[i + 2], whitener[i + 3]
    f00, f10, f11 = row0[i], row1[i], row1[i + 1]
    f20, f21, f22 = row2[i], row2[i + 1], row2[i + 2]
    f30, f31, f32, f33 = row3[i], row3[i + 1], row3[i + 2], row3[i + 3]
    for r in range(BLOCK):
        x0, x1, x2, x3 = c0[r] - m0, c1[r] - m1, c2[r] - m2, c3[r] - m3
        y0 = u0[r] + f00 * x0
        y1 = u1[r] + f10 * x0 + f11 * x1
        y2 = u2[r] + f20 * x0 + f21 * x1 + f22 * x2
        y3 = u3[r] + f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3
        distance[r] = distance[r] + y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3


@compiled
def _keep_nearer(k: int, distance: FloatArray, lowest: FloatArray, nearest: Labels) -> None:
    """Let component k win where it is strictly nearer than those before it; NaN and infinity never are."""
    component = np.int32(k)
    for r in range(BLOCK):
        nearer = distance[r] < lowest[r]
        nearest[r] = component if nearer else nearest[r]
        lowest[r] = distance[r] if nearer else lowest[r]
