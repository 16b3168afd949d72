"""Compiled search for the extrema of f along polylines: on a straight piece every component is a parabola.

Compiled functions call those of their own file only, because numba's cache notices changes per file. The
layout of components is that of ``_kernels``.
"""

from typing import NamedTuple

import numpy as np

from dpmorse._compile import compiled
from dpmorse.morse.critical._kernels import PackedComponents
from dpmorse.typing import BoolArray, FloatArray, IntArray

# Heights along a path decide what is followed, not what is certified: e^-30 (1e-13) is accurate enough there.
_NEGLIGIBLE = 30.0

# Places at which f is looked at on one straight piece of a path: five around each component narrower than
# the piece, for up to 51 components; beyond that the list is full and the others are left to the splitting.
_MOST_MARKS = 256

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


class _PathRoom(NamedTuple):
    """Where one thread works: what is known of each component on the piece that is looked at.

    ``white`` are u_k = L_k (x - mu_k) at its first node, where ``known``; ``nearest`` is the component that
    is looked at first.
    """

    white: FloatArray
    known: BoolArray
    nearest: IntArray
    away: FloatArray
    step: FloatArray
    parabolas: FloatArray
    marks: FloatArray
    stack: FloatArray


@compiled
def _room(components: PackedComponents) -> _PathRoom:
    n, n_blocks = components.factors.shape[:2]
    return _PathRoom(
        np.empty((n, n_blocks, 4)),
        np.empty(n, np.bool_),
        np.zeros(1, np.int64),
        np.zeros(4 * n_blocks),
        np.zeros(4 * n_blocks),
        np.empty((3, n)),
        np.empty(_MOST_MARKS),
        np.empty((_DEEPEST_SPLIT + 2, 5)),
    )


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
    n_pieces, room = paths.shape[1] - 1, _room(components)
    for p in range(start, stop):
        room.known[:] = False
        count, rising = 0, False
        for piece in range(n_pieces):
            n_active = _fill_parabolas(paths[p, piece], paths[p, piece + 1], components, room)
            count, rising = _scan_piece(
                room.parabolas[:, :n_active],
                piece,
                _ASIDE if piece == 0 else 0.0,
                1.0 - _ASIDE if piece == n_pieces - 1 else 1.0,
                room,
                positions[p],
                heights[p],
                count,
                rising,
            )
        if not rising:
            value, _, _ = _along(room.parabolas[:, :n_active], 1.0)
            count = _record(n_pieces, value, positions[p], heights[p], count)
        counts[p] = count if count % 2 == 1 else count - 1  # the list was full


@compiled
def _fill_parabolas(
    here: FloatArray, there: FloatArray, components: PackedComponents, room: _PathRoom
) -> int:
    """Write f_k(s) = a + b s + c s^2 on a piece for the components that matter there; return how many."""
    centres, factors, offsets = components.centres, components.factors, components.offsets
    known, white, away, step, parabolas = room.known, room.white, room.away, room.step, room.parabolas
    top, first, nearest = np.inf, room.nearest[0], 0
    for j in range(here.size):
        step[j] = there[j] - here[j]
    for i in range(offsets.size):
        k = first if i == 0 else i - 1 if i <= first else i
        if not known[k]:
            for j in range(here.size):
                away[j] = here[j] - centres[k, j]
        a, b, c, known[k] = _parabola(factors, k, -offsets[k], top + _NEGLIGIBLE, known[k], away, step, white)
        parabolas[0, k], parabolas[1, k], parabolas[2, k] = a, b, c
        if max(a, a + b + c) < top:  # f is lower than this on the whole piece
            top, nearest = max(a, a + b + c), k
    room.nearest[0], n_active = nearest, 0
    for k in range(offsets.size):
        a, b, c = parabolas[0, k], parabolas[1, k], parabolas[2, k]
        if _lowest(a, b, c) < top + _NEGLIGIBLE:
            parabolas[0, n_active], parabolas[1, n_active], parabolas[2, n_active] = a, b, c
            n_active += 1
    return n_active


