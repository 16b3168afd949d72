"""Compiled ridgelines between quadratic wells; ``ridgelines`` says what they are.

Compiled functions call those of their own file only, because numba's cache notices changes per file.
"""

import math
from typing import NamedTuple

import numpy as np

from dpmorse._compile import compiled
from dpmorse.typing import FloatArray, IntArray

# Halvings of the range of log odds: from at most some hundreds to less than a double can tell.
_BISECTIONS = 60

# Log odds beyond the extremes of the ratios at which a ridgeline has arrived at its centre: e^-40 of the way
# is missing where two wells are compared, e^-8 where a polyline is drawn, whose ends are the centres anyway.
_TAILS, _TAILS_OF_POLYLINES = 40.0, 8.0

# A well e^-40 of whose density is left changes no double.
_NEGLIGIBLE = 40.0


class Wells(NamedTuple):
    """Quadratic wells: centres (n, D), whiteners and their inverses (n, D, D), floors (n,)."""

    centres: FloatArray
    whiteners: FloatArray
    spreads: FloatArray
    floors: FloatArray


class Pencil(NamedTuple):
    """Two wells in coordinates y, x = centre + y axes, that make both round or axis-parallel.

    There ``f_k = floor_k + |y|^2 / 2`` and ``f_l = floor_l + sum ratio (y - offset)^2 / 2``, and the
    ridgeline is ``y = r ratio / (1 + r ratio) offset`` with the odds ``r = a / (1 - a)``. ``ratios`` rise.
    """

    centre: FloatArray
    axes: FloatArray
    ratios: FloatArray
    offset: FloatArray


@compiled
def _pencil(wells: Wells, k: int, other: int) -> Pencil:
    """Diagonalise two wells together."""
    across = np.dot(wells.whiteners[other], wells.spreads[k])
    ratios, vectors = np.linalg.eigh(np.dot(across.T, across))
    axes, d = np.dot(vectors.T, wells.spreads[k].T), len(ratios)
    offset, white = np.zeros(d), np.zeros(d)
    for i in range(d):
        ratios[i] = max(ratios[i], 1e-300)
        for j in range(d):
            white[i] += wells.whiteners[k, i, j] * (wells.centres[other, j] - wells.centres[k, j])
    for i in range(d):
        for j in range(d):
            offset[j] += vectors[i, j] * white[i]
    return Pencil(wells.centres[k], axes, ratios, offset)


@compiled
def _middle_and_half(pencil: Pencil, tails: float) -> tuple[float, float]:
    """Return the middle and half-width of log odds outside which the ridgeline has arrived."""
    low, high = math.log(pencil.ratios[0]), math.log(pencil.ratios[-1])
    return -0.5 * (low + high), tails + 0.5 * (high - low)


@compiled
def _go_to(log_odds: float, pencil: Pencil, y: FloatArray) -> tuple[float, float]:
    """Write the point of the ridgeline at these odds; return twice the heights above both floors."""
    ratios, offset = pencil.ratios, pencil.offset
    odds, from_k, from_l = math.exp(min(max(log_odds, -600.0), 600.0)), 0.0, 0.0
    for i in range(y.size):
        r = odds * ratios[i]
        y[i] = r / (1 + r) * offset[i]
        from_k += y[i] * y[i]
        from_l += ratios[i] * (y[i] - offset[i]) ** 2
    return from_k, from_l


@compiled
def _write_point(pencil: Pencil, y: FloatArray, point: FloatArray) -> None:
    """Write x = centre + y axes."""
    centre, axes = pencil.centre, pencil.axes
    for j in range(y.size):
        point[j] = centre[j]
    for i in range(y.size):
        for j in range(y.size):
            point[j] += y[i] * axes[i, j]


@compiled
def fill_touchings(
    wells: Wells,
    first: IntArray,
    second: IntArray,
    levels: FloatArray,
    points: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write where two wells are equally high on their ridgeline, by bisection, and where they touch."""
    y = np.empty(points.shape[1])
    for p in range(start, stop):
        pencil = _pencil(wells, first[p], second[p])
        floor_k, floor_l = wells.floors[first[p]], wells.floors[second[p]]
        middle, half = _middle_and_half(pencil, _TAILS)
        for _ in range(_BISECTIONS):
            from_k, from_l = _go_to(middle, pencil, y)
            half /= 2
            middle += half if floor_l + 0.5 * from_l > floor_k + 0.5 * from_k else -half
        from_k, from_l = _go_to(middle, pencil, y)
        levels[p] = max(min(floor_k + 0.5 * from_k, floor_l + 0.5 * from_l), floor_k, floor_l)
        _write_point(pencil, y, points[p])


@compiled
def fill_ridgelines(
    wells: Wells, first: IntArray, second: IntArray, paths: FloatArray, start: int, stop: int
) -> None:
    """Write polylines from centre to centre, nodes spread evenly in d_k / (d_k + d_l)."""
    n_nodes, d = paths.shape[1:]
    y = np.empty(d)
    for p in range(start, stop):
        pencil = _pencil(wells, first[p], second[p])
        log_odds = _spread_log_odds(pencil, n_nodes)
        for i in range(n_nodes):
            _go_to(log_odds[i], pencil, y)
            _write_point(pencil, y, paths[p, i])
        for j in range(d):
            paths[p, 0, j], paths[p, -1, j] = wells.centres[first[p], j], wells.centres[second[p], j]


@compiled
def _spread_log_odds(pencil: Pencil, n_nodes: int) -> FloatArray:
    """Return log odds at which d_k / (d_k + d_l) is even, by interpolation between three times as many."""
    log_odds, y = np.empty(n_nodes), np.empty(pencil.ratios.size)
    middle, half = _middle_and_half(pencil, _TAILS_OF_POLYLINES)
    here, before, there, after = middle - half, 0.0, middle - half, 0.0
    node, n_places = 0, 3 * n_nodes
    for i in range(n_places):
        here, before = there, after
        there = middle + half * (2.0 * i / (n_places - 1) - 1.0)
        from_k, from_l = _go_to(there, pencil, y)
        from_k, from_l = math.sqrt(from_k), math.sqrt(from_l)
        after = from_k / max(from_k + from_l, 1e-300)
        while node < n_nodes and node / (n_nodes - 1) <= after:
            part = (node / (n_nodes - 1) - before) / (after - before) if after > before else 1.0
            log_odds[node] = here + part * (there - here)
            node += 1
    for i in range(node, n_nodes):
        log_odds[i] = there
    return log_odds


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
                elif above < _NEGLIGIBLE:
                    total += np.exp(-above)
            bounds[k, other] = level - np.log(total)
