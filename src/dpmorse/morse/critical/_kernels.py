"""Compiled evaluation of f = -ln p at points, and compiled walks down and up from them.

Layout. Whiteners are stored four rows at a time, one column of the four after the other, so that four rows
are multiplied at once. Squares of rows only add up: a component is left as soon as the rows so far prove that
its share of the density is below ``exp(-_NEGLIGIBLE)``. Far from most components that is after a few rows,
and it is exact to rounding.

Compiled functions call those of their own file only, because numba's cache notices changes per file.
"""

import math
from typing import NamedTuple

import numpy as np

from dpmorse._compile import compiled, compiled_reordered
from dpmorse.typing import BoolArray, FloatArray, IntArray

# A component whose density is e^-40 (4e-18) of the whole changes no double: it takes no part.
_NEGLIGIBLE = 40.0

# Rounding of a double, and the most steps to an eigenvalue, of which few are ever needed.
_EPSILON, _MOST_TURNS = 2.0**-52, 60

# -- descents: lengths are in the metric A, in which one standard deviation of a lone component is 1 --

# Mean-shift steps before Newton's method: they are cheap, need no proof, and bring most points near a mode.
_MEAN_SHIFTS = 6

# Longest descent, in steps: one that has not arrived by then is given up, and its end is not certified.
_MOST_STEPS_DOWN = 400

# Newton steps are no longer than the first, because f is close to a parabola only so far; a step that is
# refused halves the length that is tried next, down to the second.
_LONGEST_DOWN, _SHORTEST_DOWN = 0.5, 1e-2

# A gradient shorter than this counts as zero, unless rounding alone makes more (``_rounding``).
_ZERO_DOWN = 1e-11

# Below this gradient Newton's method is tried although f is not convex: mean shift hardly moves there.
_NEARLY_FLAT = 0.05

# Curvatures count as at least this much when a step is computed, so that flat axes do not decide its length.
_FLATTEST_DOWN = 1e-4

# A step off a saddle, along its softest axis.
_PUSH = 1e-3

# Mean-shift steps are lengthened by this; below 2 the majorant still proves that f does not rise.
_OVER_RELAXATION = 1.8

# Steps shorter than this need no proof.
_TOO_SHORT_TO_MATTER = 1e-4

# Where on a step f is looked at if no majorant covers it: 24 even places, and two near the start, because
# the step may start out uphill.
_CHECKS = np.r_[0.01, 0.02, np.arange(1, 25) / 24]

# -- climbs --

# Longest climb, in steps: one that has not arrived by then is given up.
_MOST_STEPS_UP = 60

# Steps are at most this long. The length is halved when the gradient grows, but never below the smallest:
# climbs may have to cross a region where the gradient grows to reach the saddle.
_LONGEST_UP, _SHORTEST_UP = 0.5, 0.02

# As in descents.
_ZERO_UP, _FLATTEST_UP = 1e-10, 1e-3

# Where Newton's method is asked for one step.
_FLATTEST = 1e-3


class PackedComponents(NamedTuple):
    """The components of a mixture, laid out for these kernels.

    ``centres`` (K, D); ``factors`` (K, B, 4 B, 4), B being D / 4 rounded up: whiteners in blocks of four
    rows, padded with zeros; ``offsets`` (K: ln of each weighted density at its centre); ``precisions``
    (K, D D).
    """

    centres: FloatArray
    factors: FloatArray
    offsets: FloatArray
    precisions: FloatArray


def packed(
    centres: FloatArray, whiteners: FloatArray, offsets: FloatArray, precisions: FloatArray
) -> PackedComponents:
    """Lay components out for these kernels."""
    n, d = centres.shape
    padded = np.pad(whiteners, ((0, 0), (0, -d % 4), (0, -d % 4)))
    factors = padded.reshape(n, -1, 4, padded.shape[2]).swapaxes(2, 3)
    return PackedComponents(centres, np.ascontiguousarray(factors), offsets, precisions.reshape(n, -1))


