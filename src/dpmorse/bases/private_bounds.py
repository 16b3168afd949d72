"""Bounds for those who know none: two histograms of each column, paid for like any release."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.magnitudes import LARGEST_HIDDEN, bounds_of
from dpmorse.bases.plan import BOUNDS, Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import clipped, widest_needed
from dpmorse.bases.settings import Settings
from dpmorse.exceptions import NoisyModelWarning
from dpmorse.schema import Layout
from dpmorse.statistics import ColumnHistograms, Domain, MagnitudeHistograms
from dpmorse.typing import FloatArray

_MARGIN = 0.25
"""Widths of a found range that are added on either side, for tails; more where much may be outside."""

_LARGEST_OUTSIDE = 0.05
"""Part of the records that may be outside of a found range, twice its noise added."""

_GUESS = (-1.0, 1.0)
"""Bounds of a column in which nothing is found."""


def release_bounds(queries: Queries, plan: Plan[Settings]) -> Domain:
    """Spend the stage of bounds on the range of each column: powers of two first, then sixty-fourths of that.

    The first gives bounds that are wide on purpose (``bounds_of``). The second makes them tighter where it
    can be told that little is cut off, which takes many records: where they are few, the first ones stay. A
    column in which nothing is found gets the bounds -1 and 1, and a warning.
    """
    stage, n_columns = plan[BOUNDS], plan.domain.n_features
    counts, stddev = queries.histograms(
        stage.step("magnitudes"), MagnitudeHistograms(n_columns), stage.cost / 2
    )
    found = [bounds_of(row / stddev, n_columns, queries.noise) for row in counts]
    _warn_of(
        [column for column, bounds in enumerate(found) if bounds is None],
        "nothing stands out from the noise in columns {} (counted from 0). Their bounds are a guess, -1 and "
        "1, and numbers about them are worth nothing.",
    )
    _warn_of(  # the noise of a bin may hide a large part of the records
        [column for column, bounds in enumerate(found) if bounds and bounds.hidden > LARGEST_HIDDEN],
        "few records stand out from the noise in columns {} (counted from 0). Tails and small groups may lie "
        "outside of their bounds, which may also be far too wide.",
    )
    lower, upper = np.array([(bounds.lower, bounds.upper) if bounds else _GUESS for bounds in found]).T
    tighter = _tighter(queries, Domain(lower, upper), stage)
    known = np.array([bounds is not None for bounds in found])
    return Domain(
        np.where(known, tighter.lower, lower),
        np.where(known, tighter.upper, upper),
        radius=plan.domain.radius,
    )


def _tighter(queries: Queries, box: Domain, stage: Stage) -> Domain:
    """Return the part of the box that holds the records, by one noisy histogram per column."""
    layout = Layout(tuple(box.lower.tolist()), tuple(box.upper.tolist()))
    found, stddev = queries.histograms(stage.step("ranges"), ColumnHistograms(layout), stage.cost / 2)
    counts = clipped(found)
    total = counts.sum() / len(counts) / stddev  # a record is counted once in each column
    parts = np.array([guarded_part(row / stddev, len(counts), total) for row in counts])
    width = box.upper - box.lower
    return replace(box, lower=box.lower + parts[:, 0] * width, upper=box.lower + parts[:, 1] * width)


def guarded_part(counts: FloatArray, n_columns: int, total: float) -> tuple[float, float]:
    """Return the occupied part of a column's bins, with a margin that doubles until little can be outside.

    ``counts`` and their ``total`` are in units of the noise of a count.
    """

    def holds(inside: slice) -> bool:
        outside = np.delete(counts, inside)
        # Counts below 0 are luck and do not make up for the noise: a range would be accepted by chance
        # otherwise.
        at_most = max(0.0, float(outside.sum())) + 2 * math.sqrt(len(outside))
        return at_most <= _LARGEST_OUTSIDE * total

    return widest_needed(counts, n_columns, _MARGIN, holds)


def _warn_of(columns: Sequence[int], what: str) -> None:
    """Warn the caller of ``fit`` of columns. What was seen of them is released, so this costs nothing."""
    if columns:
        shown = ", ".join(map(str, columns[:10])) + (", ..." if len(columns) > 10 else "")
        warnings.warn(
            f"Private bounds: {what.format(shown)} Give bounds from public knowledge; or it takes more "
            "records, a larger epsilon, or fewer columns.",
            NoisyModelWarning,
            stacklevel=7,
        )
