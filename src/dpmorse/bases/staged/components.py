"""Fourth stage: soft expectation-maximisation in which every component is measured by its own yardstick.

A round releases, for each component, the count and the first two moments of the records' residuals in
its whitened coordinates ``u = L_k^-1 (z - m_k)``. The noise is therefore relative to the component's own
size, and where the last round was right the moments are (0, I): what deviates from that by no more than
noise is shrunk away.
"""

import math

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import maximise
from dpmorse.bases.staged.units import Units
from dpmorse.densities import GaussianMixture
from dpmorse.statistics import LARGEST_N_CELLS, WEIGHT_BITS, CellMoments, MomentShares
from dpmorse.typing import FloatArray

N_ROUNDS = (2, 10)
_SHARES = MomentShares(count=0.10, sum=0.35, second_moment=0.55)
_RADIUS = 1.5  # of a residual, times sqrt(D) ...
_MARGIN = 1.5  # ... and no more than that above sqrt(D), where most residuals are in many columns
_RELATIVE_NOISE = 0.2  # of a covariance entry: as many rounds are made as keep it there ...
_ROUNDS_TO_AFFORD = 3  # ... and as many components fitted as leave so many rounds
_OVER_RELAXATION = 1.5  # of all steps but the last
SMALLEST_VARIANCE = 0.002  # in units of z


def start_at(means: FloatArray, variance: float) -> Estimates:
    """Return equal, round components."""
    k, d = means.shape
    covariances = np.tile(max(variance, SMALLEST_VARIANCE) * np.eye(d), (k, 1, 1))
    return Estimates(np.full(k, 1 / k), means, covariances, np.ones(k, dtype=bool))


def in_units_of(units: Units, components: Estimates) -> GaussianMixture:
    """Return the mixture in the caller's units; components that were kept have weight, supported or not."""
    means, covariances = components.means / units.radius, components.covariances / units.radius**2
    scaled = GaussianMixture(components.weights, means, covariances)
    return scaled.affine(units.domain.unit, units.domain.centre)


def release_components(queries: Queries, units: Units, start: Estimates, stage: Stage) -> Estimates:
    """Spend a stage on rounds of expectation-maximisation."""
    k, d = start.means.shape
    radius = radius_of_residuals(d)
    statistic = CellMoments(units.domain, k, WEIGHT_BITS, of_residuals=True)
    affordable = (_RELATIVE_NOISE / _noise_of_an_entry(queries, units, stage) / k) ** 2
    n_rounds = int(np.clip(round(min(affordable, 1e6)), *N_ROUNDS))
    components = start
    for i in range(1, n_rounds + 1):
        cells = units.cells(components.weights, components.means, components.covariances, radius)
        scales = queries.calibrate(statistic, stage.cost / n_rounds, _SHARES)
        step = stage.step("round", i, n_rounds)
        noisy = queries.moments(step, statistic, cells, scales, n_repeats=n_rounds - i)
        relaxation = _OVER_RELAXATION if i < n_rounds else 1.0
        components = maximise(
            components, noisy, units.project, radius, SMALLEST_VARIANCE, relaxation=relaxation
        )
    return components


def measurable_n_components(queries: Queries, units: Units, stage: Stage) -> int:
    """Return how many components of equal size the noise of a few rounds lets one measure."""
    noise = _noise_of_an_entry(queries, units, stage) * math.sqrt(_ROUNDS_TO_AFFORD)
    return int(min(_RELATIVE_NOISE / noise, LARGEST_N_CELLS))


def _noise_of_an_entry(queries: Queries, units: Units, stage: Stage) -> float:
    """Return the noise of a covariance entry if one round and one component have it all, relative to 1."""
    one = CellMoments(units.domain, 1, WEIGHT_BITS, of_residuals=True)
    scales = queries.calibrate(one, stage.cost, _SHARES)
    squared_radius = radius_of_residuals(units.n_features) ** 2
    return squared_radius * scales.diagonal * 2.0**-one.unit_bits / units.n_records


def radius_of_residuals(n_features: int) -> float:
    """Return the length residuals are shrunk to, which noise grows with.

    The length of D standard normal numbers is sqrt(D) give or take 0.7, however many there are.
    """
    return min(_RADIUS * math.sqrt(n_features), math.sqrt(n_features) + _MARGIN)
