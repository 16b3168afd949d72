"""Compiled evaluation of f = -ln p at many points.

Layout. Factors and centres are stored one number of all components after the other, so that the
innermost loops run over components and vectorise. Components whose share of the density is below
``exp(-NEGLIGIBLE)`` take no part in derivatives: exact to rounding.

All compiled code of the Morse step is in this one file, because numba's cache notices changes per file.
"""

from typing import NamedTuple

import numpy as np

from dpmorse._compile import compiled
from dpmorse.typing import FloatArray, IntArray

# A component whose density is e^-40 (4e-18) of the whole changes no double: the exponential is not computed.
NEGLIGIBLE = 40.0

# Heights along a path decide what is followed, not what is certified: e^-30 (1e-13) is accurate enough there.
NEGLIGIBLE_ON_PATHS = 30.0

# Places at which f is looked at on one straight piece of a path: five around each component narrower than
# the piece, for up to 51 components; beyond that the list is full and the others are left to the splitting.
MOST_MARKS = 256

# Extrema that are recorded on one path. The number is odd because a list starts and ends with a minimum.
MOST_EXTREMA = 63

# A stretch is halved at most 8 times, to 1/256 of the distance between two marks.
_DEEPEST_SPLIT = 8

# The ends of a path may be modes, where the slope is 0 to rounding and its sign means nothing: slopes are
# taken this fraction of a piece further in.
_ASIDE = 1e-4

# Nats by which f may differ from what value, slope and curvature at two ends predict before the stretch
# between them is split.
_SURPRISE = 2e-3


class PackedComponents(NamedTuple):
    """The components of a mixture, laid out for these kernels.

    ``centres`` (D, K), ``factors`` (D (D + 1) / 2, K: lower triangles of the whiteners, row by row),
    ``offsets`` (K: ln of each weighted density at its centre), ``whiteners`` and ``precisions`` (K, D, D).
    """

    centres: FloatArray
    factors: FloatArray
    offsets: FloatArray
    whiteners: FloatArray
    precisions: FloatArray


@compiled
def fill_heights(
    points: FloatArray, components: PackedComponents, heights: FloatArray, start: int, stop: int
) -> None:
    """Write f at points ``start:stop``."""
    shape = components.centres.shape
    away, white, logs = np.empty(shape), np.empty(shape), np.empty(shape[1])
    for n in range(start, stop):
        _log_terms(points[n], components, away, white, logs)
        heights[n] = _height(logs)


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
    shape = components.centres.shape
    away, white, logs = np.empty(shape), np.empty(shape), np.empty(shape[1])
    share, pulls = np.empty(shape[1]), np.empty((shape[1], shape[0]))
    for n in range(start, stop):
        _log_terms(points[n], components, away, white, logs)
        heights[n] = _height(logs)
        _shares_and_pulls(heights[n], logs, white, components.whiteners, share, pulls, gradients[n])
        _metric_and_hessian(share, pulls, components.precisions, gradients[n], metrics[n], hessians[n])


@compiled
def _log_terms(
    point: FloatArray,
    components: PackedComponents,
    away: FloatArray,
    white: FloatArray,
    logs: FloatArray,
) -> None:
    """Write u_k = L_k (x - mu_k) and ln(w_k N_k(x)) for all components."""
    centres, factors, offsets = components.centres, components.factors, components.offsets
    n_features, n_components = centres.shape
    logs[:] = 0.0
    t = 0
    for i in range(n_features):
        for k in range(n_components):
            away[i, k] = point[i] - centres[i, k]
            white[i, k] = 0.0
        for j in range(i + 1):
            for k in range(n_components):
                white[i, k] += factors[t, k] * away[j, k]
            t += 1
        for k in range(n_components):
            logs[k] += white[i, k] * white[i, k]
    for k in range(n_components):
        logs[k] = offsets[k] - 0.5 * logs[k]


