"""Modes: descents that never rise above where they started, the modes found so far, and their basins."""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.critical import _kernels
from dpmorse.morse.critical.landscape import FARTHEST, Landscape, relax_strings
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.typing import BoolArray, FloatArray, IntArray

# Cost of a walk, in evaluations of f.
_WALK = 30

# -- when two ends are one mode: lengths are in the metric A, in which one standard deviation of a lone
# component is 1; heights are in nats --

# Ends nearer than this are one mode; the second is for ends that are not certified, which may have stopped
# short of it.
_SAME, _SAME_IF_ROUGH = 1e-4, 1e-2

# Another mode may hide where a Newton step ends farther than this from the nearest known mode.
_ELSEWHERE = 0.5

# A rise between two ends of less than this, relative to 1 + |f|, is rounding. Where f hardly curves, ends of
# descents are scattered along the valley, and more is allowed.
_NO_BARRIER, _NO_BARRIER_FLAT = 1e-9, 1e-7

# A mode with a smaller curvature than the first may be one of many points of a bent valley. Nodes and steps
# are those of the string that is relaxed to see whether the valley joins two such points; the last two are
# the largest distance between points that are compared, and the number of neighbours of each.
_FLAT, _FLAT_NODES, _FLAT_STEPS, _FLAT_REACH, _NEIGHBOURS = 1e-4, 33, 24, 2.0, 8

# Only valleys that are flat to rounding have more modes than this; beyond, ends count as the nearest mode.
_MOST_PER_COMPONENT = 4

# Differences between points and modes that are held in memory at a time: 8 MB of doubles.
_CHUNK_VALUES = 1 << 20

# Points that descend together: a bound of the memory. More than a few thousand are not faster.
_POINTS = 4096


@dataclass(frozen=True)
class Descents:
    """Ends of descents; ``certified`` where the gradient vanishes and the Hessian is positive."""

    points: FloatArray
    heights: FloatArray
    certified: BoolArray


def shift_down(landscape: Landscape, points: FloatArray) -> FloatArray:
    """Return the points after a few mean-shift steps, each on a segment that stays below its start."""
    points = np.array(points)
    landscape.walk(_kernels.SHIFT, points, weight=_WALK)
    return points


def descend(landscape: Landscape, points: FloatArray) -> Descents:
    r"""Follow a path in {f <= f(start)} from each point to a mode.

    With the EM majorant ``f(y) <= f(x) + Q(y|x) - Q(x|x)``, Q quadratic with Hessian A(x) and minimiser
    ``x + shift``, the segment from x to y stays below f(x) whenever y is no farther from the minimiser than
    x in the metric A. This holds for mean-shift steps, also over-relaxed by less than 2. Newton steps, with
    curvatures made positive, are tried where the Hessian is positive or the gradient nearly vanishes (mean
    shift takes very long to leave a flat saddle), and taken if it holds for them or f falls along 26 points.
    """
    points = np.array(points)
    return Descents(points, *landscape.walk(_kernels.DESCEND, points, weight=_WALK))


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
            elif ends.certified[seed] and ends.heights[seed] < self.heights[known]:
                # a lower point of the same valley stands for the mode
                self.points[known], self.heights[known] = ends.points[seed], ends.heights[seed]
                self.metrics[known] = self._landscape.shapes(ends.points[seed][None]).metrics[0]
            labels[left[new]] = self._match(ends.points[new], ends.certified[new], first=len(self) - 1)
            labels[left[seed]] = known
        return labels

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
        # where f hardly curves in some direction, valleys may bend
        flat = certified and bool(self._landscape.newton_steps(point[None]).curvatures[0] < _FLAT)
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
        ahead = self._landscape.newton_steps(points)
        squared = self._landscape.squared_lengths(points, self.points[nearest] - (points + ahead.steps))
        hides: BoolArray = (ahead.curvatures > 0) & (squared > _ELSEWHERE**2)
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
        same = np.where(certified & self.certified[nearest], _SAME, _SAME_IF_ROUGH)
        near = np.flatnonzero(distances < same)
        # In both metrics: a needle may sit beside a broad mode.
        squared = self._landscape.squared_lengths(points[near], points[near] - self.points[nearest[near]])
        near = near[np.sqrt(squared) < same[near]]
        labels = np.full(len(points), -1, dtype=np.int64)
        labels[near] = nearest[near]
        return labels

    def _nearest(self, points: FloatArray, first: int = 0) -> tuple[IntArray, FloatArray]:
        """Return the mode, from the ``first`` on, nearest to each point in its own metric, and how near."""
        nearest, distances = np.empty(len(points), dtype=np.int64), np.empty(len(points))
        modes, metrics = self.points[first:], self.metrics[first:]
        step = max(1, _CHUNK_VALUES // modes.size)
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            away = points[rows] - modes[:, None]
            squared = np.einsum("mnd,mnd->mn", away @ metrics, away)
            nearest[rows], distances[rows] = first + squared.argmin(axis=0), np.sqrt(squared.min(axis=0))
        return nearest, distances


def basins(mixture: GaussianMixture, modes: FloatArray, X: FloatArray) -> IntArray:
    """Return which of the given modes has each point in its basin; -1 for a mode that is not given.

    Basins are those of a descent that never rises: mean shift, then Newton's method where f is convex.
    """
    landscape = Landscape(mixture)
    found_modes = ModeSet(landscape, thorough=True)
    known = found_modes.reach(landscape.to_whitened(modes))
    reached = np.empty(len(X), dtype=np.int64)
    for start in range(0, len(X), _POINTS):
        rows = slice(start, start + _POINTS)
        reached[rows] = found_modes.reach(np.clip(landscape.to_whitened(X[rows]), -FARTHEST, FARTHEST))
    number = np.full(len(found_modes), -1, dtype=np.int64)
    number[known] = np.arange(len(known))
    return number[reached]


def label_by_basin(
    mixture: GaussianMixture, points: CriticalPoints, bare_modes: IntArray, labels: IntArray, X: FloatArray
) -> IntArray:
    """Return the cluster of the basin each point is in; ``labels`` are those of a cut of the tree.

    They are of components, followed by modes without component, ``bare_modes``. Where the cut splits a mode,
    its most probable component decides; points whose descent ends in a mode that is not known are labelled
    by their component.
    """
    modes = basins(mixture, points.modes, X)
    logs = mixture.component_log_densities(X)
    outside = points.component_modes != modes[:, None]
    logs[outside & (modes[:, None] >= 0)] = -np.inf
    found: IntArray = labels[logs.argmax(axis=1)]
    for mode, cluster in zip(bare_modes, labels[mixture.n_components :], strict=True):
        found[modes == mode] = cluster
    return found
