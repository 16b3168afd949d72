"""Relaxing a path towards the lowest pass between its ends."""

import numpy as np

from dpmorse.morse.critical.landscape import Landscape
from dpmorse.typing import FloatArray

_STEP = 0.7
_LONGEST = 0.5


def relax(landscape: Landscape, paths: FloatArray, n_steps: int) -> FloatArray:
    """Apply the string method: mean-shift every node, then spread nodes evenly again, in the metric A.

    The ends stay where they are. See E, Ren and Vanden-Eijnden, J. Chem. Phys. 126 (2007), for strings; the
    metric makes the result independent of units.
    """
    paths = np.array(paths)
    n_paths, n_nodes, d = paths.shape
    for _ in range(n_steps):
        shapes = landscape.shapes(paths.reshape(-1, d))
        shift = shapes.mean_shift()
        length = np.sqrt(np.maximum(-np.einsum("nd,nd->n", shift, shapes.gradients), 0))
        shift *= _STEP * np.minimum(1, _LONGEST / np.maximum(length, 1e-300))[:, None]
        paths[:, 1:-1] += shift.reshape(paths.shape)[:, 1:-1]
        paths = _spread(paths, shapes.metrics.reshape(n_paths, n_nodes, d, d))
    return paths


def _spread(paths: FloatArray, metrics: FloatArray) -> FloatArray:
    """Move nodes along their polylines so that pieces have equal length."""
    pieces, between = np.diff(paths, axis=1), (metrics[:, 1:] + metrics[:, :-1]) / 2
    lengths = np.sqrt(np.einsum("pnd,pnde,pne->pn", pieces, between, pieces)) + 1e-12
    reached = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(lengths, axis=1)], axis=1)
    reached /= reached[:, -1:]
    n_nodes = paths.shape[1]
    rows = 2.0 * np.arange(len(paths))[:, None]
    wanted = (np.linspace(0, 1, n_nodes) + rows).ravel()
    position = np.interp(wanted, (reached + rows).ravel(), np.tile(np.arange(n_nodes), len(paths)))
    piece = np.minimum(position.astype(np.int64), n_nodes - 2).reshape(len(paths), n_nodes)
    fraction = (position.reshape(piece.shape) - piece)[..., None]
    owner = np.arange(len(paths))[:, None]
    spread: FloatArray = (1 - fraction) * paths[owner, piece] + fraction * paths[owner, piece + 1]
    return spread
