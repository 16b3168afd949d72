"""Fourth stage: soft expectation-maximisation in which every component is measured by its own yardstick.

A round releases, for each component, the count and the first two moments of the records' residuals in
its whitened coordinates ``u = L_k^-1 (z - m_k)``. The noise is therefore relative to the component's own
size, and where the last round was right the moments are (0, I): what deviates from that by no more than
noise is shrunk away.
"""

import math
from collections.abc import Callable

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.estimators._metric import Metric
from dpmorse.estimators._parameters import Parameters
from dpmorse.estimators._releases import Releases
from dpmorse.estimators._shrinkage import floor_spectrum, mean_residuals, rebuild, shrink_to_identity
from dpmorse.statistics import CellMoments, MomentShares, NoisyMoments
from dpmorse.statistics.cells import LARGEST_N_CELLS, WEIGHT_BITS
from dpmorse.typing import FloatArray

N_ROUNDS = (2, 10)
_SHARES = MomentShares(count=0.10, sum=0.35, second_moment=0.55)
_RADIUS = 1.5  # of a residual, times sqrt(D) ...
_MARGIN = 1.5  # ... and no more than that above sqrt(D), where most residuals are in many columns
_RELATIVE_NOISE = 0.2  # of a covariance entry: as many rounds are made as keep it there ...
_ROUNDS_TO_AFFORD = 3  # ... and as many components fitted as leave so many rounds
_OVER_RELAXATION = 1.5  # of all steps but the last
_LARGEST_STEP = 10.0  # factor by which an over-relaxed eigenvalue may change in one round
SMALLEST_VARIANCE = 0.002  # in units of z
_SUPPORT = 3.0  # standard deviations of a count


def start_at(means: FloatArray, variance: float) -> Parameters:
    """Return equal, round components."""
    k, d = means.shape
    covariances = np.tile(max(variance, SMALLEST_VARIANCE) * np.eye(d), (k, 1, 1))
    return Parameters(np.full(k, 1 / k), means, covariances, np.ones(k, dtype=bool))


def in_units_of(metric: Metric, components: Parameters) -> GaussianMixture:
    """Return the mixture in the caller's units; components that were kept have weight, supported or not."""
    means, covariances = components.means / metric.radius, components.covariances / metric.radius**2
    scaled = GaussianMixture(components.weights, means, covariances)
    return scaled.affine(metric.domain.unit, metric.domain.centre)


def release_components(releases: Releases, metric: Metric, start: Parameters, rho: float) -> Parameters:
    """Spend ``rho`` on rounds of expectation-maximisation."""
    k, d = start.means.shape
    radius = radius_of_residuals(d)
    statistic = CellMoments(metric.domain, k, WEIGHT_BITS, of_residuals=True)
    affordable = (_RELATIVE_NOISE / _noise_of_an_entry(releases, metric, rho) / k) ** 2
    n_rounds = int(np.clip(round(min(affordable, 1e6)), *N_ROUNDS))
    components = start
    for i in range(1, n_rounds + 1):
        cells = metric.cells(components.weights, components.means, components.covariances, radius)
        name = f"components, round {i} of {n_rounds}"
        noisy = releases.moments(name, statistic, cells, rho / n_rounds, _SHARES, n_repeats=n_rounds - i)
        relaxation = _OVER_RELAXATION if i < n_rounds else 1.0
        components = maximise(
            components, noisy, metric.project, radius, SMALLEST_VARIANCE, relaxation=relaxation
        )
    return components


def measurable_n_components(releases: Releases, metric: Metric, rho: float) -> int:
    """Return how many components of equal size the noise of a few rounds lets one measure."""
    noise = _noise_of_an_entry(releases, metric, rho) * math.sqrt(_ROUNDS_TO_AFFORD)
    return int(min(_RELATIVE_NOISE / noise, LARGEST_N_CELLS))


def _noise_of_an_entry(releases: Releases, metric: Metric, rho: float) -> float:
    """Return the noise of a covariance entry if one round and one component have it all, relative to 1."""
    one = CellMoments(metric.domain, 1, WEIGHT_BITS, of_residuals=True)
    scales = one.calibrate(releases.cost_of_a_row(rho), releases.neighboring, _SHARES)
    squared_radius = radius_of_residuals(metric.n_features) ** 2
    return squared_radius * scales.diagonal * 2.0**-one.unit_bits / metric.n_records


def radius_of_residuals(n_features: int) -> float:
    """Return the length residuals are shrunk to, which noise grows with.

    The length of D standard normal numbers is sqrt(D) give or take 0.7, however many there are.
    """
    return min(_RADIUS * math.sqrt(n_features), math.sqrt(n_features) + _MARGIN)


def maximise(
    previous: Parameters,
    noisy: NoisyMoments,
    project: Callable[[FloatArray], FloatArray],
    radii: FloatArray | float,
    smallest_variance: float,
    *,
    relaxation: float = 1.0,
) -> Parameters:
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
    return Parameters(
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
