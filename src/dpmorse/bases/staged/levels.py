"""First stages: counts of levels and missing values, where the numbers lie, and units for them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import Outside, occupied_box
from dpmorse.bases.staged.encoded import counted_of, encoded_domain, numbers_of
from dpmorse.bases.staged.shares import LEVELS, MOMENTS, RANGES
from dpmorse.bases.staged.units import LEAST_RECORDS, OUTER, Units, release_units
from dpmorse.densities import SMALLEST_GINI
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    SecondMoments,
)
from dpmorse.typing import FloatArray

_SHARES = MomentShares(count=0.2, sum=0.8)
"""Shares of the cost of levels: the count is one number, all else is counted in each level."""

_LEAST_PART = 0.02
"""Smallest part of the records in which a column is taken to be there."""

_LEAST_NOISE = 0.5
"""Least count of a level, in standard deviations of its noise: what noise cannot exclude stays possible."""


@dataclass(frozen=True)
class TableUnits:
    """What the first stages have released of a table."""

    layout: Layout
    n_records: float
    n_missing: FloatArray
    """How many values of each number are missing."""

    present: FloatArray
    """Part of the records in which each category is there."""

    marginals: FloatArray
    """Probability of each level where its category is there."""

    numbers: Units
    """Units of the numbers, of which there may be none."""

    outside: Outside = field(default_factory=Outside.none)
    """How many values of each number lie outside of its bounds."""

    @property
    def observed(self) -> FloatArray:
        """Part of the records in which each number is there."""
        return np.clip(1 - self.n_missing / self.n_records, _LEAST_PART, 1.0)

    @property
    def level_scales(self) -> FloatArray:
        """What a level is multiplied by, so that all categories vary alike: Gini^(-1/2) of its column."""
        squares = np.bincount(self.layout.category_of_level, self.marginals**2, self.layout.n_categories)
        return np.asarray(np.maximum(1 - squares, SMALLEST_GINI) ** -0.5)[self.layout.category_of_level]

    @property
    def domain(self) -> Domain:
        """The box in which components are measured, and records labelled."""
        return self._box(1.0)

    @property
    def outer(self) -> Domain:
        """A wider box on a fine grid, of which linear functions are taken."""
        return replace(self._box(OUTER), grid_bits=FINE_GRID_BITS)

    def _box(self, factor: float) -> Domain:
        wide = self.numbers.widened(factor).domain
        return encoded_domain(self.layout, wide.lower, wide.upper)


def release_table_units(queries: Queries, layout: Layout, plan: Plan[Any]) -> TableUnits:
    """Release counts of levels and missing values, then ranges and moments of the numbers."""
    units = _release_levels(queries, layout, plan[LEVELS])
    if not layout.n_numbers:
        return units
    stage = plan[RANGES]
    found, outside = occupied_box(queries, layout, stage.step(), stage.cost, units.n_missing)
    public = numbers_of(layout)
    # Numbers are looked at in steps from the middle of their public bounds.
    step = (np.array(layout.upper) - np.array(layout.lower)) / 2 * 2.0**-FINE_GRID_BITS
    lower, upper = ((bound - layout.middle) / step for bound in (found.lower, found.upper))
    box = Domain(lower, upper, projection=public.projection)
    inside = release_units(queries, public, box, plan[MOMENTS], units.n_missing)
    lower, upper = (layout.middle + step * bound for bound in (inside.domain.lower, inside.domain.upper))
    numbers = replace(inside, domain=Domain(lower, upper, radius=inside.domain.radius))
    return replace(units, numbers=numbers, outside=outside)


def _release_levels(queries: Queries, layout: Layout, stage: Stage) -> TableUnits:
    """Return the units of a table whose numbers are not looked at yet."""
    domain = counted_of(layout)
    statistic = CellMoments(domain, 1, second_moments=SecondMoments.NONE)
    everywhere = GaussianCells.nearest(np.zeros((1, domain.n_features)))
    scales = queries.calibrate(statistic, stage.cost, _SHARES)
    noisy = queries.moments(stage.step(), statistic, everywhere, scales)
    n = max(float(noisy.counts[0]), LEAST_RECORDS)
    holes, counts = np.split(noisy.sums[0], [layout.n_holes])
    n_missing = np.zeros(layout.n_numbers)
    n_missing[list(layout.holes)] = np.clip(holes, 0.0, (1 - _LEAST_PART) * n)
    of_level, n_levels = layout.category_of_level, np.array(layout.n_levels, dtype=np.float64)
    counts = np.maximum(counts, _LEAST_NOISE * noisy.sum_stddev + 1e-3 * n / n_levels[of_level])
    totals = np.bincount(of_level, counts, layout.n_categories)
    present, marginals = np.clip(totals / n, _LEAST_PART, 1.0), counts / totals[of_level]
    none = np.zeros(0)
    numbers = Units(Domain(none, none, radius=1.0), 1.0, none, n)
    return TableUnits(layout, n, n_missing, present, marginals, numbers)
