r"""Ridgelines: where two quadratic wells touch as both fill up.

Wells are ``f_k(x) = floor_k + |L_k (x - c_k)|^2 / 2``: the components of a mixture, or its modes with the
local metric. The ridgeline of two wells is ``x(a) = argmin (1-a) f_k + a f_l`` for a in [0, 1]. It contains
all critical points of a mixture of two components (Ray and Lindsay, Ann. Statist. 33, 2005).

Which pairs of components can matter is bounded without any search. Let t_kl be the level at which the
ellipsoids of components k and l touch. On the ridgeline f <= t_kl, so the bottleneck over t bounds the
barrier between two centres from above. A path that leaves the region where component k is the largest for
that of l does so at a point x with f_k(x) = f_l(x) = v <= f_j(x) for all j. There v >= t_kl, and f_j(x)
>= t_jk unless v >= t_jk (of two ellipsoids below their touching level a point is in one at most),
likewise for l; so

.. math:: f(x) = -\ln \sum_j e^{-f_j(x)} \ge -\ln \sum_j e^{-\max(t_{kl}, t_{jk}, t_{jl})} =: b_{kl},

the right side growing with v. A pair whose b_kl lies above a barrier already known between k and l can be
left out: no path that changes from k to l directly is lower.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.morse.critical import _kernels
from dpmorse.typing import FloatArray, IntArray

# Values of the largest array that is made for many pairs at a time: 8 MB of doubles.
_CHUNK_VALUES = 1 << 20

# Halvings of the range of log odds: from at most some hundreds to less than a double can tell.
_BISECTIONS = 60

# Log odds beyond the extremes of the ratios at which a ridgeline has arrived at its centre: e^-40 of the way
# is missing where two wells are compared, e^-8 where a polyline is drawn, whose ends are the centres anyway.
_TAILS, _TAILS_OF_POLYLINES = 40.0, 8.0


@dataclass(frozen=True)
class Wells:
    """Quadratic wells: centres (n, D), whiteners (n, D, D), floors (n,)."""

    centres: FloatArray
    whiteners: FloatArray
    floors: FloatArray


@dataclass(frozen=True)
class _Pencils:
    """Pairs of wells in coordinates y, x = c_k + basis y, that make both round or axis-parallel.

    There ``f_k = floor_k + |y|^2 / 2`` and ``f_l = floor_l + sum ratio (y - offset)^2 / 2``, and the
    ridgeline is ``y = r ratio / (1 + r ratio) offset`` with the odds ``r = a / (1 - a)``.
    """

    ratios: FloatArray
    offsets: FloatArray
    bases: FloatArray

    @classmethod
    def of(cls, wells: Wells, first: IntArray, second: IntArray) -> "_Pencils":
        """Diagonalise pairs of wells together."""
        back = np.linalg.inv(wells.whiteners[first])
        across = wells.whiteners[second] @ back
        ratios, vectors = np.linalg.eigh(across.swapaxes(1, 2) @ across)
        apart = wells.centres[second] - wells.centres[first]
        white = np.einsum("nij,nj->ni", wells.whiteners[first], apart)
        offsets = np.einsum("nij,ni->nj", vectors, white)
        return cls(np.maximum(ratios, 1e-300), offsets, back @ vectors)

    def log_odds_range(self, tails: float) -> tuple[FloatArray, FloatArray]:
        """Return the middle and half-width of log odds outside which the ridgeline has arrived."""
        low, high = np.log(self.ratios.min(axis=1)), np.log(self.ratios.max(axis=1))
        return -0.5 * (low + high), tails + 0.5 * (high - low)

    def at(self, log_odds: FloatArray) -> FloatArray:
        """Return ridgeline points y for log odds of shape (n, m), shape (n, m, D)."""
        r = np.exp(np.clip(log_odds, -600, 600))[..., None] * self.ratios[:, None]
        return r / (1 + r) * self.offsets[:, None]

    def squared_distances(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return twice the heights above the floors of both wells."""
        beyond = y - self.offsets[:, None]
        return (y * y).sum(axis=-1), (self.ratios[:, None] * beyond * beyond).sum(axis=-1)


def touching_levels(wells: Wells, first: IntArray, second: IntArray) -> FloatArray:
    """Return the level at which ``{f_k <= t}`` and ``{f_l <= t}`` first touch, for pairs (k, l).

    On the ridgeline max(f_k, f_l) is smallest where both are equal; where a floor lies higher than the
    other well is there, the floor is the level.
    """
    levels = np.empty(len(first))
    for rows in _chunks(len(first), wells.centres.shape[1] ** 2):
        pencils = _Pencils.of(wells, first[rows], second[rows])
        floors = wells.floors[first[rows]], wells.floors[second[rows]]
        heights = _heights(pencils, *floors, _meeting(pencils, *floors))
        levels[rows] = np.maximum(np.minimum(*heights), np.maximum(*floors))
    return levels