class _Room(NamedTuple):
    """Where one thread works; what each array holds is said where it is written."""

    away: FloatArray
    white: FloatArray
    logs: FloatArray
    nearest: IntArray
    active: IntArray
    shares: FloatArray
    pulls: FloatArray
    gradient: FloatArray
    metric: FloatArray
    curvatures: FloatArray
    axes: FloatArray
    slopes: FloatArray
    step: FloatArray
    trial: FloatArray


@compiled
def _room(components: PackedComponents) -> _Room:
    (n, d), n_blocks = components.centres.shape, components.factors.shape[1]
    n_axes = min(d, n + 1)
    return _Room(
        np.zeros(4 * n_blocks),
        np.empty((n, n_blocks, 4)),
        np.empty(n),
        np.zeros(1, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty((n, 4 * n_blocks)),
        np.empty(d),
        np.empty((d, d)),
        np.empty(n_axes),
        np.empty((n_axes, d)),
        np.empty(n_axes),
        np.empty(d),
        np.empty(d),
    )


# -- f and its derivatives at a point -----------------------------------------------------------------


@compiled
def fill_heights(
    points: FloatArray, components: PackedComponents, heights: FloatArray, start: int, stop: int
) -> None:
    """Write f at points ``start:stop``."""
    room = _room(components)
    for n in range(start, stop):
        heights[n], _ = _weigh(points[n], components, room)


@compiled
def fill_shapes(
    points: FloatArray,
    components: PackedComponents,
    heights: FloatArray,
    gradients: FloatArray,
    metrics: FloatArray,
    hessians: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write f, its gradient, the metric A = sum w_k P_k and the Hessian A - Cov_w(g_k)."""
    room = _room(components)
    for n in range(start, stop):
        heights[n], n_active = _weigh(points[n], components, room)
        _pull(components, room, n_active)
        _add_up_metric(components, room, n_active, metrics[n])
        _add_up_covariance(room, n_active, hessians[n])
        for i in range(points.shape[1]):
            gradients[n, i] = room.gradient[i]
            for j in range(points.shape[1]):
                hessians[n, i, j] = metrics[n, i, j] - hessians[n, i, j]


@compiled
def fill_squared_lengths(
    points: FloatArray,
    steps: FloatArray,
    components: PackedComponents,
    squared: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write |step|^2 in the metric A at each point."""
    room = _room(components)
    for n in range(start, stop):
        _, n_active = _weigh(points[n], components, room)
        _copy(steps[n], room.away)
        squared[n] = 0.0
        for a in range(n_active):
            log = _log_term(components.factors, room.active[a], 0.0, -np.inf, room.away, room.white)
            squared[n] -= 2.0 * room.shares[a] * log  # w_k |L_k step|^2


@compiled
def _copy(source: FloatArray, target: FloatArray) -> None:
    """Copy numbers: numba takes seconds to compile an assignment of arrays, with all that may be wrong."""
    for j in range(source.size):
        target[j] = source[j]


@compiled
def _weigh(point: FloatArray, components: PackedComponents, room: _Room) -> tuple[float, int]:
    """Write which components matter at a point, with their shares w_k; return f and how many they are.

    The component that was nearest at the point before is looked at first here: most others are left early.
    """
    centres, factors, offsets = components.centres, components.factors, components.offsets
    away, white, logs = room.away, room.white, room.logs
    top, first, nearest = -np.inf, room.nearest[0], 0
    for i in range(offsets.size):
        k = first if i == 0 else i - 1 if i <= first else i
        for j in range(point.size):
            away[j] = point[j] - centres[k, j]
        logs[k] = _log_term(factors, k, offsets[k], top - _NEGLIGIBLE, away, white)
        if logs[k] > top:
            top, nearest = logs[k], k
    room.nearest[0] = nearest
    return _share(top, logs, room.active, room.shares)


@compiled
def _log_term(
    factors: FloatArray, k: int, offset: float, least: float, away: FloatArray, white: FloatArray
) -> float:
    """Write u = L_k away and return ``offset - |u|^2 / 2``, or any number below ``least`` if it is so low."""
    squared, log = 0.0, offset
    for block in range(factors.shape[1]):
        u0, u1, u2, u3 = 0.0, 0.0, 0.0, 0.0
        for j in range(4 * block + 4):
            x = away[j]
            u0 += factors[k, block, j, 0] * x
            u1 += factors[k, block, j, 1] * x
            u2 += factors[k, block, j, 2] * x
            u3 += factors[k, block, j, 3] * x
        white[k, block, 0], white[k, block, 1], white[k, block, 2], white[k, block, 3] = u0, u1, u2, u3
        squared += u0 * u0 + u1 * u1 + u2 * u2 + u3 * u3
        log = offset - 0.5 * squared
        if log < least:
            break
    return log


@compiled
def _share(top: float, logs: FloatArray, active: IntArray, shares: FloatArray) -> tuple[float, int]:
    """Write the components that matter and their shares, w_k = exp(log_k) / sum; return f and their number.

    The largest term is taken out of the sum so that no exponential overflows.
    """
    total, n_active = 0.0, 0
    for k in range(logs.size):
        if logs[k] - top > -_NEGLIGIBLE:
            active[n_active], shares[n_active] = k, np.exp(logs[k] - top)
            total += shares[n_active]
            n_active += 1
    for a in range(n_active):
        shares[a] /= total
    return -(top + np.log(total)), n_active


@compiled
def _pull(components: PackedComponents, room: _Room, n_active: int) -> None:
    """Write pulls g_k = P_k (x - mu_k) = L_k^T u_k of the components that matter, and the gradient."""
    factors, white, active = components.factors, room.white, room.active
    shares, pulls, gradient = room.shares, room.pulls, room.gradient
    for j in range(gradient.size):
        gradient[j] = 0.0
    for a in range(n_active):
        k = active[a]
        for j in range(pulls.shape[1]):
            pulls[a, j] = 0.0
        for block in range(factors.shape[1]):
            u0, u1, u2, u3 = white[k, block, 0], white[k, block, 1], white[k, block, 2], white[k, block, 3]
            for j in range(4 * block + 4):
                pulls[a, j] += (
                    factors[k, block, j, 0] * u0
                    + factors[k, block, j, 1] * u1
                    + factors[k, block, j, 2] * u2
                    + factors[k, block, j, 3] * u3
                )
        for j in range(gradient.size):
            gradient[j] += shares[a] * pulls[a, j]


@compiled
def _add_up_metric(components: PackedComponents, room: _Room, n_active: int, metric: FloatArray) -> None:
    """Write A = sum w_k P_k."""
    precisions, active, shares, flat = components.precisions, room.active, room.shares, metric.reshape(-1)
    flat[:] = 0.0
    for a in range(n_active):
        k, share = active[a], shares[a]
        for i in range(flat.size):
            flat[i] += share * precisions[k, i]


@compiled
def _add_up_covariance(room: _Room, n_active: int, covariance: FloatArray) -> None:
    """Write Cov_w(g) = sum w_k (g_k - g)(g_k - g)^T, with g = sum w_k g_k.

    It is summed in centred form: sum w_k g_k g_k^T - g g^T would subtract two large numbers far from the
    centres, where the g_k are large and nearly equal.
    """
    shares, pulls, gradient, centred = room.shares, room.pulls, room.gradient, room.trial
    covariance[:] = 0.0
    for a in range(n_active):
        for i in range(gradient.size):
            centred[i] = pulls[a, i] - gradient[i]
        for i in range(gradient.size):
            left = shares[a] * centred[i]
            for j in range(gradient.size):
                covariance[i, j] += left * centred[j]


# -- how f bends at a point ---------------------------------------------------------------------------


@compiled
def _frame(point: FloatArray, components: PackedComponents, room: _Room) -> tuple[float, int, float]:
    r"""Write the axes along which f bends, with curvatures and slopes.

    Returns f, the number of axes, and the length of gradient that rounding alone makes.

    These are the vectors v of ``H v = c A v``, A-orthonormal, c ascending. With A = U^T U, W = U^-T F and
    ``Cov_w(g) = F F^T``, F having a column for each component that matters, the curvatures are those of
    I - W W^T. Where fewer components matter than there are columns, only the axes in the span of W are
    written, and that of what is left of the gradient; in all others the curvature is 1 and the slope 0.
    """
    height, n_active = _weigh(point, components, room)
    _add_up_metric(components, room, n_active, room.metric)
    rounding = _rounding(point, room.metric)
    if n_active == 1:
        return height, _write_lone_axis(point, components, room), rounding
    _pull(components, room, n_active)
    return height, _write_axes(_upper_factor(room.metric), room, n_active), rounding


@compiled
def _rounding(point: FloatArray, metric: FloatArray) -> float:
    """Return the length of gradient that rounding of the coordinates alone makes.

    A relative error eps of x changes the gradient by about |A eps x|, of length sqrt(x^T diag(A) x) eps in
    the metric A^-1.
    """
    squared = 0.0
    for j in range(point.size):
        squared += metric[j, j] * point[j] * point[j]
    return 8.0 * _EPSILON * math.sqrt(squared)


@compiled
def _write_lone_axis(point: FloatArray, components: PackedComponents, room: _Room) -> int:
    """Write the one axis that has a slope where a single component matters: A = P_k, and f is round there."""
    k = room.active[0]
    length = _length(room.white[k].reshape(-1))
    room.curvatures[0], room.slopes[0] = 1.0, length
    for j in range(point.size):
        away = point[j] - components.centres[k, j]
        room.axes[0, j] = away / length if length > 0.0 else 0.0
    return 1


@compiled
def _write_axes(upper: FloatArray, room: _Room, n_active: int) -> int:
    """Write the axes that components bend, and that of what they leave of the gradient; return how many."""
    slope = room.gradient.copy()
    _forward(upper, slope)
    if n_active < slope.size:
        squares, directions = _bent_directions(_whitened_pulls(upper, room, n_active))
    else:
        squares, directions = _diagonalised(_whitened_covariance(upper, room, n_active))
    n = squares.size
    for a in range(n):
        room.curvatures[a], room.slopes[a] = 1.0 - squares[a], _dot(directions[a], slope)
        _copy(directions[a], room.axes[a])
    if n < slope.size:
        room.curvatures[n], room.slopes[n] = 1.0, _make_orthonormal(directions, slope)
        _copy(slope, room.axes[n])
        n += 1
    for a in range(n):
        _backward(upper, room.axes[a])
    return n


@compiled
def _whitened_covariance(upper: FloatArray, room: _Room, n_active: int) -> FloatArray:
    """Return W W^T = U^-T Cov_w(g) U^-1."""
    covariance = np.empty((len(upper), len(upper)))
    _add_up_covariance(room, n_active, covariance)
    for _ in range(2):
        for i in range(len(upper)):
            _forward(upper, covariance[i])
        covariance = covariance.T.copy()
    return covariance


@compiled
def _bent_directions(W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of W W^T that are not 0, and its eigenvectors as rows; so is W given."""
    basis = W.copy()
    for a in range(len(basis)):  # rows that depend on those before become 0
        _make_orthonormal(basis[:a], basis[a])
    across = _products(basis, W)
    squares, turn = _diagonalised(_products(across, across))
    return squares, _products(turn, basis.T.copy())


@compiled
def _whitened_pulls(upper: FloatArray, room: _Room, n_active: int) -> FloatArray:
    """Return the rows of W^T: U^-T sqrt(w_k) (g_k - g) for the components that matter."""
    pulls, gradient = room.pulls, room.gradient
    whitened = np.empty((n_active, gradient.size))
    for a in range(n_active):
        root = math.sqrt(room.shares[a])
        for j in range(gradient.size):
            whitened[a, j] = root * (pulls[a, j] - gradient[j])
        _forward(upper, whitened[a])
    return whitened


@compiled
def _make_orthonormal(directions: FloatArray, vector: FloatArray) -> float:
    """Take the parts along orthonormal directions out of a vector; return its length, and make it 1.

    What is left by rounding alone becomes 0. Parts are taken out twice, the second time what rounding left.
    """
    before = _length(vector)
    for _ in range(2):
        for a in range(len(directions)):
            along = _dot(directions[a], vector)
            for j in range(vector.size):
                vector[j] -= along * directions[a, j]
    length = _length(vector)
    if length <= vector.size * _EPSILON * before:
        length = 0.0
    for j in range(vector.size):
        vector[j] *= 1.0 / length if length > 0.0 else 0.0
    return length


@compiled
def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return all products of a row of one matrix and a row of the other."""
    products = np.empty((len(left), len(right)))
    for i in range(len(left)):
        for j in range(len(right)):
            products[i, j] = _dot(left[i], right[j])
    return products


@compiled
def _diagonalised(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of a small symmetric matrix, falling, and its eigenvectors as rows.

    Householder's reflections make it tridiagonal, Francis's implicit shifts (QL) diagonal. A third of all
    time is spent here, on matrices of some ten rows, for which LAPACK takes twice as long.
    """
    n = len(matrix)
    values, beside, vectors = np.empty(n), np.zeros(n), np.zeros((n, n))
    for i in range(n):
        vectors[i, i] = 1.0
    _tridiagonalise(matrix, values, beside, vectors)
    for row in range(n):
        for _ in range(_MOST_TURNS):
            last = row
            while last < n - 1 and abs(beside[last]) > _EPSILON * (abs(values[last]) + abs(values[last + 1])):
                last += 1
            if last == row:
                break
            _turn(values, beside, vectors, row, last)
    _sort(values, vectors)
    return values, vectors


@compiled
def _sort(values: FloatArray, vectors: FloatArray) -> None:
    """Order values so that they fall, and vectors with them."""
    for row in range(values.size):  # few: the largest of the rest comes next
        largest = row
        for i in range(row + 1, values.size):
            largest = i if values[i] > values[largest] else largest
        values[row], values[largest] = values[largest], values[row]
        for j in range(vectors.shape[1]):
            vectors[row, j], vectors[largest, j] = vectors[largest, j], vectors[row, j]


@compiled
def _tridiagonalise(matrix: FloatArray, values: FloatArray, beside: FloatArray, vectors: FloatArray) -> None:
    """Write diagonal and subdiagonal of a matrix reflected to tridiagonal form; reflect vectors likewise."""
    n = len(matrix)
    v, p = np.empty(n), np.empty(n)
    for k in range(n - 1):
        x, rest = matrix[k, k + 1], _dot(matrix[k, k + 2 :], matrix[k, k + 2 :])
        values[k], beside[k] = matrix[k, k], x
        if rest > 0.0:
            beside[k] = -math.copysign(math.sqrt(x * x + rest), x)
            _copy(matrix[k], v)
            v[k + 1] = x - beside[k]
            scale = 1.0 / (beside[k] * (beside[k] - x))  # 2 / |v|^2
            _reflect_both_sides(matrix, k + 1, v, scale, p)
            _reflect(vectors, k + 1, v, scale, p)
    values[n - 1] = matrix[n - 1, n - 1]


@compiled
def _reflect(rows: FloatArray, first: int, v: FloatArray, scale: float, p: FloatArray) -> None:
    """Multiply rows from the ``first`` on by the reflection ``1 - scale v v^T`` from the left."""
    for j in range(len(rows)):
        p[j] = 0.0
    for i in range(first, len(rows)):
        for j in range(len(rows)):
            p[j] += v[i] * rows[i, j]
    for i in range(first, len(rows)):
        for j in range(len(rows)):
            rows[i, j] -= scale * v[i] * p[j]


@compiled
def _reflect_both_sides(matrix: FloatArray, first: int, v: FloatArray, scale: float, p: FloatArray) -> None:
    """Multiply a symmetric matrix, from row and column ``first`` on, by the reflection from both sides."""
    for i in range(first, len(matrix)):
        p[i] = scale * _dot(matrix[i, first:], v[first:])
    half = 0.5 * scale * _dot(p[first:], v[first:])
    for i in range(first, len(matrix)):
        p[i] -= half * v[i]
    for i in range(first, len(matrix)):
        for j in range(first, len(matrix)):
            matrix[i, j] -= v[i] * p[j] + p[i] * v[j]


@compiled
def _turn(values: FloatArray, beside: FloatArray, vectors: FloatArray, row: int, last: int) -> None:
    """Chase one implicit shift through rows ``row`` to ``last`` of a tridiagonal matrix."""
    g = (values[row + 1] - values[row]) / (2.0 * beside[row])
    g = values[last] - values[row] + beside[row] / (g + math.copysign(math.sqrt(g * g + 1.0), g))
    sine, cosine, moved = 1.0, 1.0, 0.0
    for i in range(last - 1, row - 1, -1):
        f, b = sine * beside[i], cosine * beside[i]
        beside[i + 1] = math.sqrt(f * f + g * g)
        if beside[i + 1] == 0.0:  # it has split in two
            values[i + 1] -= moved
            beside[last] = 0.0
            return
        sine, cosine = f / beside[i + 1], g / beside[i + 1]
        g = values[i + 1] - moved
        r = (values[i] - g) * sine + 2.0 * cosine * b
        moved = sine * r
        values[i + 1], g = g + moved, cosine * r - b
        for j in range(vectors.shape[1]):
            upper, lower = vectors[i + 1, j], vectors[i, j]
            vectors[i + 1, j], vectors[i, j] = sine * lower + cosine * upper, cosine * lower - sine * upper
    values[row] -= moved
    beside[row], beside[last] = g, 0.0


@compiled_reordered
def _dot(left: FloatArray, right: FloatArray) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@compiled
def _upper_factor(metric: FloatArray) -> FloatArray:
    """Return U with A = U^T U, row by row in memory."""
    return np.linalg.cholesky(metric).T  # type: ignore[return-value]  # of doubles, as A is


@compiled
def _forward(upper: FloatArray, vector: FloatArray) -> None:
    """Solve U^T y = vector in its place."""
    for j in range(vector.size):
        vector[j] /= upper[j, j]
        for i in range(j + 1, vector.size):
            vector[i] -= vector[j] * upper[j, i]


@compiled_reordered
def _backward(upper: FloatArray, vector: FloatArray) -> None:
    """Solve U y = vector in its place."""
    for i in range(vector.size - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, vector.size):
            total += upper[i, j] * vector[j]
        vector[i] = (vector[i] - total) / upper[i, i]


@compiled
def _length(vector: FloatArray) -> float:
    return math.sqrt(_dot(vector, vector))


@compiled
def _newton(curvatures: FloatArray, slopes: FloatArray, flattest: float) -> FloatArray:
    """Return the coordinates of a Newton step downhill along all axes, whatever the sign of the curvature."""
    coordinates = np.empty(slopes.size)
    for a in range(slopes.size):
        coordinates[a] = -slopes[a] / max(abs(curvatures[a]), flattest)
    return coordinates


@compiled
def _write_step(coordinates: FloatArray, longest: float, room: _Room) -> None:
    """Write the step with these coordinates along the axes; both become shorter if they are too long."""
    step, axes, factor = room.step, room.axes, min(1.0, longest / max(_length(coordinates), 1e-300))
    for j in range(step.size):
        step[j] = 0.0
    for a in range(coordinates.size):
        coordinates[a] *= factor
        for j in range(step.size):
            step[j] += coordinates[a] * axes[a, j]


@compiled
def _newton_steps(
    points: FloatArray,
    components: PackedComponents,
    curvatures: FloatArray,
    axes: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write Newton steps downhill in the place of points, with the lowest curvature and its axis at each."""
    room = _room(components)
    for n in range(start, stop):
        _, n_axes, _ = _frame(points[n], components, room)
        _write_step(_newton(room.curvatures[:n_axes], room.slopes[:n_axes], _FLATTEST), np.inf, room)
        _copy(room.step, points[n])
        _copy(room.axes[0], axes[n])
        curvatures[n] = room.curvatures[0]


# -- walks down ---------------------------------------------------------------------------------------


@compiled
def _shift(points: FloatArray, components: PackedComponents, start: int, stop: int) -> None:
    """Move points by a few mean-shift steps, -A^-1 grad."""
    room = _room(components)
    for n in range(start, stop):
        point = points[n]
        for _ in range(_MEAN_SHIFTS):
            _, n_active = _weigh(point, components, room)
            if n_active == 1:
                _copy(components.centres[room.active[0]], point)
                continue
            _pull(components, room, n_active)
            _add_up_metric(components, room, n_active, room.metric)
            upper = _upper_factor(room.metric)
            _forward(upper, room.gradient)
            _backward(upper, room.gradient)
            for j in range(point.size):
                point[j] -= room.gradient[j]


@compiled
def _descend(
    points: FloatArray,
    components: PackedComponents,
    heights: FloatArray,
    certified: BoolArray,
    start: int,
    stop: int,
) -> None:
    """Follow a path in {f <= f(start)} from each point to a mode; see ``modes.descend`` for the argument."""
    room = _room(components)
    for n in range(start, stop):
        point, radius = points[n], _LONGEST_DOWN
        for _ in range(_MOST_STEPS_DOWN):
            heights[n], n_axes, rounding = _frame(point, components, room)
            flat = _length(room.slopes[:n_axes]) < max(_ZERO_DOWN, rounding)
            if flat and room.curvatures[0] > 0.0:
                certified[n] = True
                break
            radius = _step_down(point, components, heights[n], n_axes, flat, radius, room)
            _add(room.step, point)


@compiled
def _step_down(
    point: FloatArray,
    components: PackedComponents,
    height: float,
    n_axes: int,
    flat: bool,
    radius: float,
    room: _Room,
) -> float:
    """Write the next step of a descent; return the longest Newton step it will try after this one."""
    curvatures, slopes = room.curvatures[:n_axes], room.slopes[:n_axes]
    coordinates = _newton(curvatures, slopes, _FLATTEST_DOWN)
    on_saddle = flat and curvatures[0] <= 0.0
    if on_saddle:
        coordinates[0] = _PUSH
    _write_step(coordinates, radius, room)
    taken = curvatures[0] > 0.0 or on_saddle or _length(slopes) <= _NEARLY_FLAT
    if taken and not _proved(coordinates, slopes):
        taken = _falls(point, components, height, room)
    if taken:
        return min(radius * 1.5, _LONGEST_DOWN)
    for a in range(n_axes):
        coordinates[a] = -_OVER_RELAXATION * slopes[a]
    _write_step(coordinates, np.inf, room)
    return max(radius / 2, _SHORTEST_DOWN)


@compiled
def _add(step: FloatArray, point: FloatArray) -> None:
    for j in range(point.size):
        point[j] += step[j]


@compiled
def _proved(coordinates: FloatArray, slopes: FloatArray) -> bool:
    """Say whether the majorant proves that a step descends (or the step is too short to matter).

    Along the axes the minimiser of the majorant is at -slopes, so that the condition |y - x - s|_A <= |s|_A
    is |coordinates + slopes| <= |slopes|.
    """
    to_minimiser = 0.0
    for a in range(slopes.size):
        to_minimiser += (coordinates[a] + slopes[a]) ** 2
    inside = to_minimiser <= _dot(slopes, slopes) * (1 + 1e-12)
    return inside or _length(coordinates) < _TOO_SHORT_TO_MATTER


@compiled
def _falls(point: FloatArray, components: PackedComponents, height: float, room: _Room) -> bool:
    """Say whether f never rises along the step that is written, at 26 points of it."""
    before, most = height, 1e-12 * (1 + abs(height))
    for part in _CHECKS:
        for j in range(point.size):
            room.trial[j] = point[j] + part * room.step[j]
        here, _ = _weigh(room.trial, components, room)
        if not here - before <= most:
            return False
        before = here
    return True


# -- walks up -----------------------------------------------------------------------------------------


@compiled
def _climb(
    points: FloatArray,
    tangents: FloatArray,
    components: PackedComponents,
    heights: FloatArray,
    converged: BoolArray,
    start: int,
    stop: int,
) -> None:
    """Follow the axis nearest to each tangent uphill, all others downhill, to a critical point.

    Tangents become the softest axis at the end.
    """
    room = _room(components)
    for n in range(start, stop):
        point, tangent, radius, before = points[n], tangents[n], _LONGEST_UP, np.inf
        for _ in range(_MOST_STEPS_UP):
            heights[n], n_axes, rounding = _frame(point, components, room)
            curvatures, slopes = room.curvatures[:n_axes], room.slopes[:n_axes]
            steepness, n_negative = _length(slopes), 0
            while n_negative < n_axes and curvatures[n_negative] < 0.0:
                n_negative += 1
            if steepness < max(_ZERO_UP, rounding):
                converged[n] = n_negative == 1
                break
            radius *= 0.5 if steepness > 1.5 * before else 1.3
            radius, before = min(max(radius, _SHORTEST_UP), _LONGEST_UP), steepness
            uphill = _uphill(tangent, n_axes, n_negative, room)
            _copy(room.axes[uphill], tangent)
            coordinates = _newton(curvatures, slopes, _FLATTEST_UP)
            coordinates[uphill] *= -1.0
            _write_step(coordinates, radius, room)
            _add(room.step, point)
        _copy(room.axes[0], tangent)


@compiled
def _uphill(tangent: FloatArray, n_axes: int, n_negative: int, room: _Room) -> int:
    """Choose the axis to climb: the one most along the tangent, a negative one where there is one."""
    candidates = n_negative if n_negative > 0 else n_axes
    if candidates == 1:
        return 0
    pointed, chosen, most = np.empty(tangent.size), 0, -1.0
    for j in range(tangent.size):
        pointed[j] = _dot(room.metric[j], tangent)
    for a in range(candidates):
        along = abs(_dot(room.axes[a], pointed))
        if along > most:
            chosen, most = a, along
    return chosen


# -- the way in ---------------------------------------------------------------------------------------

SHIFT, DESCEND, CLIMB, NEWTON = 0, 1, 2, 3


@compiled
def walk(
    how: int,
    points: FloatArray,
    axes: FloatArray,
    components: PackedComponents,
    heights: FloatArray,
    arrived: BoolArray,
    start: int,
    stop: int,
) -> None:
    """Move points. Climbs have tangents as ``axes``; Newton steps write axes, and curvatures as ``heights``.

    This is one kernel, because most of what walks do is the same, and is compiled for each kernel anew.
    """
    if how == SHIFT:
        _shift(points, components, start, stop)
    elif how == DESCEND:
        _descend(points, components, heights, arrived, start, stop)
    elif how == CLIMB:
        _climb(points, axes, components, heights, arrived, start, stop)
    else:
        _newton_steps(points, components, heights, axes, start, stop)
