"""Highest points of paths, between the modes on either side of them."""

from dataclasses import dataclass, fields

import numpy as np

from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Passes:
    """Local maxima of f along paths. ``height`` bounds the barrier between modes ``left`` and ``right``."""

    points: FloatArray
    tangents: FloatArray
    heights: FloatArray
    left: IntArray
    right: IntArray

    @classmethod
    def none(cls, n_features: int) -> "Passes":
        """Return an empty collection."""
        nothing, empty = np.empty((0, n_features)), np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), empty, empty)

    def __len__(self) -> int:
        """Return the number of passes."""
        return len(self.heights)

    def __getitem__(self, rows: object) -> "Passes":
        """Return some of the passes."""
        return Passes(*(getattr(self, field.name)[rows] for field in fields(self)))

    def __add__(self, other: "Passes") -> "Passes":
        """Return both collections as one."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Passes(*(np.concatenate(pair) for pair in pairs))

    def lowest_between_modes(self, most: int) -> IntArray:
        """Return up to ``most`` passes between any two modes, the lowest."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        order = np.lexsort((self.heights, high, low))
        places = np.arange(len(order))
        changes = np.diff(low[order], prepend=-1).astype(bool) | np.diff(high[order], prepend=-1).astype(bool)
        rank = places - np.maximum.accumulate(np.where(changes, places, 0))
        return order[rank < most]


def find_passes(
    landscape: Landscape,
    modes: ModeSet,
    paths: FloatArray,
    ends: IntArray,
    highest: FloatArray | None = None,
) -> Passes:
    """Find the local maxima of f on the paths that separate two modes.

    Parameters
    ----------
    paths : ndarray of shape (n_paths, n_nodes, n_features)
        Polylines, whitened.
    ends : ndarray of shape (n_paths, 2)
        The modes below the first and the last node of each path.
    highest : ndarray of shape (n_modes, n_modes) or None
        Maxima higher than this between two modes are not wanted. Modes are guessed before the
        costly descents, which then are made for wanted maxima and wherever a mode may hide.

    Each minimum along a path is descended to its mode, which may be one not known before.
    """
    positions, heights, counts = landscape.extrema(paths)
    owner, rank = np.nonzero(np.arange(positions.shape[1]) < counts[:, None])
    position, height = positions[owner, rank], heights[owner, rank]
    labels = _labels_of_ends(paths, ends, owner, position, rank)
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
    return Passes(points, tangents, height[tops], labels[tops - 1], labels[tops + 1])


def _labels_of_ends(
    paths: FloatArray, ends: IntArray, owner: IntArray, position: FloatArray, rank: IntArray
) -> IntArray:
    """Return the mode below each minimum at an end of a path, -1 for all other extrema."""
    labels = np.full(len(owner), -1, dtype=np.int64)
    first = (rank % 2 == 0) & (position <= 0)
    last = (rank % 2 == 0) & (position >= paths.shape[1] - 1)
    labels[first], labels[last] = ends[owner[first], 0], ends[owner[last], 1]
    return labels


def _on_paths(paths: FloatArray, owner: IntArray, position: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points at positions along paths, and the directions there."""
    piece = np.minimum(position.astype(np.int64), paths.shape[1] - 2)
    directions = paths[owner, piece + 1] - paths[owner, piece]
    return paths[owner, piece] + (position - piece)[:, None] * directions, directions
