"""Modes: descents that never rise above where they started, and the modes found so far, each once."""

from dataclasses import dataclass

import numpy as np

from dpmorse.morse.critical.landscape import Landscape, Shapes, relax_strings
from dpmorse.morse.critical.spectra import curvatures_and_axes
from dpmorse.typing import BoolArray, FloatArray, IntArray

# Lengths are in the metric A, in which one standard deviation of a lone component is 1; heights are in nats.
# -- descents --

# Mean-shift steps before Newton's method: they are cheap, need no proof, and bring most points near a mode.
_MEAN_SHIFTS = 6

# Newton steps are no longer than the first, because f is close to a parabola only so far; a step that is
# refused halves the length that is tried next, down to the second.
_LARGEST_STEP, _SMALLEST_STEP = 0.5, 1e-2

# A gradient shorter than this counts as zero, unless rounding alone makes more (``gradient_tolerances``).
_TOLERANCE = 1e-11

# Below this gradient Newton's method is tried although f is not convex: mean shift hardly moves there.
_NEARLY_FLAT = 0.05

# Descents that have not arrived after so many steps are given up, and their ends are not certified.
_MOST_STEPS = 400

# Mean-shift steps are lengthened by this; below 2 the majorant still proves that f does not rise.
_OVER_RELAXATION = 1.8

# Where on a step f is looked at if no majorant covers it: 24 even places, and two near the start, because
# the step may start out uphill.
_CHECKS = np.r_[0.01, 0.02, np.arange(1, 25) / 24]

# -- when two ends are one mode --

# Ends nearer than this are one mode; the second is for ends that are not certified, which may have stopped
# short of it.
_SAME, _SAME_IF_ROUGH = 1e-4, 1e-2

# Another mode may hide where a Newton step ends farther than this from the nearest known mode.
_ELSEWHERE = 0.5

# A rise between two ends of less than this, relative to 1 + |f|, is rounding. Where f hardly curves, ends of
# descents are scattered along the valley, and more is allowed.
_NO_BARRIER, _NO_BARRIER_FLAT = 1e-9, 1e-7

# A mode with a smaller curvature than this may be one of many points of a bent valley. Nodes and steps are
# those of the string that is relaxed to see whether the valley joins two of them; points are compared up to
# this distance, with so many neighbours.
_FLAT, _FLAT_NODES, _FLAT_STEPS, _FLAT_REACH, _NEIGHBOURS = 1e-4, 33, 24, 2.0, 8

# Only valleys that are flat to rounding have more modes than this; beyond, ends count as the nearest mode.
_MOST_PER_COMPONENT = 4

# Differences between points and modes that are held in memory at a time: 8 MB of doubles.
_CHUNK_VALUES = 1 << 20


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
        """Solve ``H v = c A v``; see ``curvatures_and_axes`` for which directions there are."""
        curvatures, axes = curvatures_and_axes(shapes.metrics, shapes.hessians, shapes.gradients)
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
    """Return the length of gradient that counts as zero at each point.

    It is never less than what rounding of the coordinates alone makes: a relative error eps of x changes the
    gradient by about |A eps x|, of length sqrt(x^T diag(A) x) eps in the metric A^-1.
    """
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
    shift takes very long to leave a flat saddle), if they are such or if f falls along 26 points.
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
    """Say which steps the majorant proves to descend (or are too short to matter).

    Along the axes the minimiser of the majorant is at -slopes, so that the condition |y - x - s|_A <= |s|_A
    is |coordinates + slopes| <= |slopes|.
    """
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


