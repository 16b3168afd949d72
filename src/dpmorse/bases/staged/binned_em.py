"""Expectation-maximisation on released counts of cells: post-processing.

Sums over cells of counts times memberships are unbiased, because the noise of a count has mean 0; that is
why counts are used as they were released, negative ones included. A component spread over a square of
side h has the covariance of its records plus h^2 / 12 in every column (Sheppard).
"""

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.k_means import k_means
from dpmorse.bases.staged.components import SMALLEST_VARIANCE
from dpmorse.bases.staged.joint_histogram import Cells
from dpmorse.bases.staged.units import Units
from dpmorse.densities import GaussianMixture, floor_spectrum
from dpmorse.typing import FloatArray

_N_ROUNDS = 40
"""Rounds of expectation-maximisation. They read released counts only, so they cost time and no budget."""

_N_STARTS = 5
"""Runs of k-means for the start, of which the best is kept. They are post-processing as well."""

_SUPPORT = 3.0
"""A component is updated if its count is at least this many standard deviations of the count's noise. Noise
alone exceeds three standard deviations once in about 700 times."""

_SMALLEST_PART = 0.15
"""Smallest variance of a component, in squared sides of a cell. The variance of a uniform distribution over a
cell is 1/12 = 0.083 of these units: a much narrower component cannot be distinguished from a single cell."""


def fit_cells(cells: Cells, units: Units, n_components: int, rng: np.random.Generator) -> Estimates:
    """Fit ``n_components`` components to the counts of a histogram's cells, starting from k-means."""
    found = k_means(cells.centres, n_components, _N_STARTS, rng, cells.smooth)
    means: FloatArray = found.centres
    memberships: FloatArray = np.eye(n_components)[found.labels]
    floor = max(SMALLEST_VARIANCE, _SMALLEST_PART * cells.width**2)
    covariances = np.tile(floor * np.eye(means.shape[1]), (n_components, 1, 1))
    equal = np.full(n_components, 1 / n_components)
    start = Estimates(equal, means, covariances, np.zeros(n_components, dtype=bool))
    components = _maximise(start, cells, memberships, floor)
    for _ in range(_N_ROUNDS):
        components = _maximise(components, cells, _memberships(components, cells), floor)
    return _with_constant_columns(components, units)


def _memberships(components: Estimates, cells: Cells) -> FloatArray:
    # A record is known by its cell only: its position has the component's covariance plus that of the cell.
    spread = components.covariances + _variance_of_cell(cells)
    return GaussianMixture(components.weights, components.means, spread).responsibilities(cells.centres)


def _maximise(previous: Estimates, cells: Cells, memberships: FloatArray, floor: float) -> Estimates:
    """Return the M-step on released counts; components whose counts may be noise keep their parameters."""
    shares = memberships * cells.counts[:, None]
    counts = shares.sum(axis=0)
    # The noises of cells are independent: Var(sum_n r_nk e_n) = s^2 sum_n r_nk^2.
    noise = cells.stddev * np.sqrt(np.square(memberships).sum(axis=0))
    supported = (counts >= _SUPPORT * noise) & (counts > 0)
    known = np.where(supported, counts, 1.0)
    means = shares.T @ cells.centres / known[:, None]
    offsets = cells.centres[:, None] - means
    squares = np.einsum("nk,nki,nkj->kij", shares, offsets, offsets, optimize=True)
    # Sheppard's correction, h^2 / 12 in every column, is subtracted before the floor, which restores
    # definiteness.
    covariances = floor_spectrum(squares / known[:, None, None] - _variance_of_cell(cells), floor)
    weights = np.maximum(counts, 1.0)
    return Estimates(
        weights / weights.sum(),
        np.where(supported[:, None], means, previous.means),
        np.where(supported[:, None, None], covariances, previous.covariances),
        supported,
    )


def _variance_of_cell(cells: Cells) -> FloatArray:
    return cells.width**2 / 12 * np.eye(cells.centres.shape[1])


def _with_constant_columns(components: Estimates, units: Units) -> Estimates:
    """Add the constant columns, which the cells do not have, with mean 0 and the smallest variance."""
    varying = np.flatnonzero(units.domain.half_width > 0)
    k, d = len(components.means), units.n_features
    means, covariances = np.zeros((k, d)), np.tile(SMALLEST_VARIANCE * np.eye(d), (k, 1, 1))
    means[:, varying] = components.means
    covariances[:, varying[:, None], varying] = components.covariances
    return Estimates(components.weights, units.project(means), covariances, components.supported)