@compiled
def _height(logs: FloatArray) -> float:
    """Return -ln sum exp(logs), with the largest term taken out so that no exponential overflows."""
    top = logs.max()
    total = 0.0
    for k in range(logs.size):
        if logs[k] - top > -NEGLIGIBLE:
            total += np.exp(logs[k] - top)
    return -float(top + np.log(total))


@compiled
def _shares_and_pulls(
    height: float,
    logs: FloatArray,
    white: FloatArray,
    whiteners: FloatArray,
    share: FloatArray,
    pulls: FloatArray,
    gradient: FloatArray,
) -> None:
    """Write responsibilities w_k, pulls g_k = P_k (x - mu_k) = L_k^T u_k, and the gradient sum w_k g_k."""
    n_features = white.shape[0]
    gradient[:] = 0.0
    for k in range(logs.size):
        share[k] = 0.0
        if logs[k] + height > -NEGLIGIBLE:
            share[k] = np.exp(logs[k] + height)
            pulls[k] = 0.0
            for i in range(n_features):
                for j in range(i + 1):
                    pulls[k, j] += whiteners[k, i, j] * white[i, k]
            for j in range(n_features):
                gradient[j] += share[k] * pulls[k, j]


@compiled
def _metric_and_hessian(
    share: FloatArray,
    pulls: FloatArray,
    precisions: FloatArray,
    gradient: FloatArray,
    metric: FloatArray,
    hessian: FloatArray,
) -> None:
    """Write A = sum w_k P_k and the Hessian A - sum w_k (g_k - g)(g_k - g)^T, with g = sum w_k g_k.

    The covariance is summed in centred form: sum w_k g_k g_k^T - g g^T would subtract two large numbers far
    from the centres, where the g_k are large and nearly equal.
    """
    n_features = gradient.size
    metric[:] = 0.0
    hessian[:] = 0.0
    for k in range(share.size):
        if share[k] > 0.0:
            for i in range(n_features):
                left = share[k] * (pulls[k, i] - gradient[i])
                for j in range(n_features):
                    metric[i, j] += share[k] * precisions[k, i, j]
                    hessian[i, j] += left * (pulls[k, j] - gradient[j])
    for i in range(n_features):
        for j in range(n_features):
            hessian[i, j] = metric[i, j] - hessian[i, j]


# -- bounds on where components meet ------------------------------------------------------------------


@compiled
def fill_crossing_bounds(levels: FloatArray, bounds: FloatArray, start: int, stop: int) -> None:
    """Write ``-ln sum_j exp(-max(t_kl, t_kj, t_lj))`` for rows k in ``start:stop``."""
    n = levels.shape[0]
    for k in range(start, stop):
        for other in range(n):
            level, total = levels[k, other], 0.0
            for j in range(n):
                above = max(levels[k, j], levels[other, j]) - level
                if above <= 0.0:
                    total += 1.0
                elif above < NEGLIGIBLE:
                    total += np.exp(-above)
            bounds[k, other] = level - np.log(total)


# -- f along polylines: on a straight piece every component is a parabola -----------------------------


@compiled
def fill_extrema(
    paths: FloatArray,
    components: PackedComponents,
    positions: FloatArray,
    heights: FloatArray,
    counts: IntArray,
    start: int,
    stop: int,
) -> None:
    """Write the local minima and maxima of f along paths ``start:stop``, in order.

    A position is the number of the piece plus the fraction along it. Entries alternate and the first and
    the last are minima; an end of a path is one if f rises from there.
    """
    shape, n_nodes = components.centres.shape, paths.shape[1]
    n_components = shape[1]
    away, logs = np.empty(shape), np.empty(n_components)
    here, there = np.empty(shape), np.empty(shape)
    parabolas, marks = np.empty((3, n_components)), np.empty(MOST_MARKS)
    stack = np.empty((_DEEPEST_SPLIT + 2, 5))
    for p in range(start, stop):
        _log_terms(paths[p, 0], components, away, here, logs)
        count, rising = 0, False
        for piece in range(n_nodes - 1):
            _log_terms(paths[p, piece + 1], components, away, there, logs)
            n_active = _fill_parabolas(here, there, components.offsets, parabolas)
            count, rising = _scan_piece(
                parabolas[:, :n_active],
                marks,
                piece,
                _ASIDE if piece == 0 else 0.0,
                1.0 - _ASIDE if piece == n_nodes - 2 else 1.0,
                stack,
                positions[p],
                heights[p],
                count,
                rising,
            )
            here, there = there, here
        if not rising:
            value, _, _ = _along(parabolas[:, :n_active], 1.0)
            count = _record(n_nodes - 1.0, value, positions[p], heights[p], count)
        counts[p] = count if count % 2 == 1 else count - 1  # the list was full