class ModeSet:
    """Modes of a landscape in the order in which they were found.

    ``reach`` descends from points and returns the index of the mode each one ends in, adding modes that
    were not known.
    """

    def __init__(self, landscape: Landscape, *, thorough: bool) -> None:
        self._landscape, self._thorough = landscape, thorough
        d = landscape.n_features
        self.points: FloatArray = np.empty((0, d))
        self.metrics: FloatArray = np.empty((0, d, d))
        self.heights: FloatArray = np.empty(0)
        self.certified: BoolArray = np.empty(0, dtype=bool)

    def __len__(self) -> int:
        """Return the number of modes."""
        return len(self.points)

    def reach(self, points: FloatArray) -> IntArray:
        """Return a mode below each point: one that a path in {f <= f(point)} leads to."""
        labels = self._slide(points)
        left = np.flatnonzero(labels < 0)
        lower = shift_down(self._landscape, points[left])
        labels[left] = self._slide(lower)
        lower, left = lower[labels[left] < 0], left[labels[left] < 0]
        ends = descend(self._landscape, lower)
        labels[left] = self._match(ends.points, ends.certified, first=0)
        while np.any(labels[left] < 0):  # a mode seen for the first time may be seen by many points at once
            new = np.flatnonzero(labels[left] < 0)
            seed = new[np.argmax(ends.certified[new])]
            end = ends.points[seed], ends.heights[seed], bool(ends.certified[seed])
            known = self._without_barrier(*end)
            if known < 0:
                self._add(*end)
                known = len(self) - 1
            elif ends.certified[seed]:
                self._lower(known, ends.points[seed], ends.heights[seed])
            labels[left[new]] = self._match(ends.points[new], ends.certified[new], first=len(self) - 1)
            labels[left[seed]] = known
        return labels

    def _lower(self, mode: int, point: FloatArray, height: float) -> None:
        """Let a lower point of the same valley stand for a mode."""
        if height < self.heights[mode]:
            self.points[mode], self.heights[mode] = point, height
            self.metrics[mode] = self._landscape.shapes(point[None]).metrics[0]

    def _without_barrier(self, point: FloatArray, height: float, certified: bool) -> int:
        """Return a known mode to which no barrier leads, -1 if there is none.

        Flat valleys have many certified points; where f between two of them rises by no more than rounding
        they are one mode. A descent that did not arrive belongs to any mode to which f falls from there.
        """
        squared = np.einsum("md,mde,me->m", self.points - point, self.metrics, self.points - point)
        nearest = np.argsort(squared)[:_NEIGHBOURS]
        nearest = nearest[squared[nearest] < _FLAT_REACH**2] if certified else nearest
        if not nearest.size:
            return -1
        if len(self) >= _MOST_PER_COMPONENT * self._landscape.n_components + _NEIGHBOURS:
            return int(nearest[0])
        t = np.linspace(0, 1, _FLAT_NODES)[:, None]
        paths = point + t * (self.points[nearest] - point)[:, None]
        flat = certified and self._is_flat(point)
        tolerance = (_NO_BARRIER_FLAT if flat else _NO_BARRIER) * (1 + abs(height))
        level = np.maximum(height, self.heights[nearest]) + tolerance
        free = self._highest(paths) <= level
        if flat and not free.any():
            free = self._highest(relax_strings(self._landscape, paths, _FLAT_STEPS)) <= level
        return int(nearest[np.argmax(free)]) if free.any() else -1

    def _highest(self, paths: FloatArray) -> FloatArray:
        """Return f at the highest node of each path."""
        heights = self._landscape.heights(paths.reshape(-1, paths.shape[2]))
        highest: FloatArray = heights.reshape(paths.shape[:2]).max(axis=1)
        return highest

    def _is_flat(self, point: FloatArray) -> bool:
        """Say whether f hardly curves in some direction: then valleys may bend."""
        return bool(Frames.of(self._landscape.shapes(point[None])).curvatures[0, 0] < _FLAT)

    def guess(self, points: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the nearest mode of each point, and where another mode may hide."""
        nearest, _ = self._nearest(points)
        return nearest, self._hides(points, nearest)

    def _slide(self, points: FloatArray) -> IntArray:
        """Return the nearest mode if f falls all the way along the straight line to it, else -1.

        Where f is convex, a mode may hide close by: there only a mode near the Newton step counts.
        """
        labels = np.full(len(points), -1, dtype=np.int64)
        if len(self) and len(points) and not self._thorough:
            nearest, _ = self._nearest(points)
            straight = np.stack([points, self.points[nearest]], axis=1)
            positions, _, counts = self._landscape.extrema(straight)
            falls = (counts == 1) & (positions[:, 0] > 1 - 1e-6) & ~self._hides(points, nearest)
            labels[falls] = nearest[falls]
        return labels

    def _hides(self, points: FloatArray, nearest: IntArray) -> BoolArray:
        """Say where f is convex and its Newton step leads elsewhere than to the nearest mode."""
        shapes = self._landscape.shapes(points)
        frames = Frames.of(shapes)
        convex = frames.curvatures[:, 0] > 0
        step = frames.to_steps(-frames.slopes / np.maximum(frames.curvatures, 1e-3))
        beyond = self.points[nearest] - (points + step)
        squared = np.einsum("nd,nde,ne->n", beyond, shapes.metrics, beyond)
        hides: BoolArray = convex & (squared > _ELSEWHERE**2)
        return hides

    def _add(self, point: FloatArray, height: float, certified: bool) -> None:
        metric = self._landscape.shapes(point[None]).metrics
        self.points = np.vstack([self.points, point])
        self.metrics = np.concatenate([self.metrics, metric])
        self.heights = np.append(self.heights, height)
        self.certified = np.append(self.certified, certified)

    def _match(self, points: FloatArray, certified: BoolArray, first: int) -> IntArray:
        """Return which of the known modes, from the ``first`` on, each point is, or -1."""
        if first == len(self) or not len(points):
            return np.full(len(points), -1, dtype=np.int64)
        nearest, distances = self._nearest(points, first)
        shapes = self._landscape.shapes(points)
        away = points - self.points[nearest]
        from_point = np.sqrt(np.einsum("nd,nde,ne->n", away, shapes.metrics, away))
        same = np.where(certified & self.certified[nearest], _SAME, _SAME_IF_ROUGH)
        # In both metrics: a needle may sit beside a broad mode.
        return np.where(np.maximum(distances, from_point) < same, nearest, -1)

    def _nearest(self, points: FloatArray, first: int = 0) -> tuple[IntArray, FloatArray]:
        """Return the mode, from the ``first`` on, nearest to each point in its own metric, and how near."""
        nearest, distances = np.empty(len(points), dtype=np.int64), np.empty(len(points))
        modes, metrics = self.points[first:], self.metrics[first:]
        step = max(1, _CHUNK_VALUES // modes.size)
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            away = points[rows, None, :] - modes
            squared = np.einsum("nmd,nmd->nm", np.einsum("nmd,mde->nme", away, metrics), away)
            nearest[rows], distances[rows] = first + squared.argmin(axis=1), np.sqrt(squared.min(axis=1))
        return nearest, distances
