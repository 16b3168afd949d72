"""First stage: find the part of the bounds that holds records, so that bounds may be far too wide."""

import math
from collections.abc import Callable

import numpy as np

from dpmorse.bases.queries import Queries
from dpmorse.privacy import Step
from dpmorse.statistics import N_BINS, ColumnHistograms, Domain
from dpmorse.typing import BoolArray, FloatArray, IntArray

_LEAST_PART = 0.1
"""Part of the records that a run of several bins must hold to count as occupied. Where records are few, no
single bin stands out from the noise, but a run of bins with a tenth of the records does (docs/default.md)."""

_MARGIN = 1.0
"""Widths of the occupied range that are added on either side, for tails that are too thin to stand out in any
bin. The later stages find the scale of the records, so that a range three times too wide costs little."""


_OUTSIDE = 0.1
"""Part of the records that may seem to lie outside of that range, or it is made wider. Columns help one
another: all have the same number of records."""

_PILE = 4.0
"""Standard deviations by which an outermost bin must exceed what its neighbours let one expect."""

_NEXT = 16
"""Bins next to the outermost one, of which the emptier half tells a continuous column from one of few
values."""

_EMPTY = 1.0
"""What the emptier half of these bins exceeds, in standard deviations of noise, if it is not empty. Where the
records of a column have few values, the sum of the half is -4 to -6, give or take two."""

_STEEPEST = 3.0
"""Largest factor by which counts are expected to grow towards a bound, from one bin to the next."""


def occupied_box(
    queries: Queries, domain: Domain, step: Step, cost: float, n_missing: FloatArray | float = 0.0
) -> tuple[Domain, BoolArray]:
    """Return the part of a public box that holds the records, by one noisy histogram per column.

    ``n_missing`` says how many values of each column are missing, and stand in the middle of the box.

    A bin is occupied when its count is above what noise alone reaches in any bin, and so is a run of bins
    that holds a tenth of the records. Where a column has neither, its bounds stay. Also say which columns
    pile up at their lower and upper bound.
    """
    counts, stddev = queries.histograms(step, ColumnHistograms(domain), cost)
    total = counts.sum() / len(counts) - n_missing  # a record is counted once in each column
    counts[:, N_BINS // 2] -= n_missing
    totals = np.broadcast_to(total, len(counts)) / stddev
    parts = np.array(
        [_part_with_most(row / stddev, len(counts), total) for row, total in zip(counts, totals, strict=True)]
    )
    width = domain.upper - domain.lower
    box = Domain(domain.lower + parts[:, 0] * width, domain.lower + parts[:, 1] * width)
    piled = np.column_stack([_piles_up(counts, stddev), _piles_up(counts[:, ::-1], stddev)])
    return box, piled & (width > 0)[:, None]


def _part_with_most(counts: FloatArray, n_columns: int, total: float) -> tuple[float, float]:
    """Return the occupied part, with a margin that doubles until most records seem to be inside.

    Where noise is large, a spike stands out in its bin (the zero of a column that is mostly zeros), and the
    half of the records that are spread out beside it do not.
    """

    def holds(inside: slice) -> bool:
        return float(counts[inside].sum()) >= (1 - _OUTSIDE) * total

    return widest_needed(counts, n_columns, _MARGIN, holds)


def widest_needed(
    counts: FloatArray, n_columns: int, margin: float, holds: Callable[[slice], bool]
) -> tuple[float, float]:
    """Return the occupied part, with a margin that doubles until its bins hold what they should, or all."""
    while True:
        part = occupied_part(counts, n_columns, margin)
        inside = slice(math.floor(part[0] * N_BINS), math.ceil(part[1] * N_BINS))
        if part == (0.0, 1.0) or holds(inside):
            return part
        margin *= 2


def _piles_up(counts: FloatArray, stddev: float) -> BoolArray:
    """Say in which columns the first bin holds more than the next two let one expect: clipped values.

    Counts that grow towards the bound by a constant factor, as those of an exponential distribution do, are
    expected to go on. Whole numbers fall into bins unevenly: no bin is expected to hold less than the third.
    Where most of the next bins are empty, the column is taken for one of few values, such as 0 and 1.
    """
    first, second, third = counts[:, :3].T
    factor = np.clip(second / np.maximum(third, stddev), 1.0, _STEEPEST)
    # The noise of first - second^2 / third, linearised; counts of records vary by their root without any.
    weights = np.column_stack([np.ones_like(factor), 4 * factor**2, factor**4])
    noise = np.sqrt(np.sum(weights * (stddev**2 + np.maximum(counts[:, :3], 0.0)), axis=1))
    expected = np.maximum(np.maximum(second, 0.0) * factor, third)
    emptiest = np.sort(counts[:, 1 : 1 + _NEXT], axis=1)[:, : _NEXT // 2].sum(axis=1)
    continuous = emptiest > _EMPTY * stddev
    piled: BoolArray = (first - expected > _PILE * noise) & continuous
    return piled


def occupied_part(counts: FloatArray, n_columns: int, relative_margin: float) -> tuple[float, float]:
    """Return the widened range of the occupied runs of bins, as parts of the box's width.

    ``counts`` are in units of their noise. The range begins where the run that ends first begins, and ends
    where the run that begins last ends. Outside of it no bin stands out, and no run of bins holds a tenth of
    the records. Where records are too few to stand out in single bins, they are found in runs.
    """
    first, end = _occupied_runs(counts, n_columns)
    if not len(first):
        return 0.0, 1.0
    start, stop = first[end == end.min()].max(), end[first == first.max()].min()
    margin = relative_margin * (stop - start)
    return max(0.0, (start - margin) / N_BINS), min(1.0, (stop + margin) / N_BINS)


def _occupied_runs(counts: FloatArray, n_columns: int) -> tuple[IntArray, IntArray]:
    """Return the begins and ends of the runs of bins that hold more than noise alone puts into any run."""
    first, end = np.triu_indices(N_BINS + 1, 1)
    length = end - first
    before = np.concatenate([[0.0], np.cumsum(counts)])
    content = before[end] - before[first]
    heavy = content > _LEAST_PART * before[-1]
    single = length == 1
    # The largest of m standard normal numbers is about sqrt(2 ln m); 1 is added as a margin. The noise of a
    # run of L bins is sqrt(L) times that of one bin.
    of_bins, of_runs = (1 + math.sqrt(2 * math.log(n_columns * n)) for n in (N_BINS, len(first)))
    occupied = content > np.sqrt(length) * np.where(single, of_bins, of_runs)
    occupied &= single | heavy
    return first[occupied], end[occupied]
