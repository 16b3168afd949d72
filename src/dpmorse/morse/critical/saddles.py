"""Index-1 saddles: Newton steps that climb along one direction and descend along all others."""

from dataclasses import dataclass

import numpy as np

from dpmorse.morse.critical.descent import Frames, gradient_tolerances
from dpmorse.morse.critical.landscape import Landscape, Shapes
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.typing import BoolArray, FloatArray, IntArray

_MOST_STEPS = 60
_LARGEST_STEP = 0.5
_SMALLEST_STEP = 0.02
_FLATTEST = 1e-3  # curvatures count as at least this much when a step is computed
_TOLERANCE = 1e-10
_ASIDE = 0.02  # how far from a saddle its two descents start
_SAME_HEIGHT = 1e-7
_SAME_PLACE = 1e-4


@dataclass(frozen=True)
class Climbs:
    """Where climbs ended; ``converged`` at points with zero gradient and one negative curvature."""

    points: FloatArray
    heights: FloatArray
    converged: BoolArray
    metrics: FloatArray
    downhill: FloatArray


class SaddleSet:
    """Certified saddles of a landscape, each once.

    A saddle is certified if the gradient vanishes to rounding, exactly one eigenvalue of the Hessian is
    negative, and descents to both sides end in certified modes, its ``ends``. Both may be the same mode:
    such a saddle joins nothing, and is kept only to be recognised.
    """

    def __init__(self, landscape: Landscape, modes: ModeSet) -> None:
        self._landscape, self._modes = landscape, modes
        self.points: FloatArray = np.empty((0, landscape.n_features))
        self.heights: FloatArray = np.empty(0)
        self.ends: IntArray = np.empty((0, 2), dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of saddles."""
        return len(self.heights)

    def search(self, points: FloatArray, tangents: FloatArray) -> None:
        """Look for a saddle near each point, climbing along its tangent; keep what can be certified."""
        if not len(points):
            return
        climbs = climb(self._landscape, points, tangents)
        new = self._new(climbs)
        aside = _ASIDE * climbs.downhill[new]
        labels = self._modes.reach(np.vstack([climbs.points[new] + aside, climbs.points[new] - aside]))
        ends = labels.reshape(2, -1).T
        sure = self._modes.certified[ends].all(axis=1)
        self.points = np.vstack([self.points, climbs.points[new[sure]]])
        self.heights = np.append(self.heights, climbs.heights[new[sure]])
        self.ends = np.vstack([self.ends, ends[sure]])

    def _new(self, climbs: Climbs) -> IntArray:
        """Return the climbs that ended in saddles not known before, one for each saddle."""
        arrived = np.flatnonzero(climbs.converged)
        points = np.vstack([self.points, climbs.points[arrived]])
        heights = np.append(self.heights, climbs.heights[arrived])
        distinct = np.arange(len(points)) < len(self)
        for place, i in enumerate(arrived, len(self)):
            same_height = np.abs(heights - heights[place]) < _SAME_HEIGHT * (1 + abs(heights[place]))
            away = points[distinct & same_height] - points[place]
            squared = np.einsum("nd,de,ne->n", away, climbs.metrics[i], away)
            distinct[place] = not np.any(squared < _SAME_PLACE**2)
        return arrived[distinct[len(self) :]]


def climb(landscape: Landscape, points: FloatArray, tangents: FloatArray) -> Climbs:
    """Follow the eigenvector nearest to each tangent uphill, all others downhill, to a critical point."""
    points, tangents = np.array(points), np.array(tangents)
    n, d = points.shape
    ends = Climbs(points, np.full(n, np.inf), np.zeros(n, bool), np.zeros((n, d, d)), np.zeros((n, d)))
    radii, norms, active = np.full(n, _LARGEST_STEP), np.full(n, np.inf), np.arange(n)
    for _ in range(_MOST_STEPS):
        if not active.size:
            break
        shapes = landscape.shapes(points[active])
        frames = Frames.of(shapes)
        norm = frames.gradient_norms()
        flat = norm < gradient_tolerances(points[active], shapes.metrics, _TOLERANCE)
        negative = (frames.curvatures < 0).sum(axis=1)
        _note(ends, active, shapes, frames, flat & (negative == 1))
        grew = norm > 1.5 * norms[active]
        shrunk, grown = radii[active] / 2, radii[active] * 1.3
        radii[active] = np.clip(np.where(grew, shrunk, grown), _SMALLEST_STEP, _LARGEST_STEP)
        norms[active] = norm
        uphill = _uphill(frames, np.einsum("nde,ne->nd", shapes.metrics, tangents[active]), negative)
        tangents[active] = frames.axes[np.arange(len(active)), :, uphill]
        points[active[~flat]] += _steps(frames, uphill, radii[active])[~flat]
        active = active[~flat]
    return ends


def _note(ends: Climbs, active: IntArray, shapes: Shapes, frames: Frames, at_saddle: BoolArray) -> None:
    """Write down where the climbs are now."""
    ends.heights[active], ends.metrics[active] = shapes.heights, shapes.metrics
    ends.downhill[active], ends.converged[active] = frames.axes[:, :, 0], at_saddle


def _uphill(frames: Frames, tangents: FloatArray, negative: IntArray) -> IntArray:
    """Choose the axis to climb: the one most along the tangent, a negative one where there is one."""
    along = np.abs(np.einsum("nde,nd->ne", frames.axes, tangents))
    along = np.where((negative[:, None] > 0) & (frames.curvatures >= 0), -1.0, along)
    chosen: IntArray = along.argmax(axis=1)
    return chosen


def _steps(frames: Frames, uphill: IntArray, radii: FloatArray) -> FloatArray:
    """Return Newton steps with the chosen axis reversed, no longer than the radii."""
    coordinates = -frames.slopes / np.maximum(np.abs(frames.curvatures), _FLATTEST)
    coordinates[np.arange(len(uphill)), uphill] *= -1
    lengths = np.linalg.norm(coordinates, axis=1)
    coordinates *= np.minimum(1, radii / np.maximum(lengths, 1e-300))[:, None]
    return frames.to_steps(coordinates)
