"""First stage: find the part of the bounds that holds records, so that bounds may be far too wide."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpmorse.bases.queries import Queries
from dpmorse.privacy import Step
from dpmorse.schema import Layout
from dpmorse.statistics import N_BINS, ColumnHistograms, Domain
from dpmorse.typing import FloatArray, IntArray

_LEAST_PART = 0.1
"""Part of the records that a run of several bins must hold to count as occupied. Where records are few, no
single bin stands out from the noise, but a run of bins with a tenth of the records does (docs/default.md)."""

_MARGIN = 1.0
"""Widths of the occupied range that are added on either side, for tails that are too thin to stand out in any
bin. The later stages find the scale of the records, so that a range three times too wide costs little."""


_OUTSIDE = 0.1
"""Part of the records that may seem to lie outside of that range, or it is made wider. Columns help one
another: all have the same number of records."""

_SEEN = 3.0
"""Standard deviations from which on values outside of the bounds are believed to be there."""


@dataclass(frozen=True)
class Outside:
    """How many values of each number seem to lie below and above its bounds, and their noise."""

    counts: FloatArray
    stddev: float

    @classmethod
    def none(cls) -> "Outside":
        """Return that of a table without numbers."""
        return cls(np.zeros((0, 2)), 1.0)


def occupied_box(
    queries: Queries, layout: Layout, step: Step, cost: float, n_missing: FloatArray | float = 0.0
) -> tuple[Domain, Outside]:
    """Return the part of public bounds that holds the records, by one noisy histogram per number.

    ``n_missing`` says how many values of each number are missing. A bin is occupied when its count is above
    what noise alone reaches in any bin, and so is a run of bins that holds a tenth of the records. Where a
    column has neither, its bounds stay. Also return what lies outside of the bounds.
    """
    counts, stddev = queries.histograms(step, ColumnHistograms(layout), cost)
    outside = Outside(counts[:, N_BINS:], stddev)
    counts = clipped(counts, at_least=_SEEN * stddev)
    # A record is counted once in each column, unless it is missing there.
    total = (counts.sum() + np.sum(n_missing * np.ones(len(counts)))) / len(counts) - n_missing
    totals = np.broadcast_to(total, len(counts)) / stddev
    parts = np.array(
        [_part_with_most(row / stddev, len(counts), total) for row, total in zip(counts, totals, strict=True)]
    )
    lower, width = np.array(layout.lower), np.array(layout.upper) - np.array(layout.lower)
    return Domain(lower + parts[:, 0] * width, lower + parts[:, 1] * width), outside


def clipped(counts: FloatArray, at_least: float = -math.inf) -> FloatArray:
    """Return the bins inside the bounds, values outside in the outermost ones: if they are this many."""
    inside, outside = counts[:, :N_BINS].copy(), counts[:, N_BINS:]
    inside[:, [0, -1]] += np.where(outside > at_least, outside, 0.0)
    return inside


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
