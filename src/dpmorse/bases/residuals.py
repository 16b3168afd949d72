"""What to believe of a noisy estimate whose noise is known: James and Stein's shrinkage, block by block."""

from collections.abc import Callable

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.statistics import NoisyMoments
from dpmorse.typing import FloatArray

_LEAST_EIGENVALUE = 0.02  # of a covariance in a component's own coordinates, in one round
_FLOOR_OF_EDGE = 0.5
_LARGEST_STEP = 10.0  # factor by which an over-relaxed eigenvalue may change in one round
_SUPPORT = 3.0  # standard deviations of a count


def james_stein(squared_norm: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the positive-part factor 1 - noise / |v|^2, ``noise`` being the expected squared noise."""
    return np.maximum(0.0, 1 - noise / np.maximum(squared_norm, 1e-300))


def mean_residuals(noisy: NoisyMoments, counts: FloatArray, radii: FloatArray | float) -> FloatArray:
    """Return the mean residual of each cell, without what may be noise; sums are in units of ``radii``."""
    means = noisy.sums * (radii / counts)[:, None]
    noise = means.shape[1] * (radii * noisy.sum_stddev / counts) ** 2
    shrunk: FloatArray = means * james_stein(np.square(means).sum(axis=1), noise)[:, None]
    return shrunk


def shrink_to_identity(matrices: FloatArray, stddev: FloatArray) -> FloatArray:
    """Return covariances, in coordinates where the identity is expected, without what may be noise.

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
    common = common * james_stein(common**2, variance / d)
    rest = rest * james_stein(np.square(rest).sum(axis=1), (d - 1) * variance)[:, None]
    off = off * james_stein(np.square(off).sum(axis=(1, 2)), d * (d - 1) * variance / 2)[:, None, None]
    shrunk = off + identity * (1 + common[:, None, None] + rest[:, :, None])
    edge = _FLOOR_OF_EDGE * np.minimum(stddev * np.sqrt(d), 1.0)
    return floor_spectrum(shrunk, np.maximum(_LEAST_EIGENVALUE, edge))


def floor_spectrum(matrices: FloatArray, floors: FloatArray | float) -> FloatArray:
    """Raise eigenvalues to a floor, one for each matrix."""
    values, vectors = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return rebuild(np.maximum(values, np.reshape(floors, (-1, 1))), vectors)


def rebuild(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the symmetric matrices with these eigenvalues and eigenvectors."""
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
    """Return what the released residuals, which were shrunk to balls of ``radii``, make of components.

    ``project`` moves means to where records can be.
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
    """Go further than expectation-maximisation, which is slow where components overlap."""
    if relaxation == 1:
        return steps, spread
    values, vectors = np.linalg.eigh(spread)
    values = np.clip(values**relaxation, 1 / _LARGEST_STEP, _LARGEST_STEP)
    return relaxation * steps, rebuild(values, vectors)