def touching_matrix(wells: Wells) -> FloatArray:
    """Return t_kl for all pairs; the diagonal holds the floors."""
    n = len(wells.floors)
    first, second = np.triu_indices(n, 1)
    matrix = np.diag(wells.floors)
    matrix[first, second] = matrix[second, first] = touching_levels(wells, first, second)
    return matrix


def crossing_bounds(levels: FloatArray) -> FloatArray:
    """Return the lower bounds b_kl of f at any crossing between components k and l."""
    bounds = np.empty_like(levels)
    over_rows(partial(_kernels.fill_crossing_bounds, levels, bounds), len(levels), smallest=64)
    return bounds


def touching_points(wells: Wells, first: IntArray, second: IntArray) -> FloatArray:
    """Return where on the ridgelines both wells are equally high."""
    points = np.empty((len(first), wells.centres.shape[1]))
    for rows in _chunks(len(first), wells.centres.shape[1] ** 2):
        pencils = _Pencils.of(wells, first[rows], second[rows])
        log_odds = _meeting(pencils, wells.floors[first[rows]], wells.floors[second[rows]])
        y = pencils.at(log_odds[:, None])[:, 0]
        points[rows] = wells.centres[first[rows]] + np.einsum("nij,nj->ni", pencils.bases, y)
    return points


def _meeting(pencils: _Pencils, floor_k: FloatArray, floor_l: FloatArray) -> FloatArray:
    """Return the log odds at which both wells are equally high on the ridgeline, by bisection."""
    middle, half = pencils.log_odds_range(_TAILS)
    for _ in range(_BISECTIONS):
        f_k, f_l = _heights(pencils, floor_k, floor_l, middle)
        half /= 2
        middle = np.where(f_l > f_k, middle + half, middle - half)
    return middle


def _heights(
    pencils: _Pencils, floor_k: FloatArray, floor_l: FloatArray, log_odds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    from_k, from_l = pencils.squared_distances(pencils.at(log_odds[:, None]))
    return floor_k + 0.5 * from_k[:, 0], floor_l + 0.5 * from_l[:, 0]


def ridgelines(wells: Wells, first: IntArray, second: IntArray, n_nodes: int) -> FloatArray:
    """Return polylines (n_pairs, n_nodes, D) along the ridgelines from centre to centre.

    Nodes are spread evenly in d_k / (d_k + d_l), with d the distances in the metrics of the two wells.
    """
    d = wells.centres.shape[1]
    paths = np.empty((len(first), n_nodes, d))
    for rows in _chunks(len(first), 3 * n_nodes * d):
        paths[rows] = _ridgelines(wells, first[rows], second[rows], n_nodes)
    return paths


def _ridgelines(wells: Wells, first: IntArray, second: IntArray, n_nodes: int) -> FloatArray:
    pencils = _Pencils.of(wells, first, second)
    middle, half = pencils.log_odds_range(_TAILS_OF_POLYLINES)
    log_odds = middle[:, None] + np.linspace(-1, 1, 3 * n_nodes) * half[:, None]
    from_k, from_l = (np.sqrt(q) for q in pencils.squared_distances(pencils.at(log_odds)))
    progress = from_k / np.maximum(from_k + from_l, 1e-300)
    y = pencils.at(_interpolate(np.linspace(0, 1, n_nodes)[1:-1], progress, log_odds))
    paths = np.empty((len(first), n_nodes, wells.centres.shape[1]))
    paths[:, 1:-1] = wells.centres[first][:, None] + np.einsum("nij,nmj->nmi", pencils.bases, y)
    paths[:, 0], paths[:, -1] = wells.centres[first], wells.centres[second]
    return paths


def _interpolate(wanted: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Interpolate every row of (x, y), x in [0, 1] and not falling, at the same places."""
    rows = 2.0 * np.arange(len(x))[:, None]
    flat = np.interp((wanted + rows).ravel(), (x + rows).ravel(), y.ravel())
    return flat.reshape(len(x), -1)


def _chunks(n: int, values_each: int) -> Iterator[slice]:
    step = max(1, _CHUNK_VALUES // values_each)
    return (slice(start, start + step) for start in range(0, n, step))
