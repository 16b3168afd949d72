"""Bounds for those who know none: two histograms of each column, paid for like any release."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import (
    SMALLEST_SCALE,
    Budget,
    Composition,
    PrivacyReport,
    ReleaseEvent,
    noise_of_sums,
    release_event,
)
from dpmorse.statistics import N_BINS, Domain, MagnitudeHistograms
from dpmorse.typing import BoolArray, FloatArray

SHARE = 0.05
"""Part of the budget that ``bounds="private"`` costs."""

_NAME = "bounds of the columns"


def divide(total: float, *, private: bool) -> tuple[float, float]:
    """Return what is left for the fit, and what the bounds may cost."""
    for_bounds = SHARE * total if private else 0.0
    return total - for_bounds, for_bounds


def n_draws(domain: Domain) -> int:
    """Return how many noise values the bounds take."""
    return (MagnitudeHistograms(1).n_bins + N_BINS) * domain.n_features


def planned_events(budget: Budget, domain: Domain, cost: float) -> list[ReleaseEvent]:
    """Return what is to be reserved for bounds; nothing where they are public."""
    if not cost:
        return []
    return [
        release_event(
            name=_NAME,
            cost=Fraction(cost),
            noise=noise_of_sums(budget),
            neighboring=budget.neighboring,
            n_draws=n_draws(domain),
            smallest_scale=SMALLEST_SCALE,
        )
    ]


def release_bounds(queries: Queries, placeholder: Domain, cost: float) -> Domain:
    """Spend ``cost`` on the range of each column: its powers of two first, then sixty-fourths of that.

    Bins whose count may be noise do not count, so that a few far records are clipped. A column in which
    nothing is seen gets the bounds -1 and 1.
    """
    statistic = MagnitudeHistograms(placeholder.n_features)
    counts, stddev = queries.counts(f"{_NAME}, magnitudes", statistic, cost / 2)
    seen = counts > stddev * (1 + math.sqrt(2 * math.log(counts.size)))
    ranges = np.array([_hull(row, statistic.edges) for row in seen])
    coarse = Domain(ranges[:, 0], ranges[:, 1])
    fine = occupied_box(queries, coarse, cost / 2, name=f"{_NAME}, ranges", margin=0.05)
    return replace(fine, radius=placeholder.radius)


def without_bounds(report: PrivacyReport, planned: list[ReleaseEvent]) -> PrivacyReport:
    """Return a report without the releases of bounds; they must be there and cost no more than planned."""
    of_bounds, others = report.events[:2], report.events[2:]
    named = len(of_bounds) == 2 and all(event.name.startswith(_NAME) for event in of_bounds)
    if not named or not Composition.of(planned).covers(Composition.of(of_bounds)):
        raise ModelFormatError("privacy.events do not begin with those of private bounds.")
    return replace(report, events=others)


def _hull(seen: BoolArray, edges: FloatArray) -> tuple[float, float]:
    """Return the range of the bins that are seen."""
    bins = np.flatnonzero(seen)
    if not len(bins):
        return -1.0, 1.0
    return float(edges[bins[0]]), float(edges[bins[-1] + 1])
