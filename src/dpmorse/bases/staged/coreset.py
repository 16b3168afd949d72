"""Third stage: a coreset of small balls that represent the records, and a start for the components.

Rounds of Lloyd's algorithm release, for each cell, its count, the sum of its records' offsets from its
centre, and the sum of their squared lengths. The result is a noisy approximation of the records. Drawing
synthetic points from it and clustering them is post-processing, which may be repeated at no cost.

Records are looked at in a ball four times as large as that of the units. The noise depends on how far
offsets reach, not on the ball, so this is free. It shows whether what lies outside the units' ball is a far
cluster or a tail. A tail thins out: between its outermost ball and the rest there are other balls, or its
records are spread as widely as the gap is. A far cluster is narrower than the gap around it: an island.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform

from dpmorse.bases.k_means import SHORT, k_means
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import mean_residuals
from dpmorse.bases.staged.units import OUTER, Units
from dpmorse.statistics import CellMoments, MomentShares, NoisyMoments, SecondMoments
from dpmorse.typing import BoolArray, FloatArray, IntArray

N_ROUNDS = 3
"""Rounds of Lloyd's algorithm. They share the stage's budget, so that more of them would each be noisier."""

_SHARES = MomentShares(count=1 / 6, sum=2 / 3, second_moment=1 / 6)
"""Shares of a round's cost. Sums get the most: they move the centres and have D entries for each cell; counts
and traces of second moments have one."""

_REACH = 0.6
"""Offsets from a centre are shrunk to at most this part of the radius of the records' ball. The noise of sums
is proportional to it; records further from their centre than that pull less."""

_PULLED = 0.8
"""A mean offset longer than this part of the reach means that nearly all records of the cell lie beyond the
reach, in one direction."""

_STRIDE = 2.0
"""Factor by which such a cell's step is lengthened: its records are further away than offsets can tell. In
three rounds it gets as far as the outer ball; the cell of a tail finds its records earlier, spread around
it."""

_LEAST_CELLS = 40
"""Number of cells for few components: enough to approximate clusters that are not round. More cells
were tried and not kept (docs/default.md)."""

_CELLS_PER_COMPONENT = 2
"""Cells for each component where components are many, so that a cluster consists of more than one ball."""

_RECORDS_PER_NOISE = 4
"""An average cell holds at least this many standard deviations of its count's noise, or there are fewer
cells, but at least one for each component. An average cell is then above ``SUPPORT``."""

SUPPORT = 3.0
"""A cell is updated, and kept, if its count exceeds this many standard deviations of the count's noise. Noise
alone does that once in about 700 times."""

_LIGHTEST = 0.2
"""Cells with less than this part of the mean weight are dropped. They hold few records, and their centres are
the noisiest."""

_VARIANCES = (0.01, 1.0)
"""Limits of the variance of a ball, in units of z. The mean variance of a column over all records is 1, which
a part of the records should not exceed; the lower limit keeps a ball from collapsing to a point."""

_START_POINTS = 4000
"""Points of the data-free sketch that is clustered for the first centres, or ten for each cell if that is
more."""

_SYNTHETIC_POINTS = 5000
"""Synthetic records that are clustered for the start of the components, or 20 for each component if that is
more. They cost time only."""

_APART = 2.0
"""Two balls are apart if the distance of their centres is more than this many times the sum of their root
mean square radii. Far clusters in five columns are 2 to more than 3 times that sum away from the rest, balls
of heavy tails 1.5 times or less (docs/default.md)."""


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
        points = np.clip(self.centres[ball] + offsets, -units.radius, units.radius)
        return units.project(points)  # into the box around the ball, then into the ball, as records are

    def part(self, chosen: BoolArray) -> "Balls":
        """Return some of the balls."""
        return Balls(self.weights[chosen], self.centres[chosen], self.variances[chosen])


@dataclass(frozen=True)
class Start:
    """Where the components start, and the units whose ball holds them."""

    units: Units
    means: FloatArray
    variance: float
    """Variance of a column around the means."""


def largest_n_cells(n_components: int) -> int:
    """Return the number of cells of the coreset, unless too few records limit it."""
    return max(_CELLS_PER_COMPONENT * n_components, _LEAST_CELLS)


def release_start(
    queries: Queries, units: Units, n_components: int, stage: Stage, rng: np.random.Generator, *, most: int
) -> Start:
    """Spend a stage on a coreset; return the start that it shows, of at most ``most`` components."""
    balls = _release_coreset(queries, units, n_components, stage, rng)
    return _spread_centres(balls, units, n_components, rng, most)


def _release_coreset(
    queries: Queries, units: Units, n_components: int, stage: Stage, rng: np.random.Generator
) -> Balls:
    """Release a coreset, started from a data-free sketch of the released variances."""
    cost = stage.cost / N_ROUNDS
    outer, reach = units.widened(OUTER), _REACH * units.radius
    one = CellMoments(outer.records, 1, 0, SecondMoments.TRACE, of_residuals=True)
    noise = float(queries.calibrate(one, cost, _SHARES).count * 2.0**-one.unit_bits)
    statistic = replace(one, n_cells=n_cells(outer.n_records, noise, n_components))
    sketch = rng.standard_normal((max(_START_POINTS, 10 * statistic.n_cells), units.n_features))
    start = units.project(sketch * np.sqrt(units.variances))
    k = statistic.n_cells
    centres = k_means(start, k, 1, rng, most=SHORT).centres  # of no data: anywhere even will do
    balls = Balls(np.full(k, units.n_records / k), centres, np.full(k, 0.5))
    scales = queries.calibrate(statistic, cost, _SHARES)
    for i in range(1, N_ROUNDS + 1):
        cells = outer.nearest(balls.centres, reach)
        noisy = queries.moments(
            stage.step("round", i, N_ROUNDS), statistic, cells, scales, n_repeats=N_ROUNDS - i
        )
        balls = _move(balls, noisy, outer, reach)
    return _heavy(balls, noisy.count_stddev, units.n_records, n_components)


def _spread_centres(
    balls: Balls, units: Units, n_components: int, rng: np.random.Generator, most: int
) -> Start:
    """Return the start: k-means on synthetic records, and one mean for each light island.

    K-means may spend no centre on a small cluster, however far it is. Islands come on top of the components
    where no more than these can be measured but ``most`` are allowed: they take nothing from the others.
    Where groups lie apart from the heaviest one and outside the units' ball, which would press them against
    the rest, components are measured in a larger ball: that in which records were looked at. Three rounds may
    leave a ball short of its records, so that a ball of the units that just held it would cut them.
    """
    n = max(_SYNTHETIC_POINTS, 20 * n_components)
    groups = groups_apart(balls.centres, balls.variances)
    islands = light_islands(balls.weights, groups, n_components)
    mainland, n_islands = on_mainland(balls.weights, groups), int(islands.max()) + 1
    cut = np.linalg.norm(balls.centres[~mainland], axis=1) > units.radius
    outer = units.widened(OUTER) if cut.any() else units
    alone = [balls.part(islands == i).sample(n, outer, rng).mean(axis=0) for i in range(n_islands)]
    heavy = islands < 0
    points = _synthetic(balls.part(heavy), mainland[heavy], n, (units, outer), rng)
    n_centres = min(n_components, most - n_islands)
    found = k_means(points, n_centres, 10 if n_components <= 40 else 3, rng)
    variance = found.inertia / (n * units.n_features)
    return Start(outer, np.vstack([found.centres, *alone]), variance)


def groups_apart(centres: FloatArray, variances: FloatArray) -> IntArray:
    """Return the group of each ball: balls that are not apart, and all that a chain of such pairs joins."""
    if len(centres) < 2:
        return np.zeros(len(centres), dtype=np.int64)
    radii = np.sqrt(centres.shape[1] * variances)
    gaps = cdist(centres, centres) / (radii[:, None] + radii)
    found: IntArray = fcluster(linkage(squareform(gaps, checks=False), "single"), _APART, "distance") - 1
    return found


def light_islands(weights: FloatArray, groups: IntArray, n_components: int) -> IntArray:
    """Return the island of each ball: 0 for the heaviest of them, and so on; -1 where it is on none.

    A group that weighs less than an average component is an island; k-means gives centres to heavier ones by
    itself. There are at most half as many islands as components.
    """
    found = np.full(len(weights), -1)
    totals = np.bincount(groups, weights)
    heaviest_first = np.argsort(-totals)
    light = heaviest_first[totals[heaviest_first] < weights.sum() / n_components]
    for island, group in enumerate(light[: n_components // 2]):
        found[groups == group] = island
    return found


def on_mainland(weights: FloatArray, groups: IntArray) -> BoolArray:
    """Say which balls belong to the heaviest group."""
    mainland: BoolArray = groups == np.bincount(groups, weights).argmax()
    return mainland


def _synthetic(
    balls: Balls, mainland: BoolArray, n: int, units: tuple[Units, Units], rng: np.random.Generator
) -> FloatArray:
    """Draw n records: those of the mainland in the smaller units, so that no centre goes to its tails."""
    n_far = round(n * balls.weights[~mainland].sum() / balls.weights.sum())
    parts = [(balls.part(mainland), n - n_far, units[0]), (balls.part(~mainland), n_far, units[1])]
    return np.vstack([part.sample(size, clip, rng) for part, size, clip in parts if size])


def n_cells(n_records: float, noise: float, n_components: int) -> int:
    """Return the number of cells, limited to those whose counts stand out from the noise."""
    countable = int(n_records / (_RECORDS_PER_NOISE * noise))
    return min(largest_n_cells(n_components), max(n_components, countable))


def least_count(n_records: float, noise: float, n_cells: int) -> float:
    """Return the count above which a cell is kept."""
    return max(SUPPORT * noise, _LIGHTEST * n_records / n_cells)


def _move(balls: Balls, noisy: NoisyMoments, units: Units, reach: float) -> Balls:
    """Move centres by the shrunk mean offset, and update the variance of the records around them."""
    supported = noisy.counts > SUPPORT * noisy.count_stddev
    counts = np.where(supported, noisy.counts, 1.0)
    # Where values may be missing, offsets of those that are there are the last entries of encoded records.
    noisy = replace(noisy, sums=noisy.sums[:, -units.n_features :])
    steps = mean_residuals(noisy, counts, reach) / units.observed
    squared = np.square(steps).sum(axis=1)
    # Variance of a column: (E|offset|^2 - |E offset|^2) / D, clipped because noise can make it negative.
    of_mean = (np.square(steps) * units.observed).sum(axis=1)
    spread = (reach**2 * noisy.second_moments / counts - of_mean) / units.observed.sum()
    steps *= np.where(squared > (_PULLED * reach) ** 2, _STRIDE, 1.0)[:, None]
    return Balls(
        noisy.counts,
        np.where(supported[:, None], units.project(balls.centres + steps), balls.centres),
        np.where(supported, np.clip(spread, *_VARIANCES), balls.variances),
    )


def _heavy(balls: Balls, noise: float, n_records: float, n_components: int) -> Balls:
    """Drop balls whose weight may be noise alone; if fewer than three are left, keep the heaviest."""
    kept = balls.weights > least_count(n_records, noise, len(balls.weights))
    if kept.sum() < 3:
        kept[np.argsort(-balls.weights)[: max(3, n_components)]] = True
    return Balls(np.maximum(balls.weights[kept], 1.0), balls.centres[kept], balls.variances[kept])
