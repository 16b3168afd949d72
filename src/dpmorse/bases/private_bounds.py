"""Bounds for those who know none: two histograms of each column, paid for like any release."""

import math
from dataclasses import replace

import numpy as np

from dpmorse.bases.plan import BOUNDS, Plan
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.bases.settings import Settings
from dpmorse.statistics import Domain, MagnitudeHistograms
from dpmorse.typing import BoolArray, FloatArray

_MARGIN = 0.05
"""Widths of a found range that are added on either side: bins are 1.6 % of the width, and tails are thin."""


def release_bounds(queries: Queries, plan: Plan[Settings]) -> Domain:
    """Spend the stage of bounds on the range of each column: powers of two first, then sixty-fourths of that.

    Bins whose count may be noise do not count, so that a few far records are clipped. A column in which
    nothing is seen gets the bounds -1 and 1.
    """
    stage, statistic = plan[BOUNDS], MagnitudeHistograms(plan.domain.n_features)
    counts, stddev = queries.histograms(stage.step("magnitudes"), statistic, stage.cost / 2)
    seen = counts > stddev * (1 + math.sqrt(2 * math.log(counts.size)))
    ranges = np.array([_hull(row, statistic.edges) for row in seen])
    coarse = Domain(ranges[:, 0], ranges[:, 1])
    fine = occupied_box(queries, coarse, stage.step("ranges"), stage.cost / 2, margin=_MARGIN)
    return replace(fine, radius=plan.domain.radius)


def _hull(seen: BoolArray, edges: FloatArray) -> tuple[float, float]:
    """Return the range of the bins that are seen."""
    bins = np.flatnonzero(seen)
    if not len(bins):
        return -1.0, 1.0
    return float(edges[bins[0]]), float(edges[bins[-1] + 1])
