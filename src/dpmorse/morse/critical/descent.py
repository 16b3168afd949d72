"""From any point down to a mode, without ever rising above where it started."""

from dataclasses import dataclass

import numpy as np

from dpmorse.morse.critical.landscape import Landscape, Shapes
from dpmorse.typing import BoolArray, FloatArray

_MEAN_SHIFTS = 6  # enough to bring most points near their modes
_LARGEST_STEP = 0.5
_SMALLEST_STEP = 1e-2
_TOLERANCE = 1e-11
_NEARLY_FLAT = 0.05
_MOST_STEPS = 400
_OVER_RELAXATION = 1.8  # below 2 the majorant still proves descent
_CHECKS = np.r_[0.01, 0.02, np.arange(1, 25) / 24]


@dataclass(frozen=True)
class Frames:
    """Eigenvectors of the Hessian in the metric A: ``curvatures`` ascending, at most 1.

    ``axes[n, :, i]`` are A-orthonormal; ``slopes`` are the components of the gradient along them.
    """

    curvatures: FloatArray
    axes: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, shapes: Shapes) -> "Frames":
        """Diagonalise the Hessian in the metric."""
        inverse = np.linalg.inv(np.linalg.cholesky(shapes.metrics))
        transposed = inverse.swapaxes(1, 2)
        whitened = inverse @ shapes.hessians @ transposed
        curvatures, vectors = np.linalg.eigh((whitened + whitened.swapaxes(1, 2)) / 2)
        axes = transposed @ vectors
        return cls(curvatures, axes, np.einsum("nde,nd->ne", axes, shapes.gradients))

    def gradient_norms(self) -> FloatArray:
        """Return the length of the gradient in the metric A^-1."""
        norms: FloatArray = np.linalg.norm(self.slopes, axis=1)
        return norms

    def to_steps(self, coordinates: FloatArray) -> FloatArray:
        """Return steps given by their coordinates along the axes."""
        steps: FloatArray = np.einsum("nde,ne->nd", self.axes, coordinates)
        return steps


def gradient_tolerances(points: FloatArray, metrics: FloatArray, tolerance: float) -> FloatArray:
    """Return the gradient that counts as zero: never less than the rounding of the points themselves."""
    rounding = 8 * np.finfo(float).eps * np.sqrt(np.einsum("ndd,nd->n", metrics, points * points))
    tolerances: FloatArray = np.maximum(tolerance, rounding)
    return tolerances


@dataclass(frozen=True)
class Descents:
    """Where descents ended; ``certified`` where the gradient vanishes and the Hessian is positive."""

    points: FloatArray
    heights: FloatArray
    certified: BoolArray


def shift_down(landscape: Landscape, points: FloatArray) -> FloatArray:
    """Return the points after a few mean-shift steps, each on a segment that stays below its start."""
    points = np.array(points)
    for _ in range(_MEAN_SHIFTS if len(points) else 0):
        points += landscape.shapes(points).mean_shift()
    return points


def descend(landscape: Landscape, points: FloatArray) -> Descents:
    r"""Follow a path in {f <= f(start)} from each point to a mode.

    With the EM majorant ``f(y) <= f(x) + Q(y|x) - Q(x|x)``, Q quadratic with Hessian A(x) and minimiser
    ``x + shift``, the segment from x to y stays below f(x) whenever y is no farther from the minimiser than
    x in the metric A. Mean-shift steps, also over-relaxed by less than 2, are such. Newton steps, with
    curvatures made positive, are taken where the Hessian is positive or the gradient nearly vanishes (mean
    shift would take for ever to leave a flat saddle), if they are such or if f falls along 26 points.
    """
    points = np.array(points)
    heights, certified = np.full(len(points), np.inf), np.zeros(len(points), dtype=bool)
    radii, active = np.full(len(points), _LARGEST_STEP), np.arange(len(points))
    for _ in range(_MOST_STEPS):
        if not active.size:
            break
        shapes = landscape.shapes(points[active])
        frames = Frames.of(shapes)
        heights[active] = shapes.heights
        flat = frames.gradient_norms() < gradient_tolerances(points[active], shapes.metrics, _TOLERANCE)
        done = flat & (frames.curvatures[:, 0] > 0)
        certified[active[done]] = True
        steps, radii[active] = _steps(
            landscape, points[active], shapes.heights, frames, flat, radii=radii[active]
        )
        points[active[~done]] += steps[~done]
        active = active[~done]
    return Descents(points, heights, certified)


def _steps(
    landscape: Landscape,
    points: FloatArray,
    heights: FloatArray,
    frames: Frames,
    flat: BoolArray,
    *,
    radii: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the next step of each descent and the longest Newton step it will try after this one."""
    coordinates = -frames.slopes / np.maximum(np.abs(frames.curvatures), 1e-4)
    on_saddle = flat & (frames.curvatures[:, 0] <= 0)
    coordinates[on_saddle, 0] = 1e-3  # push off
    lengths = np.linalg.norm(coordinates, axis=1)
    coordinates *= np.minimum(1, radii / np.maximum(lengths, 1e-300))[:, None]
    steps = frames.to_steps(coordinates)
    refused = (frames.curvatures[:, 0] <= 0) & ~on_saddle & (frames.gradient_norms() > _NEARLY_FLAT)
    doubtful = np.flatnonzero(~refused & ~_proved(frames, coordinates))
    refused[doubtful] = ~_falls(landscape, points[doubtful], heights[doubtful], steps[doubtful])
    steps[refused] = -_OVER_RELAXATION * np.einsum("nde,ne->nd", frames.axes[refused], frames.slopes[refused])
    shrunk, grown = np.maximum(radii / 2, _SMALLEST_STEP), np.minimum(radii * 1.5, _LARGEST_STEP)
    return steps, np.where(refused, shrunk, grown)


def _proved(frames: Frames, coordinates: FloatArray) -> BoolArray:
    """Say which steps the majorant proves to descend (or are too short to matter)."""
    to_minimiser = ((coordinates + frames.slopes) ** 2).sum(axis=1)
    inside = to_minimiser <= (frames.slopes**2).sum(axis=1) * (1 + 1e-12)
    proved: BoolArray = inside | (np.linalg.norm(coordinates, axis=1) < 1e-4)
    return proved


def _falls(landscape: Landscape, points: FloatArray, heights: FloatArray, steps: FloatArray) -> BoolArray:
    """Say along which steps f never rises, at 26 points of each."""
    if not len(points):
        return np.zeros(0, dtype=bool)
    between = points[:, None] + _CHECKS[None, :, None] * steps[:, None]
    along = landscape.heights(between.reshape(-1, points.shape[1])).reshape(len(points), -1)
    rises = np.diff(np.c_[heights, along], axis=1).max(axis=1)
    falls: BoolArray = rises <= 1e-12 * (1 + np.abs(heights))
    return falls
