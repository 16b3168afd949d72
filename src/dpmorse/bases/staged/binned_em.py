"""Expectation-maximisation on released counts of cells: post-processing.

Sums over cells of counts times memberships are unbiased, because the noise of a count has mean 0; that is
why counts are used as they were released, negative ones included. A component spread over a square of
side h has the covariance of its records plus h^2 / 12 in every column (Sheppard).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.k_means import k_means
from dpmorse.bases.staged.components import SMALLEST_VARIANCE
from dpmorse.bases.staged.joint_histogram import Cells, Line
from dpmorse.bases.staged.units import Units
from dpmorse.densities import GaussianMixture, floor_spectrum
from dpmorse.typing import BoolArray, FloatArray

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


@dataclass(frozen=True)
class _Shared:
    """The records of a line, shared among components: where each component takes them to be."""

    memberships: FloatArray
    counts: FloatArray
    places: FloatArray
    """Expected place of a cell's records in each component, shape (n_cells, n_components, n_columns)."""

    unknown: FloatArray
    """Covariance around that place, shape (n_components, n_columns, n_columns)."""

    @property
    def shares(self) -> FloatArray:
        return self.memberships * self.counts[:, None]

    def sums(self) -> FloatArray:
        return np.asarray(np.einsum("nk,nki->ki", self.shares, self.places))

    def squares(self, means: FloatArray) -> FloatArray:
        offsets = self.places - means
        known = np.einsum("nk,nki,nkj->kij", self.shares, offsets, offsets, optimize=True)
        return np.asarray(known + self.shares.sum(axis=0)[:, None, None] * self.unknown)


def fit_cells(
    cells: Cells, units: Units, n_components: int, rng: np.random.Generator, lines: Sequence[Line]
) -> Estimates:
    """Fit ``n_components`` components to the counts of a histogram's cells, starting from k-means.

    ``lines`` hold the records that have one of two numbers. Where no cell stands out beside a place on a
    line, its records take part in the start at the middle of the other axis.
    """
    alone = [_alone(line, cells) for line in lines]
    points = np.vstack([cells.centres, *(places for places, _ in alone)])
    weights = np.concatenate([cells.smooth, *(counts for _, counts in alone)])
    found = k_means(points, n_components, _N_STARTS, rng, weights)
    means: FloatArray = found.centres
    memberships: FloatArray = np.eye(n_components)[found.labels]
    floor = max(SMALLEST_VARIANCE, _SMALLEST_PART * cells.width**2)
    covariances = np.tile(floor * np.eye(means.shape[1]), (n_components, 1, 1))
    equal = np.full(n_components, 1 / n_components)
    start = Estimates(equal, means, covariances, np.zeros(n_components, dtype=bool))
    first, *others = np.split(memberships, np.cumsum([len(cells.centres), *(len(p) for p, _ in alone)])[:-1])
    shared = [_where_they_are(*each, own, cells) for each, own in zip(alone, others, strict=True)]
    components = _maximise(start, cells, first, floor, shared)
    for _ in range(_N_ROUNDS):
        shared = [_shared(line, components, cells) for line in lines]
        components = _maximise(components, cells, _memberships(components, cells), floor, shared)
    return _with_constant_columns(components, units)


def _memberships(components: Estimates, cells: Cells) -> FloatArray:
    # A record is known by its cell only: its position has the component's covariance plus that of the cell.
    spread = components.covariances + _variance_of_cell(cells)
    return GaussianMixture(components.weights, components.means, spread).responsibilities(cells.centres)


def _shared(line: Line, components: Estimates, cells: Cells) -> _Shared:
    """Return the E-step of a line: the regression of the missing number on the one that is there."""
    a, b = line.axis, 1 - line.axis
    spread, means = components.covariances + _variance_of_cell(cells), components.means
    places, own = line.grid.centres[:, 0], [a]
    alone = GaussianMixture(components.weights, means[:, own], spread[:, own][:, :, own])
    slopes = spread[:, a, b] / spread[:, a, a]
    expected = np.empty((len(places), *means.shape))
    expected[:, :, a] = places[:, None]
    expected[:, :, b] = means[:, b] + slopes * (places[:, None] - means[:, a])
    unknown = np.zeros_like(spread)
    unknown[:, b, b] = spread[:, b, b] - slopes * spread[:, a, b]
    # Counts that stand out, or beside which cells do; others are 0.
    counts = np.where(line.grid.occupied | _beside(line, cells), line.grid.counts, 0.0)
    return _Shared(alone.responsibilities(places[:, None]), counts, expected, unknown)


def _beside(line: Line, cells: Cells) -> BoolArray:
    """Say beside which places on a line a cell stands out."""
    distances = np.abs(line.grid.centres - cells.centres[cells.counts != 0, line.axis])
    return np.asarray((distances < cells.width / 2).any(axis=1))


def _alone(line: Line, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Return the places of the plane, and counts, of a line's cells that stand out where no others do."""
    chosen = line.grid.occupied & ~_beside(line, cells)
    places = np.tile(np.average(cells.centres, axis=0, weights=cells.smooth), (int(chosen.sum()), 1))
    places[:, line.axis] = line.grid.centres[chosen, 0]
    return places, np.maximum(line.grid.smooth[chosen], 0.0)


def _where_they_are(places: FloatArray, counts: FloatArray, memberships: FloatArray, cells: Cells) -> _Shared:
    """Return the records of a line at places of the plane, as widely spread around these as all records."""
    spread = np.cov(cells.centres.T, aweights=cells.smooth)
    k, d = memberships.shape[1], places.shape[1]
    everywhere = np.broadcast_to(places[:, None], (len(places), k, d))
    return _Shared(memberships, counts, everywhere, np.broadcast_to(np.diag(np.diag(spread)), (k, d, d)))


def _maximise(
    previous: Estimates,
    cells: Cells,
    memberships: FloatArray,
    floor: float,
    lines: Sequence[_Shared] = (),
) -> Estimates:
    """Return the M-step on released counts; components whose counts may be noise keep their parameters."""
    shares = memberships * cells.counts[:, None]
    counts, sums = shares.sum(axis=0), shares.T @ cells.centres
    # The noises of cells are independent: Var(sum_n r_nk e_n) = s^2 sum_n r_nk^2.
    squared = np.square(memberships).sum(axis=0)
    for line in lines:
        counts, sums = counts + line.shares.sum(axis=0), sums + line.sums()
        squared += np.square(line.memberships).sum(axis=0)
    noise = cells.stddev * np.sqrt(squared)
    supported = (counts >= _SUPPORT * noise) & (counts > 0)
    known = np.where(supported, counts, 1.0)
    means = sums / known[:, None]
    offsets = cells.centres[:, None] - means
    squares = np.einsum("nk,nki,nkj->kij", shares, offsets, offsets, optimize=True)
    for line in lines:
        squares = squares + line.squares(means)
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
