"""The M-step on released moments: rules for noisy counts, means and covariances.

Everything here is post-processing of released values, in scaled units (the box is [-1, 1]^D).

* A cell is *supported* when its noisy count is at least three standard deviations of the count's noise.
  An unsupported cell, in particular one with a count <= 0, keeps its mean and covariance; for the next
  round its weight is that of one standard deviation, so that it can win records back.
* ``relocate`` moves unsupported cells to where records are: each takes over half of the heaviest cell.
* Means are clipped to the domain.
* Covariances are symmetric by construction; their eigenvalues are clipped to [floor, P], where P bounds
  |z|^2 on the domain and the floor is the larger of ``reg_covar`` and a quarter of the spectral edge of
  the noise.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.bases.estimates import Estimates, project
from dpmorse.bases.residuals import SUPPORT
from dpmorse.densities import rebuild
from dpmorse.statistics import GRID_BITS, Domain, NoisyMoments
from dpmorse.typing import FloatArray

_WORTH_SPLITTING = 8.0
"""A component is split if its count is at least this many standard deviations of the count's noise. A half
then has four, and is likely to be supported in the next round."""

_FLOOR_OF_EDGE = 0.25
"""Smallest eigenvalue of a covariance, as a part of the largest eigenvalue of its noise. A whole edge would
replace real small variances by noise; none would let noise create arbitrarily thin components."""


@dataclass(frozen=True)
class Prior:
    """Conjugate prior of Park et al. 2017: Dirichlet weights, normal-inverse-Wishart components at 0."""

    dirichlet: float = 2.0
    mean_strength: float = 1.01
    scatter: float = 0.1


def maximise(
    previous: Estimates, noisy: NoisyMoments, domain: Domain, reg_covar: float, prior: Prior | None
) -> Estimates:
    """Return the parameters estimated from released moments; see the module's docstring."""
    supported = noisy.counts >= SUPPORT * noisy.count_stddev
    counts = np.where(supported, noisy.counts, 1.0)
    if prior is None:
        means = noisy.sums / counts[:, None]
        covariances = noisy.second_moments / counts[:, None, None] - _outer(means)
        weights = np.maximum(noisy.counts, noisy.count_stddev)
    else:
        means, covariances = _posterior_mode(noisy, counts, prior)
        weights = np.maximum(noisy.counts, noisy.count_stddev) + prior.dirichlet - 1
    # Second moments are divided by counts, and so is their noise: components with few records get higher
    # floors.
    floors = np.maximum(reg_covar, _FLOOR_OF_EDGE * _noise_edge(noisy, domain) / counts)
    # No eigenvalue of a covariance can exceed E |z|^2 <= P; the domain states P in squared steps of the grid.
    ceiling = domain.largest_squared_norm * 4.0**-GRID_BITS
    # Noise can make a covariance indefinite. Clipping eigenvalues gives the nearest matrix, in Frobenius
    # norm, whose spectrum is within the limits.
    values, vectors = np.linalg.eigh(covariances)
    clipped = rebuild(np.clip(values, np.minimum(floors, ceiling)[:, None], ceiling), vectors)
    keep = ~supported
    return Estimates(
        weights=weights / weights.sum(),
        means=np.where(keep[:, None], previous.means, project(means, domain)),
        covariances=np.where(keep[:, None, None], previous.covariances, clipped),
        supported=supported,
    )


def relocate(parameters: Estimates, noisy: NoisyMoments, domain: Domain) -> Estimates:
    """Move each unsupported component onto half of the heaviest one, if that is heavy enough.

    A component is cut at its mean across its widest direction ``v`` (variance ``s^2``). The halves of a
    Gaussian have means ``+- sqrt(2/pi) s v`` and lose ``(2/pi) s^2`` of variance along ``v``.
    """
    weights, means, covariances = (
        a.copy() for a in (parameters.weights, parameters.means, parameters.covariances)
    )
    counts = np.where(parameters.supported, noisy.counts, -np.inf)
    for k in np.flatnonzero(~parameters.supported):
        heaviest = int(counts.argmax())
        if counts[heaviest] < _WORTH_SPLITTING * noisy.count_stddev:
            break
        values, vectors = np.linalg.eigh(covariances[heaviest])
        step = math.sqrt(2 / math.pi * values[-1]) * vectors[:, -1]
        both = [int(k), heaviest]
        means[both] = means[heaviest] + step, means[heaviest] - step
        # step step^T = (2/pi) s^2 v v^T, the variance between the two halves.
        covariances[both] = covariances[heaviest] - np.outer(step, step)
        weights[both] = weights[heaviest] / 2
        counts[both] = counts[heaviest] / 2
    return Estimates(weights / weights.sum(), project(means, domain), covariances, parameters.supported)


def _posterior_mode(noisy: NoisyMoments, counts: FloatArray, prior: Prior) -> tuple[FloatArray, FloatArray]:
    """Return the mode under the prior, as in Park et al. 2017 with the prior's mean at 0."""
    n, strength = counts[:, None], prior.mean_strength
    averages = noisy.sums / n
    means = noisy.sums / (n + strength)
    scatter = noisy.second_moments - counts[:, None, None] * _outer(averages)
    pull = (strength * counts / (strength + counts))[:, None, None] * _outer(averages)
    d = means.shape[1]
    total = prior.scatter * np.eye(d) + scatter + pull
    degrees = 2.0 * d + 3.0  # nu_0 + D + 2 with nu_0 = D + 1
    return means, total / (counts + degrees)[:, None, None]


def _noise_edge(noisy: NoisyMoments, domain: Domain) -> float:
    """Return the largest eigenvalue to expect of the noise in a second moment (semicircle law)."""
    # A symmetric D x D matrix whose entries have variance s^2 has its largest eigenvalue near 2 s sqrt(D). In
    # a ball, off-diagonal entries have half the variance of diagonal ones.
    off_diagonal_share = 1.0 if domain.radius is None else 0.5
    return 2 * noisy.second_moment_stddev * math.sqrt(off_diagonal_share * domain.n_features)


def _outer(vectors: FloatArray) -> FloatArray:
    return vectors[:, :, None] * vectors[:, None, :]
