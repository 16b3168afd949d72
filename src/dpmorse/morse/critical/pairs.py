r"""Which pairs of components can hold a pass that matters: bounds that need no search.

Let t_kl be the level at which the ellipsoids of components k and l touch. On the ridgeline f <= t_kl, so
the bottleneck over t bounds the barrier between two centres from above. A path that leaves the region
where component k is the largest for that of l does so at a point x with f_k(x) = f_l(x) = v <= f_j(x)
for all j. There v >= t_kl, and f_j(x) >= t_jk unless v >= t_jk (of two ellipsoids below their touching
level a point is in one at most), likewise for l; so

.. math:: f(x) = -\ln \sum_j e^{-f_j(x)} \ge -\ln \sum_j e^{-\max(t_{kl}, t_{jk}, t_{jl})} =: b_{kl},

the right side growing with v. A pair whose b_kl lies above a barrier already known between k and l can be
left out: no path that changes from k to l directly is lower.
"""

import numpy as np

from dpmorse._threads import over_rows
from dpmorse.morse.critical import _kernels
from dpmorse.morse.critical.ridgelines import Wells, touching_levels
from dpmorse.typing import FloatArray


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

    def fill(start: int, stop: int) -> None:
        _kernels.fill_crossing_bounds(levels, start, stop, bounds)

    over_rows(fill, len(levels), smallest=64)
    return bounds