@compiled
def _fill_parabolas(here: FloatArray, there: FloatArray, offsets: FloatArray, parabolas: FloatArray) -> int:
    """Write f_k(s) = a + b s + c s^2 on a piece for the components that matter there; return how many."""
    n_features, n_components = here.shape
    top = np.inf
    for k in range(n_components):
        a, b, c = 0.0, 0.0, 0.0
        for i in range(n_features):
            step = there[i, k] - here[i, k]
            a += here[i, k] * here[i, k]
            b += here[i, k] * step
            c += step * step
        parabolas[0, k], parabolas[1, k], parabolas[2, k] = 0.5 * a - offsets[k], b, 0.5 * c
        top = min(top, max(parabolas[0, k], parabolas[0, k] + b + 0.5 * c))
    n_active = 0
    for k in range(n_components):
        a, b, c = parabolas[0, k], parabolas[1, k], parabolas[2, k]
        s = min(max(-b / (2 * c), 0.0), 1.0) if c > 0.0 else 0.0
        if a + b * s + c * s * s < top + NEGLIGIBLE_ON_PATHS:
            parabolas[0, n_active], parabolas[1, n_active], parabolas[2, n_active] = a, b, c
            n_active += 1
    return n_active


@compiled
def _fill_marks(parabolas: FloatArray, first: float, last: float, end: float, marks: FloatArray) -> int:
    """Write, in order, where to look at f on a piece: around components narrower than it, and its end."""
    count = 0
    for k in range(parabolas.shape[1]):
        a, b, c = parabolas[0, k], parabolas[1, k], parabolas[2, k]
        s = -b / (2 * c) if c > 0.5 else -1.0
        if 0.0 < s < 1.0 and a + 0.5 * b * s < (1 - s) * first + s * last + 2.0:
            for i in range(-2, 3):
                mark = s + 1.25 * i / np.sqrt(2 * c)
                if 1e-3 < mark < 1 - 1e-3 and count < MOST_MARKS - 1:
                    marks[count] = mark
                    count += 1
    marks[count] = end
    marks[: count + 1].sort()
    return count + 1


@compiled
def _scan_piece(
    parabolas: FloatArray,
    marks: FloatArray,
    piece: int,
    begin: float,
    end: float,
    stack: FloatArray,
    positions: FloatArray,
    heights: FloatArray,
    count: int,
    rising: bool,
) -> tuple[int, bool]:
    """Walk along a piece, splitting where the slopes at two ends do not explain f between them."""
    s0 = begin
    f0, g0, c0 = _along(parabolas, begin)
    f_end, g_end, c_end = _along(parabolas, end)
    if (g0 > 0.0) != rising:
        count = _record(piece, f0, positions, heights, count)
    for mark in marks[: _fill_marks(parabolas, f0, f_end, end, marks)]:
        f1, g1, c1 = (f_end, g_end, c_end) if mark == end else _along(parabolas, mark)
        top = 0
        _push(stack, top, mark, f1, g1, c1, 0.0)
        while top >= 0:
            s1, f1, g1, c1, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4]
            if depth < _DEEPEST_SPLIT and _surprises(s1 - s0, f0, g0, c0, f1, g1, c1):
                stack[top, 4] = depth + 1
                top += 1
                middle = 0.5 * (s0 + s1)
                f1, g1, c1 = _along(parabolas, middle)
                _push(stack, top, middle, f1, g1, c1, depth + 1)
            else:
                if (g0 > 0.0) != (g1 > 0.0):
                    position, height = _flat_point(parabolas, s0, g0, s1, g1)
                    count = _record(piece + position, height, positions, heights, count)
                s0, f0, g0, c0 = s1, f1, g1, c1
                top -= 1
    return count, g0 > 0.0


