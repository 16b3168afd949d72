"""Common parts of the generators: rotations, stretches and Gaussian pieces.

All generators take the number of records, ``random_state`` (a NumPy Generator), ``n_features`` columns and
``n_clusters`` classes, and return records of shape (n_samples, n_features) with their classes, from 0 to
n_clusters - 1. Where there is a ``separation``, it is the median distance of a centre to its nearest
neighbour, in units in which a typical standard deviation is 1. Arguments are not checked: the families
(``families.py``) draw them from ranges that make sense.
"""

from collections.abc import Sequence

import numpy as np

from dpmorse.typing import FloatArray, IntArray

Rng = np.random.Generator
Labelled = tuple[FloatArray, IntArray]


def draw_rotation(d: int, rng: Rng) -> FloatArray:
    """Draw an orthogonal matrix of shape (d, d)."""
    factor, triangle = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(factor * np.sign(np.diag(triangle)))


def draw_stretches(k: int, d: int, stretch: float, rng: Rng) -> list[FloatArray]:
    """Draw k linear maps with axes around 1 that differ by factors up to ``stretch``, turned at random."""
    axes = stretch ** rng.uniform(-0.5, 0.5, (k, d))
    return [axis[:, None] * draw_rotation(d, rng) for axis in axes]


def draw_pieces(
    pieces: IntArray, centres: FloatArray, maps: Sequence[FloatArray], rng: Rng, tail: float = np.inf
) -> FloatArray:
    """Draw one record per entry of ``pieces``: its centre plus its map of a standard vector.

    The vector is Gaussian, or Student with ``tail`` degrees of freedom where that is finite.
    """
    X = rng.standard_normal((pieces.size, centres.shape[1]))
    if np.isfinite(tail):
        X /= np.sqrt(rng.chisquare(tail, (pieces.size, 1)) / tail)
    for piece, factor in enumerate(maps):
        mine = pieces == piece
        X[mine] = centres[piece] + X[mine] @ factor
    return X
