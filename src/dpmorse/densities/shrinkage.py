"""Shrinkage of noisy estimates whose noise is known (James and Stein), block by block."""

import numpy as np

from dpmorse.typing import FloatArray

_LEAST_EIGENVALUE = 0.02
"""Smallest eigenvalue of a covariance in a component's own coordinates, where 1 is expected: a component
shrinks by at most a factor of 50 in variance in one round, so that one noisy release cannot make it
degenerate."""

_FLOOR_OF_EDGE = 0.5
"""Smallest such eigenvalue as a part of the size of the noise's eigenvalues. It trades thin components that
noise creates against real thin directions that the floor widens."""


def james_stein(squared_norm: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the positive-part factor 1 - noise / |v|^2, ``noise`` being the expected squared noise."""
    # The positive part: a negative factor would reverse the estimate. 1e-300 avoids a division by 0, and a
    # quotient too large for a float is as good as infinite.
    with np.errstate(over="ignore"):
        return np.maximum(0.0, 1 - noise / np.maximum(squared_norm, 1e-300))


def shrink_to_identity(matrices: FloatArray, stddev: FloatArray) -> FloatArray:
    """Return covariances, in coordinates where the identity is expected, shrunk towards it by their noise.

    The difference from the identity is shrunk in three blocks, each by its own noise: the
    mean of the diagonal, the rest of the diagonal, and the off-diagonal entries. Eigenvalues are floored
    at half the size of the noise.

    Parameters
    ----------
    matrices : ndarray of shape (n, d, d)
        Symmetric, noisy.
    stddev : ndarray of shape (n,)
        Noise of a diagonal entry; that of an off-diagonal entry is 1 / sqrt 2 of it.
    """
    d = matrices.shape[1]
    identity, variance = np.eye(d), stddev**2
    excess = matrices - identity
    diagonal = np.diagonal(excess, axis1=1, axis2=2)
    common = diagonal.mean(axis=1)
    rest = diagonal - common[:, None]
    off = excess * (1 - identity)
    # Expected squared noise of each block, s^2 being the variance of a diagonal entry: s^2 / d for the mean
    # of d entries, (d - 1) s^2 for what is left of them, d (d - 1) entries of s^2 / 2 off the diagonal.
    common = common * james_stein(common**2, variance / d)
    rest = rest * james_stein(np.square(rest).sum(axis=1), (d - 1) * variance)[:, None]
    off = off * james_stein(np.square(off).sum(axis=(1, 2)), d * (d - 1) * variance / 2)[:, None, None]
    shrunk = off + identity * (1 + common[:, None, None] + rest[:, :, None])
    # Eigenvalues of the noise are of the order s sqrt(d) (semicircle law). The floor stays at or below one
    # half, because the eigenvalue that is expected is 1.
    edge = _FLOOR_OF_EDGE * np.minimum(stddev * np.sqrt(d), 1.0)
    return floor_spectrum(shrunk, np.maximum(_LEAST_EIGENVALUE, edge))


def floor_spectrum(matrices: FloatArray, floors: FloatArray | float) -> FloatArray:
    """Raise eigenvalues to a floor, one for each matrix."""
    floors, identity = np.broadcast_to(floors, len(matrices)), np.eye(matrices.shape[1])
    # Noise often leaves nothing but a diagonal; a decomposition takes long where columns are many.
    raised = identity * np.maximum(np.diagonal(matrices, axis1=1, axis2=2), floors[:, None])[:, None]
    full = np.any(matrices * (1 - identity), axis=(1, 2))
    # eigh reads one triangle only: the mean with the transpose uses both.
    values, vectors = np.linalg.eigh((matrices[full] + matrices[full].transpose(0, 2, 1)) / 2)
    raised[full] = rebuild(np.maximum(values, floors[full, None]), vectors)
    return raised


def rebuild(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the symmetric matrices with these eigenvalues and eigenvectors."""
    # V diag(values) V^T; rounding makes the product asymmetric in the last bits, which the mean below
    # removes.
    rebuilt = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    symmetric: FloatArray = (rebuilt + rebuilt.transpose(0, 2, 1)) / 2
    return symmetric
