"""Algorithm 3 of Byun, Choi and Lee: a quadratic string between every two centres."""

import numpy as np

from dpmorse.morse.critical.descent import Frames, gradient_tolerances
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.search import Search
from dpmorse.typing import FloatArray

_INTERIOR_POINTS = 20  # m
_ROUNDS = 5  # tau_2
_SHORT_TIME = 0.5  # of the flow in the metric A, whose unit is one mean-shift step
_ROOT_STEPS = 100
_BATCH = 4096


class QuadraticStringSearch(Search):
    """The paper's search, pair by pair, batched; kept as the reference that ridgelines improve on.

    For each pair of centres: the highest of 20 points on the segment, a short integration of the flow, five
    times the quadratic string through the point so found, then Newton's method for grad f = 0. Solutions
    with one negative eigenvalue whose two descents end in different modes are edges. Modes are those below
    centres, and those that descents happen to reveal. The flow is that of the metric A, so that the
    result does not depend on units; descents are certified. What it leaves unconnected is joined
    by straight lines, flagged.
    """

    def __init__(self, landscape: Landscape) -> None:
        super().__init__(landscape)

    def _explore(self) -> None:
        first, second = np.triu_indices(self.landscape.n_components, 1)
        for start in range(0, len(first), _BATCH):
            rows = slice(start, start + _BATCH)
            a, b = self.landscape.centres[first[rows]], self.landscape.centres[second[rows]]
            points = self._highest(a, b, (a + b) / 2)
            for _ in range(_ROUNDS):
                points = self._highest(a, b, points)
            roots = self._solve(points)
            self.saddles.search(roots, np.zeros_like(roots))

    def _highest(self, a: FloatArray, b: FloatArray, through: FloatArray) -> FloatArray:
        """Return the highest of the points on x(s) = a + s u + (s - s^2)(4 v - 2 u), after a short flow."""
        s = np.linspace(0, 1, _INTERIOR_POINTS + 2)[1:-1, None]
        u, v = (b - a)[:, None], (through - a)[:, None]
        string = a[:, None] + s * u + (s - s * s) * (4 * v - 2 * u)
        heights = self.landscape.heights(string.reshape(-1, a.shape[1])).reshape(len(a), -1)
        points: FloatArray = string[np.arange(len(a)), heights.argmax(axis=1)]
        return points + _SHORT_TIME * self.landscape.shapes(points).mean_shift()

    def _solve(self, points: FloatArray) -> FloatArray:
        """Return where Newton's method for grad f = 0 arrives, if it does."""
        points = np.array(points)
        solved = np.zeros(len(points), dtype=bool)
        for _ in range(_ROOT_STEPS):
            shapes = self.landscape.shapes(points)
            frames = Frames.of(shapes)
            solved = frames.gradient_norms() < gradient_tolerances(points, shapes.metrics, 1e-10)
            if solved.all():
                break
            curvatures = np.where(np.abs(frames.curvatures) < 1e-8, 1e-8, frames.curvatures)
            points[~solved] += frames.to_steps(-frames.slopes / curvatures)[~solved]
            points = np.where(np.abs(points) < 1e6, points, 0.0)
        return points[solved]