@compiled
def _push(stack: FloatArray, top: int, s: float, f: float, g: float, c: float, depth: float) -> None:
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4] = s, f, g, c, depth


@compiled
def _surprises(h: float, f0: float, g0: float, c0: float, f1: float, g1: float, c1: float) -> bool:
    """Say whether f between two points may hide more than value, slope and curvature there tell.

    A smooth f satisfies the corrected trapezoidal rule, f1 - f0 = h (g0 + g1) / 2 + h^2 (c0 - c1) / 12, up to
    O(h^5). Where both slopes have one sign, the cubic with these slopes and curvatures as values and
    derivatives is looked at in the middle and at 1/4 and 3/4: another sign there means that f turns twice.
    """
    if abs(f1 - f0 - 0.5 * h * (g0 + g1) - h * h * (c0 - c1) / 12.0) > _SURPRISE:
        return True
    if (g0 > 0.0) != (g1 > 0.0):
        return False
    middle = 0.5 * (g0 + g1) + 0.125 * h * (c0 - c1)
    early = (27.0 * g0 + 5.0 * g1) / 32.0 + h * (9.0 * c0 - 3.0 * c1) / 64.0
    late = (5.0 * g0 + 27.0 * g1) / 32.0 + h * (3.0 * c0 - 9.0 * c1) / 64.0
    rises = g0 > 0.0
    return (middle > 0.0) != rises or (early > 0.0) != rises or (late > 0.0) != rises


@compiled
def _flat_point(parabolas: FloatArray, s0: float, g0: float, s1: float, g1: float) -> tuple[float, float]:
    """Return where the slope changes sign, by the Illinois rule, and f there to about 1e-10."""
    s, f, side = s0, 0.0, 0
    for _ in range(60):
        s = (s0 * g1 - s1 * g0) / (g1 - g0)
        s = s if s0 < s < s1 else 0.5 * (s0 + s1)
        f, g, _ = _along(parabolas, s)
        if abs(g) * (s1 - s0) < 1e-10:
            break
        if (g > 0.0) == (g1 > 0.0):
            s1, g1, g0 = s, g, 0.5 * g0 if side > 0 else g0
            side = 1
        else:
            s0, g0, g1 = s, g, 0.5 * g1 if side < 0 else g1
            side = -1
    return s, f


@compiled
def _along(parabolas: FloatArray, s: float) -> tuple[float, float, float]:
    """Return f, its slope and its curvature at a fraction s of a piece."""
    lowest = np.inf
    for k in range(parabolas.shape[1]):
        lowest = min(lowest, parabolas[0, k] + s * (parabolas[1, k] + s * parabolas[2, k]))
    total, slope, square, bend = 0.0, 0.0, 0.0, 0.0
    for k in range(parabolas.shape[1]):
        above = parabolas[0, k] + s * (parabolas[1, k] + s * parabolas[2, k]) - lowest
        if above < NEGLIGIBLE_ON_PATHS:
            share, steep = np.exp(-above), parabolas[1, k] + 2.0 * s * parabolas[2, k]
            total += share
            slope += share * steep
            square += share * steep * steep
            bend += share * parabolas[2, k]
    slope /= total
    return lowest - np.log(total), slope, 2.0 * bend / total - (square / total - slope * slope)


@compiled
def _record(position: float, height: float, positions: FloatArray, heights: FloatArray, count: int) -> int:
    """Append to a list that may be full; return its length."""
    if count < positions.size:
        positions[count], heights[count] = position, height
        return count + 1
    return count
