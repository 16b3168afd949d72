"""Ways between modes: crests of paths, and the saddles that climbs from there lead to.

A crest is a local maximum of f along a path. Its height is an upper bound of the pass between the modes on
either side: the lowest saddle over which the two connect. From a crest, Newton steps that climb along one
direction and descend along all others lead to a saddle of index 1, which is then certified.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.morse.critical import _kernels
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.typing import FloatArray, IntArray

# The two descents that certify a saddle start at this distance from it, on either side.
_ASIDE = 0.02

# Cost of a climb, in evaluations of f.
_CLIMB = 100

# Two climbs ended in one saddle if heights agree to the first (relative to 1 + |f|) and places to the second.
_SAME_HEIGHT, _SAME_PLACE = 1e-7, 1e-4


@dataclass(frozen=True)
class Crests:
    """Local maxima of f along paths.

    A path from mode ``left`` to mode ``right`` crosses the crest, so that ``heights`` are upper bounds of the
    pass between the two modes: the lowest saddle over which they connect.
    """

    points: FloatArray
    tangents: FloatArray
    heights: FloatArray
    left: IntArray
    right: IntArray

    def __len__(self) -> int:
        return len(self.heights)

    def __getitem__(self, rows: object) -> "Crests":
        return Crests(*(column[rows] for column in vars(self).values()))

    def __add__(self, other: "Crests") -> "Crests":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Crests(*map(np.concatenate, pairs))

    def lowest_between_modes(self, most: int) -> IntArray:
        """Return up to ``most`` crests between any two modes, the lowest."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        order = np.lexsort((self.heights, high, low))
        places = np.arange(len(order))
        changes = np.diff(low[order], prepend=-1).astype(bool) | np.diff(high[order], prepend=-1).astype(bool)
        rank = places - np.maximum.accumulate(np.where(changes, places, 0))
        return order[rank < most]


def find_crests(
    landscape: Landscape,
    modes: ModeSet,
    paths: FloatArray,
    ends: IntArray,
    highest: FloatArray | None = None,
) -> Crests:
    """Find the local maxima of f on the paths that separate two modes.

    Parameters
    ----------
    paths : ndarray of shape (n_paths, n_nodes, n_features)
        Polylines, whitened.
    ends : ndarray of shape (n_paths, 2)
        The modes below the first and the last node of each path.
    highest : ndarray of shape (n_modes, n_modes) or None
        Maxima higher than this between two modes are left out. Modes are guessed first; the costly descents
        are made only for the other maxima and wherever a mode may hide.

    Each minimum along a path is descended to its mode, which may be one not known before.
    """
    positions, heights, counts = landscape.extrema(paths)
    owner, rank = np.nonzero(np.arange(positions.shape[1]) < counts[:, None])
    position, height = positions[owner, rank], heights[owner, rank]
    labels = np.full(len(owner), -1, dtype=np.int64)  # the mode below each minimum; maxima have none
    first = (rank % 2 == 0) & (position <= 0)
    last = (rank % 2 == 0) & (position >= paths.shape[1] - 1)
    labels[first], labels[last] = ends[owner[first], 0], ends[owner[last], 1]
    inside = np.flatnonzero((labels < 0) & (rank % 2 == 0))
    points, _ = _on_paths(paths, owner[inside], position[inside])
    tops = np.flatnonzero(rank % 2 == 1)
    wanted = np.ones(len(owner), dtype=bool)
    if highest is not None:
        labels[inside], hides = modes.guess(points)
        low = height[tops] <= highest[labels[tops - 1], labels[tops + 1]]
        tops = tops[low & (labels[tops - 1] != labels[tops + 1])]
        wanted[:] = False
        wanted[inside[hides]] = wanted[tops - 1] = wanted[tops + 1] = True
    exact = wanted[inside]
    labels[inside[exact]] = modes.reach(points[exact])
    tops = tops[labels[tops - 1] != labels[tops + 1]]
    points, tangents = _on_paths(paths, owner[tops], position[tops])
    return Crests(points, tangents, height[tops], labels[tops - 1], labels[tops + 1])


def _on_paths(paths: FloatArray, owner: IntArray, position: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points at positions along paths, and the directions there."""
    piece = np.minimum(position.astype(np.int64), paths.shape[1] - 2)
    directions = paths[owner, piece + 1] - paths[owner, piece]
    return paths[owner, piece] + (position - piece)[:, None] * directions, directions


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

    def search(self, points: FloatArray, tangents: FloatArray) -> None:
        """Look for a saddle near each point, climbing along its tangent; keep what can be certified.

        A climb follows the eigenvector nearest to the tangent uphill, all others downhill, to a critical
        point. Along axis i of curvature c_i and slope g_i the step is -g_i / |c_i|, downhill whatever the
        sign of c_i; along the chosen axis it is +g_i / |c_i|, uphill.
        """
        if not len(points):
            return
        points, downhill = np.array(points), np.array(tangents)  # f falls along these to both sides
        heights, converged = self._landscape.walk(_kernels.CLIMB, points, downhill, weight=_CLIMB)
        new = self._new(points, heights, np.flatnonzero(converged))
        aside = _ASIDE * downhill[new]
        labels = self._modes.reach(np.vstack([points[new] + aside, points[new] - aside]))
        ends = labels.reshape(2, -1).T
        sure = self._modes.certified[ends].all(axis=1)
        self.points = np.vstack([self.points, points[new[sure]]])
        self.heights = np.append(self.heights, heights[new[sure]])
        self.ends = np.vstack([self.ends, ends[sure]])

    def _new(self, points: FloatArray, heights: FloatArray, arrived: IntArray) -> IntArray:
        """Return which climbs ended in saddles not known before, one for each saddle."""
        points = np.vstack([self.points, points[arrived]])
        heights, n_known = np.append(self.heights, heights[arrived]), len(self.heights)
        # Only climbs in one run of heights that agree may have ended in one saddle.
        order = np.argsort(heights, kind="stable")
        gaps = np.diff(heights[order], prepend=-np.inf) >= _SAME_HEIGHT * (1 + np.abs(heights[order]))
        runs, left = np.empty(len(heights), dtype=np.int64), np.arange(len(points))
        runs[order] = np.cumsum(gaps)
        distinct = left < n_known
        while left.size:
            _, first, run = np.unique(runs[left], return_index=True, return_inverse=True)
            distinct[left[first]] = True  # the first of each run; others may be the same saddle
            away = points[left[first[run]]] - points[left]
            left = left[self._landscape.squared_lengths(points[left], away) >= _SAME_PLACE**2]
        return arrived[distinct[n_known:]]
