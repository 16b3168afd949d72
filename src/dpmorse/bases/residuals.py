"""Shrinkage of noisy estimates whose noise is known (James and Stein), block by block."""

from collections.abc import Callable

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.statistics import NoisyMoments
from dpmorse.typing import FloatArray

_LEAST_EIGENVALUE = 0.02
"""Smallest eigenvalue of a covariance in a component's own coordinates, where 1 is expected: a component
shrinks by at most a factor of 50 in variance in one round, so that one noisy release cannot make it
degenerate."""

_FLOOR_OF_EDGE = 0.5
"""Smallest such eigenvalue as a part of the size of the noise's eigenvalues. It trades thin components that
noise creates against real thin directions that the floor widens."""

_LARGEST_STEP = 10.0
"""Largest factor by which over-relaxation may change an eigenvalue in one round, in either direction: a power
of a noisy eigenvalue amplifies its error."""

_SUPPORT = 3.0
"""A component is updated if its count is at least this many standard deviations of the count's noise, which
noise alone exceeds once in about 700 times."""


def james_stein(squared_norm: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the positive-part factor 1 - noise / |v|^2, ``noise`` being the expected squared noise."""
    # The positive part: a negative factor would reverse the estimate. 1e-300 avoids a division by 0.
    return np.maximum(0.0, 1 - noise / np.maximum(squared_norm, 1e-300))


def mean_residuals(noisy: NoisyMoments, counts: FloatArray, radii: FloatArray | float) -> FloatArray:
    """Return the mean residual of each cell, shrunk by its noise; sums are in units of ``radii``."""
    means = noisy.sums * (radii / counts)[:, None]
    # Expected squared length of the noise: D coordinates, each with the standard deviation of a sum / count.
    noise = means.shape[1] * (radii * noisy.sum_stddev / counts) ** 2
    shrunk: FloatArray = means * james_stein(np.square(means).sum(axis=1), noise)[:, None]
    return shrunk


def shrink_to_identity(matrices: FloatArray, stddev: FloatArray) -> FloatArray:
    """Return covariances, in coordinates where the identity is expected, shrunk towards it by their noise.

    The difference from the identity is shrunk in three blocks, each by what its own noise suggests: the
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
    # eigh reads one triangle only: the mean with the transpose uses both.
    values, vectors = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return rebuild(np.maximum(values, np.reshape(floors, (-1, 1))), vectors)


def rebuild(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the symmetric matrices with these eigenvalues and eigenvectors."""
    # V diag(values) V^T; rounding makes the product asymmetric in the last bits, which the mean below
    # removes.
    rebuilt = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    symmetric: FloatArray = (rebuilt + rebuilt.transpose(0, 2, 1)) / 2
    return symmetric


def maximise(
    previous: Estimates,
    noisy: NoisyMoments,
    project: Callable[[FloatArray], FloatArray],
    radii: FloatArray | float,
    smallest_variance: float,
    *,
    relaxation: float = 1.0,
) -> Estimates:
    """Return the components estimated from released residuals, which were shrunk to balls of ``radii``.

    ``project`` moves means into the domain of the records.
    """
    radii = np.broadcast_to(radii, noisy.counts.shape)
    supported = noisy.counts >= _SUPPORT * noisy.count_stddev
    counts = np.where(supported, noisy.counts, 1.0)
    steps = mean_residuals(noisy, counts, radii)
    squared = (radii**2 / counts)[:, None, None] * noisy.second_moments
    spread = shrink_to_identity(
        squared - steps[:, :, None] * steps[:, None], radii**2 * noisy.second_moment_stddev / counts
    )
    steps, spread = _relax(steps, spread, relaxation)
    # Back from whitened coordinates: z = m + L u with L L^T the last covariance, so that the mean moves by L
    # step and the covariance becomes L spread L^T.
    factors = np.linalg.cholesky(previous.covariances)
    means = project(previous.means + np.einsum("kij,kj->ki", factors, steps))
    covariances = floor_spectrum(factors @ spread @ factors.transpose(0, 2, 1), smallest_variance)
    weights = np.maximum(noisy.counts, 1.0)
    return Estimates(
        weights / weights.sum(),
        np.where(supported[:, None], means, previous.means),
        np.where(supported[:, None, None], covariances, previous.covariances),
        supported,
    )


def _relax(steps: FloatArray, spread: FloatArray, relaxation: float) -> tuple[FloatArray, FloatArray]:
    """Lengthen the steps of expectation-maximisation, which converges slowly where components overlap."""
    if relaxation == 1:
        return steps, spread
    values, vectors = np.linalg.eigh(spread)
    # An eigenvalue of 1 means no change. A power moves it further from 1 and keeps it positive, which a
    # multiple of (value - 1) would not.
    values = np.clip(values**relaxation, 1 / _LARGEST_STEP, _LARGEST_STEP)
    return relaxation * steps, rebuild(values, vectors)
