"""First stage: where the records lie, so that bounds may be far too wide."""

import math

import numpy as np

from dpmorse.estimators._releases import Releases
from dpmorse.statistics import ColumnHistograms, Domain
from dpmorse.statistics.histograms import N_BINS
from dpmorse.typing import BoolArray

_MARGIN = 1.0  # widths of the occupied range added on either side: tails too thin to be seen


def occupied_box(
    releases: Releases,
    domain: Domain,
    cost: float,
    *,
    name: str = "ranges of the columns",
    margin: float = _MARGIN,
) -> Domain:
    """Return the part of a public box that holds the records, by one noisy histogram per column.

    ``margin`` widths of the occupied range are added on either side. A bin is occupied when its count is
    above what noise alone reaches in any bin. Where no bin of a column is, its bounds stay.
    """
    counts, stddev = releases.counts(name, ColumnHistograms(domain), cost)
    occupied = counts > stddev * (1 + math.sqrt(2 * math.log(counts.size)))
    parts = np.array([_range(row, margin) for row in occupied])
    width = domain.upper - domain.lower
    return Domain(domain.lower + parts[:, 0] * width, domain.lower + parts[:, 1] * width)


def _range(occupied: BoolArray, relative_margin: float) -> tuple[float, float]:
    """Return the widened range of occupied bins, as parts of the box's width."""
    bins = np.flatnonzero(occupied)
    if not len(bins):
        return 0.0, 1.0
    first, end = int(bins[0]), int(bins[-1]) + 1
    margin = relative_margin * (end - first)
    return max(0.0, (first - margin) / N_BINS), min(1.0, (end + margin) / N_BINS)
