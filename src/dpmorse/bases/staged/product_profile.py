"""Last stage: what the records of each component look like, in numbers that may be published.

As for tables of numbers (``staged/profile.py``): a record finds its component by the rule of the fit, on a
fine grid, and is measured where it is, inside the public bounds. Counts of lengths say how far the records of
a component reach; one release has the count, sum and second moment of its numbers up to that reach, and
counts of its missing values and levels. A missing number stands at its component's origin, so that it adds
nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.encoded import encoded_domain, whiten_numbers
from dpmorse.bases.staged.expected import Expected, expected_records
from dpmorse.bases.staged.levels import TableUnits
from dpmorse.bases.staged.products import Products, cells_of
from dpmorse.bases.staged.profile import SHARES, Questions, profile_of
from dpmorse.privacy import ReleaseEvent
from dpmorse.profiles import LevelCounts, Profile
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    NoisyMoments,
    ProfileCells,
)
from dpmorse.typing import BoolArray, FloatArray

_COUNT_OF_LEVELS = 0.2
"""Share of the cost for counts where there are no numbers."""


def release_table_profile(
    queries: Queries,
    products: Products,
    table: TableUnits,
    stage: Stage,
    rng: np.random.Generator,
    *,
    piled: BoolArray,
) -> Profile:
    """Spend a stage on the profile of products; ``piled`` says which numbers pile up at their bounds."""
    layout = table.layout
    ball = replace(table.domain, grid_bits=FINE_GRID_BITS)
    rule = cells_of(products, table, FINE_GRID_BITS)
    if not layout.n_numbers:
        shares = MomentShares(count=0.5, sum=0.5, levels=1 - _COUNT_OF_LEVELS)  # there are no sums
        statistic = CellMoments(ball, rule.n_cells, of_residuals=True, layout=layout)
        scales = queries.calibrate(statistic, stage.cost, shares)
        noisy = queries.moments(stage.step("moments"), statistic, rule, scales)
        return Profile.of_levels(noisy.counts, noisy.count_stddev, _levels(noisy, layout))
    expected = expected_records(products.mixture(table), table.domain, rng)
    public = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), FINE_GRID_BITS)
    statistic = CellMoments(public, rule.n_cells, of_residuals=True, layout=layout)

    def cells(radii: FloatArray) -> ProfileCells:
        return ProfileCells(rule, ball, _units(expected, public, layout, radii), public)

    # A cost is divided by what a record can have of numbers, and of missing values and levels.
    n_counted = layout.n_categories + layout.n_holes
    shares = replace(SHARES, levels=n_counted / (n_counted + layout.n_numbers))
    ask = Questions(queries, stage, expected, statistic, shares, cells)
    look = ask.lengths()
    noisy = ask.moments(look)
    box = Domain(public.lower[layout.number_part], public.upper[layout.number_part])
    return replace(profile_of(look, noisy, box, piled), levels=_levels(noisy, layout))


def _units(expected: Expected, box: Domain, layout: Layout, radii: FloatArray) -> GaussianCells:
    """Return cells that measure numbers in the coordinates of their component, and nothing else."""
    unit, centre = box.unit[layout.number_part], box.centre[layout.number_part]
    factors = np.linalg.cholesky(expected.covariances / unit[:, None] / unit)
    means = (expected.means - centre) / unit
    whiten, shift = whiten_numbers(layout, box, means, factors)
    return GaussianCells.from_scores(whiten, shift, np.zeros(len(radii)), radii, FINE_GRID_BITS)


def _levels(noisy: NoisyMoments, layout: Layout) -> LevelCounts:
    return LevelCounts(noisy.holes, noisy.levels, noisy.level_stddev, layout)


def has_noise_of(profile: Profile, events: Sequence[ReleaseEvent]) -> bool:
    """Say whether a profile states the noise of the lengths, moments and levels that were paid for."""
    stated = [{"count": profile.count_stddev, "level": profile.levels.stddev}]
    if profile.n_features:
        stated[0] |= {"sum": profile.sum_stddev, "second moment": profile.second_moment_stddev}
        stated = [{"count": profile.tail_stddev}, *stated]
    paid = [
        {name: stddev for name, stddev in event.noise_stddev.items() if name in own}
        for event, own in zip(events, stated, strict=False)
    ]
    return len(events) == len(stated) and paid == stated
