"""Components from the released residuals of their records: what is no more than noise is shrunk away."""

from collections.abc import Callable

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.densities import floor_spectrum, james_stein, rebuild, shrink_to_identity
from dpmorse.statistics import NoisyMoments
from dpmorse.typing import FloatArray

_LARGEST_STEP = 10.0
"""Largest factor by which over-relaxation may change an eigenvalue in one round, in either direction: a power
of a noisy eigenvalue amplifies its error."""

SUPPORT = 3.0
"""A component is updated if its count is at least this many standard deviations of the count's noise, which
noise alone exceeds once in about 700 times."""


def mean_residuals(noisy: NoisyMoments, counts: FloatArray, radii: FloatArray | float) -> FloatArray:
    """Return the mean residual of each cell, shrunk by its noise; sums are in units of ``radii``."""
    means = noisy.sums * (radii / counts)[:, None]
    # Expected squared length of the noise: D coordinates, each with the standard deviation of a sum / count.
    noise = means.shape[1] * (radii * noisy.sum_stddev / counts) ** 2
    shrunk: FloatArray = means * james_stein(np.square(means).sum(axis=1), noise)[:, None]
    return shrunk


def maximise(
    previous: Estimates,
    noisy: NoisyMoments,
    project: Callable[[FloatArray], FloatArray],
    radii: FloatArray | float,
    smallest_variance: float,
    *,
    relaxation: float = 1.0,
    observed: FloatArray | None = None,
) -> Estimates:
    """Return the components estimated from released residuals, which were shrunk to balls of ``radii``.

    ``project`` moves means into the domain of the records. ``observed`` says which part of each component's
    records has each column, where values are missing: these have the component's mean.
    """
    radii = np.broadcast_to(radii, noisy.counts.shape)
    supported = noisy.counts >= SUPPORT * noisy.count_stddev
    counts = np.where(supported, noisy.counts, 1.0)
    steps = mean_residuals(noisy, counts, radii)
    squared = (radii**2 / counts)[:, None, None] * noisy.second_moments
    noise = radii**2 * noisy.second_moment_stddev / counts
    factors = np.asarray(np.linalg.cholesky(previous.covariances), dtype=np.float64)
    if observed is not None:
        steps, squared = _of_observed(steps, squared, factors, observed)
        noise = noise / observed.mean(axis=1)
    spread = shrink_to_identity(squared - steps[:, :, None] * steps[:, None], noise)
    steps, spread = _relax(steps, spread, relaxation)
    # Back from whitened coordinates: z = m + L u with L L^T the last covariance, so that the mean moves by L
    # step and the covariance becomes L spread L^T.
    means = project(previous.means + np.einsum("kij,kj->ki", factors, steps))
    covariances = floor_spectrum(factors @ spread @ factors.transpose(0, 2, 1), smallest_variance)
    weights = np.maximum(noisy.counts, 1.0)
    return Estimates(
        weights / weights.sum(),
        np.where(supported[:, None], means, previous.means),
        np.where(supported[:, None, None], covariances, previous.covariances),
        supported,
    )


def _of_observed(
    steps: FloatArray, squared: FloatArray, factors: FloatArray, observed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean residuals and second moments of the values that are there.

    A missing value adds nothing to a sum of offsets ``z - m``, so that this is divided by the part that is
    there; a product is there where both its values are, which is taken to happen independently.
    """
    pairs = observed[:, :, None] * observed[:, None]
    own = np.arange(observed.shape[1])
    pairs[:, own, own] = observed
    offsets = np.einsum("kij,kj->ki", factors, steps) / observed
    products = factors @ squared @ factors.transpose(0, 2, 1) / pairs
    inverse = np.linalg.inv(factors)
    return np.einsum("kij,kj->ki", inverse, offsets), inverse @ products @ inverse.transpose(0, 2, 1)


def _relax(steps: FloatArray, spread: FloatArray, relaxation: float) -> tuple[FloatArray, FloatArray]:
    """Lengthen the steps of expectation-maximisation, which converges slowly where components overlap."""
    if relaxation == 1:
        return steps, spread
    values, vectors = np.linalg.eigh(spread)
    # An eigenvalue of 1 means no change. A power moves it further from 1 and keeps it positive, which a
    # multiple of (value - 1) would not.
    values = np.clip(values**relaxation, 1 / _LARGEST_STEP, _LARGEST_STEP)
    return relaxation * steps, rebuild(values, vectors)
