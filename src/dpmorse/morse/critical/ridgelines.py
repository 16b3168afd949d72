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

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.morse.critical import _well_kernels
from dpmorse.morse.critical._well_kernels import Wells
from dpmorse.typing import FloatArray, IntArray

# Multiplications that are worth a thread of their own, and how many a pair takes, of columns cubed: most of
# them to diagonalise two wells together.
_WORK_PER_THREAD, _PER_PAIR = 1 << 19, 20


def wells_with(centres: FloatArray, whiteners: FloatArray, floors: FloatArray) -> Wells:
    """Return quadratic wells: centres (n, D), whiteners (n, D, D), floors (n,)."""
    whiteners = np.ascontiguousarray(whiteners)  # one layout, and code is compiled once
    return Wells(centres, whiteners, np.asarray(np.linalg.inv(whiteners), dtype=np.float64), floors)


def _over_pairs(
    fill: Callable[..., None], wells: Wells, first: IntArray, second: IntArray, *found: Any
) -> None:
    """Fill arrays with what is found of each pair of wells, divided among threads."""
    smallest = max(1, _WORK_PER_THREAD // (_PER_PAIR * wells.centres.shape[1] ** 3))
    over_rows(partial(fill, wells, first, second, *found), len(first), smallest)


def touchings(wells: Wells, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the level at which ``{f_k <= t}`` and ``{f_l <= t}`` first touch, and where both are equal.

    On the ridgeline max(f_k, f_l) is smallest where both are equal; where a floor lies higher than the
    other well is there, the floor is the level.
    """
    found = np.empty(len(first)), np.empty((len(first), wells.centres.shape[1]))
    _over_pairs(_well_kernels.fill_touchings, wells, first, second, *found)
    return found


def crossing_bounds(wells: Wells, first: IntArray, second: IntArray, levels: FloatArray) -> FloatArray:
    """Return the lower bounds b_kl of f at any crossing between components k and l.

    ``levels`` are those at which wells touch, of every pair.
    """
    touching = np.diag(wells.floors)
    touching[first, second] = touching[second, first] = levels
    bounds = np.empty_like(touching)
    over_rows(partial(_well_kernels.fill_crossing_bounds, touching, bounds), len(touching), smallest=64)
    return np.asarray(bounds[first, second])


def ridgelines(wells: Wells, first: IntArray, second: IntArray, n_nodes: int) -> FloatArray:
    """Return polylines (n_pairs, n_nodes, D) along the ridgelines from centre to centre.

    Nodes are spread evenly in d_k / (d_k + d_l), with d the distances in the metrics of the two wells.
    """
    paths = np.empty((len(first), n_nodes, wells.centres.shape[1]))
    _over_pairs(_well_kernels.fill_ridgelines, wells, first, second, paths)
    return paths