@compiled
def _parabola(
    factors: FloatArray,
    k: int,
    floor: float,
    limit: float,
    known: bool,
    away: FloatArray,
    step: FloatArray,
    white: FloatArray,
) -> tuple[float, float, float, bool]:
    """Return the parabola of one component, or any that is nowhere below the limit if it is not either.

    Moves u_k on to the next node; whether it is known there is returned as well.
    """
    a, b, c = floor, 0.0, 0.0
    for block in range(factors.shape[1]):
        u0, u1, u2, u3 = white[k, block, 0], white[k, block, 1], white[k, block, 2], white[k, block, 3]
        if not known:
            u0, u1, u2, u3 = _four_rows(factors, k, block, away)
        v0, v1, v2, v3 = _four_rows(factors, k, block, step)
        a += 0.5 * (u0 * u0 + u1 * u1 + u2 * u2 + u3 * u3)
        b += u0 * v0 + u1 * v1 + u2 * v2 + u3 * v3
        c += 0.5 * (v0 * v0 + v1 * v1 + v2 * v2 + v3 * v3)
        white[k, block, 0], white[k, block, 1] = u0 + v0, u1 + v1
        white[k, block, 2], white[k, block, 3] = u2 + v2, u3 + v3
        if a >= limit and _lowest(a, b, c) >= limit:
            return a, b, c, False
    return a, b, c, True


@compiled
def _four_rows(
    factors: FloatArray, k: int, block: int, vector: FloatArray
) -> tuple[float, float, float, float]:
    """Return four rows of a whitener times a vector."""
    u0, u1, u2, u3 = 0.0, 0.0, 0.0, 0.0
    for j in range(4 * block + 4):
        x = vector[j]
        u0 += factors[k, block, j, 0] * x
        u1 += factors[k, block, j, 1] * x
        u2 += factors[k, block, j, 2] * x
        u3 += factors[k, block, j, 3] * x
    return u0, u1, u2, u3


@compiled
def _lowest(a: float, b: float, c: float) -> float:
    """Return the least of a + b s + c s^2 for s in [0, 1]."""
    s = min(max(-b / (2 * c), 0.0), 1.0) if c > 0.0 else 0.0
    return a + b * s + c * s * s


@compiled
def _fill_marks(parabolas: FloatArray, first: float, last: float, end: float, marks: FloatArray) -> int:
    """Write, in order, where to look at f on a piece: around components narrower than it, and its end."""
    marks[0], count = end, 1
    for k in range(parabolas.shape[1]):
        a, b, c = parabolas[0, k], parabolas[1, k], parabolas[2, k]
        s = -b / (2 * c) if c > 0.5 else -1.0
        if 0.0 < s < 1.0 and a + 0.5 * b * s < (1 - s) * first + s * last + 2.0:
            for i in range(-2, 3):
                mark = s + 1.25 * i / np.sqrt(2 * c)
                if 1e-3 < mark < 1 - 1e-3 and count < _MOST_MARKS:
                    _insert(mark, marks, count)
                    count += 1
    return count


@compiled
def _insert(mark: float, marks: FloatArray, count: int) -> None:
    """Insert a number where it belongs among those in order."""
    i = count
    while i > 0 and marks[i - 1] > mark:
        marks[i] = marks[i - 1]
        i -= 1
    marks[i] = mark


@compiled
def _scan_piece(
    parabolas: FloatArray,
    piece: int,
    begin: float,
    end: float,
    room: _PathRoom,
    positions: FloatArray,
    heights: FloatArray,
    count: int,
    rising: bool,
) -> tuple[int, bool]:
    """Walk along a piece, splitting where the slopes at two ends do not explain f between them."""
    s0, marks, stack = begin, room.marks, room.stack
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
        if above < _NEGLIGIBLE:
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
