"""Highest points of paths, between the modes on either side of them."""

from dataclasses import dataclass, fields

import numpy as np

from dpmorse.morse.landscape import Landscape
from dpmorse.morse.modes import ModeSet
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


def find_passes(landscape: Landscape, modes: ModeSet, paths: FloatArray, ends: IntArray) -> Passes:
    """Find every local maximum of f on the paths that separates two modes.

    Parameters
    ----------
    paths : ndarray of shape (n_paths, n_nodes, n_features)
        Polylines, whitened.
    ends : ndarray of shape (n_paths, 2)
        The modes below the first and the last node of each path.

    Each minimum along a path is descended to its mode, which may be one not known before.
    """
    positions, heights, counts = landscape.extrema(paths)
    owner, rank = np.nonzero(np.arange(positions.shape[1]) < counts[:, None])
    position, height = positions[owner, rank], heights[owner, rank]
    labels = _labels_of_minima(modes, paths, ends, owner, position, rank)
    tops = np.flatnonzero(rank % 2 == 1)
    tops = tops[labels[tops - 1] != labels[tops + 1]]
    points, tangents = _on_paths(paths, owner[tops], position[tops])
    return Passes(points, tangents, height[tops], labels[tops - 1], labels[tops + 1])


def _labels_of_minima(
    modes: ModeSet, paths: FloatArray, ends: IntArray, owner: IntArray, position: FloatArray, rank: IntArray
) -> IntArray:
    """Return the mode below each extremum of even rank, -1 for the maxima between them."""
    labels = np.full(len(owner), -1, dtype=np.int64)
    lowest = rank % 2 == 0
    first, last = lowest & (position <= 0), lowest & (position >= paths.shape[1] - 1)
    labels[first], labels[last] = ends[owner[first], 0], ends[owner[last], 1]
    inside = np.flatnonzero(lowest & ~first & ~last)
    points, _ = _on_paths(paths, owner[inside], position[inside])
    labels[inside] = modes.reach(points)
    return labels


def _on_paths(paths: FloatArray, owner: IntArray, position: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points at positions along paths, and the directions there."""
    piece = np.minimum(position.astype(np.int64), paths.shape[1] - 2)
    directions = paths[owner, piece + 1] - paths[owner, piece]
    return paths[owner, piece] + (position - piece)[:, None] * directions, directions
