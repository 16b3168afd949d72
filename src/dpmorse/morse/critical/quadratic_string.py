"""Algorithm 3 of Byun, Choi and Lee, as it is printed: a quadratic string between every two centres.

Kept as the reference that the search along ridgelines improves on; see ``docs/morse.md``. For each pair of
centres: the highest of 20 points on the segment, a short integration of the flow, five times the quadratic
string through the point so found, then Newton's method for grad f = 0. Two things are not the paper's: pairs
are computed in batches, and the flow is that of the metric A, so that the result does not depend on units.
"""

from collections.abc import Iterator

import numpy as np

from dpmorse.morse.critical.landscape import FARTHEST, Landscape
from dpmorse.morse.critical.spectra import curvatures_and_axes
from dpmorse.typing import FloatArray

# The paper's m and tau_2: points between the ends of a string, and how often a string is drawn.
_INTERIOR_POINTS, _ROUNDS = 20, 5

# How long the flow is followed after each string; in the metric A, one unit of time is one mean-shift step.
_SHORT_TIME = 0.5

# Newton steps before a solution is given up, and the gradient that counts as zero.
_ROOT_STEPS, _TOLERANCE = 100, 1e-10

# Pairs of centres that are followed at a time, which bounds memory.
_BATCH = 4096


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
