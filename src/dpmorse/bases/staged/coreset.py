"""Third stage: many small balls that stand for the records, and a start for the components.

Rounds of Lloyd's algorithm release, for each cell, its count, the sum of its records' offsets from its
centre, and the sum of their squared lengths. What comes out is a noisy picture of the records from which
points are drawn and clustered as often as one likes: that is post-processing and costs nothing.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import mean_residuals
from dpmorse.bases.staged.units import Units
from dpmorse.bases.starts import k_means
from dpmorse.statistics import CellMoments, GaussianCells, MomentShares, NoisyMoments, SecondMoments
from dpmorse.typing import FloatArray

N_ROUNDS = 3
_SHARES = MomentShares(count=1 / 6, sum=2 / 3, second_moment=1 / 6)
_REACH = 0.6  # of an offset, as a part of the records' ball
_LEAST_CELLS = 40
_CELLS_PER_COMPONENT = 2
_RECORDS_PER_NOISE = 4  # a cell holds this many standard deviations of its count, on average
_SUPPORT = 3.0  # standard deviations of a count
_LIGHTEST = 0.2  # cells below this part of the mean weight are dropped
_VARIANCES = (0.01, 1.0)
_START_POINTS = 4000
_SYNTHETIC_POINTS = 5000


@dataclass(frozen=True)
class Balls:
    """Weighted spherical Gaussians in units of z."""

    weights: FloatArray
    centres: FloatArray
    variances: FloatArray

    def sample(self, n: int, units: Units, rng: np.random.Generator) -> FloatArray:
        """Draw synthetic records."""
        ball = rng.choice(len(self.weights), n, p=self.weights / self.weights.sum())
        offsets = rng.standard_normal((n, self.centres.shape[1])) * np.sqrt(self.variances[ball, None])
        return units.project(self.centres[ball] + offsets)


def largest_n_cells(n_components: int) -> int:
    """Return how many cells the coreset has if there are records enough."""
    return max(_CELLS_PER_COMPONENT * n_components, _LEAST_CELLS)


def release_coreset(
    queries: Queries, units: Units, n_components: int, stage: Stage, rng: np.random.Generator
) -> Balls:
    """Spend a stage on a coreset, started from a data-free sketch of the released variances."""
    cost = stage.cost / N_ROUNDS
    statistic = _statistic(units, _n_cells(queries, units, n_components, cost))
    sketch = rng.standard_normal((max(_START_POINTS, 10 * statistic.n_cells), units.n_features))
    start = units.project(sketch * np.sqrt(units.variances))
    k = statistic.n_cells
    centres = k_means(start, k, 1, rng).cluster_centers_
    balls = Balls(np.full(k, units.n_records / k), centres, np.full(k, 0.5))
    for i in range(1, N_ROUNDS + 1):
        cells = GaussianCells.nearest(balls.centres / units.radius, _REACH)
        scales = queries.calibrate(statistic, cost, _SHARES)
        noisy = queries.moments(
            stage.step("round", i, N_ROUNDS), statistic, cells, scales, n_repeats=N_ROUNDS - i
        )
        balls = _move(balls, noisy, units, _REACH * units.radius)
    return _heavy(balls, noisy.count_stddev, units.n_records, n_components)


def spread_centres(
    balls: Balls, units: Units, n_components: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return starting means, and the variance of a column around them: k-means on synthetic records."""
    n = max(_SYNTHETIC_POINTS, 20 * n_components)
    points = balls.sample(n, units, rng)
    found = k_means(points, n_components, 10 if n_components <= 40 else 3, rng)
    return found.cluster_centers_, float(found.inertia_) / (n * units.n_features)


def _statistic(units: Units, n_cells: int) -> CellMoments:
    return CellMoments(units.domain, n_cells, 0, SecondMoments.TRACE, of_residuals=True)


def _n_cells(queries: Queries, units: Units, n_components: int, cost: float) -> int:
    """Return as many cells as the noise lets one count."""
    one = _statistic(units, 1)
    noise = queries.calibrate(one, cost, _SHARES).count * 2.0**-one.unit_bits
    countable = int(units.n_records / (_RECORDS_PER_NOISE * noise))
    return min(largest_n_cells(n_components), max(n_components, countable))


def _move(balls: Balls, noisy: NoisyMoments, units: Units, reach: float) -> Balls:
    """Move centres by the shrunk mean offset, and measure how far the records are from them."""
    supported = noisy.counts > _SUPPORT * noisy.count_stddev
    counts = np.where(supported, noisy.counts, 1.0)
    steps = mean_residuals(noisy, counts, reach)
    spread = (reach**2 * noisy.second_moments / counts - np.square(steps).sum(axis=1)) / units.n_features
    return Balls(
        noisy.counts,
        np.where(supported[:, None], units.project(balls.centres + steps), balls.centres),
        np.where(supported, np.clip(spread, *_VARIANCES), balls.variances),
    )


def _heavy(balls: Balls, noise: float, n_records: float, n_components: int) -> Balls:
    """Drop balls that may be nothing but noise; keep the heaviest if that would leave too few."""
    kept = balls.weights > max(_SUPPORT * noise, _LIGHTEST * n_records / len(balls.weights))
    if kept.sum() < 3:
        kept[np.argsort(-balls.weights)[: max(3, n_components)]] = True
    return Balls(np.maximum(balls.weights[kept], 1.0), balls.centres[kept], balls.variances[kept])
