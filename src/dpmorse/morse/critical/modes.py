"""The modes found so far, each once."""

import numpy as np

from dpmorse.morse.critical.descent import Frames, descend, shift_down
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.strings import relax
from dpmorse.typing import BoolArray, FloatArray, IntArray

_SAME = 1e-4  # distance in the metric A below which two certified points are one mode
_SAME_IF_ROUGH = 1e-2  # likewise where one of them is not certified
_ELSEWHERE = 0.5  # distance of a Newton step from the nearest mode at which another one may hide
_NO_BARRIER = 1e-9  # nats, relative to f: less than this between two modes is rounding
_NO_BARRIER_FLAT = 1e-7  # likewise where f hardly curves
_FLAT = 1e-4  # smallest curvature of a mode that may be part of a valley
_FLAT_NODES, _FLAT_STEPS = 33, 24  # of the string along which a valley is looked at
_FLAT_REACH = 2.0  # how far apart certified points of one flat valley may be to be recognised
_NEIGHBOURS = 8  # modes looked at for that
_MOST_PER_COMPONENT = 4  # more modes than this only valleys flat to rounding have
_CHUNK_VALUES = 1 << 20


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
            free = self._highest(relax(self._landscape, paths, _FLAT_STEPS)) <= level
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
