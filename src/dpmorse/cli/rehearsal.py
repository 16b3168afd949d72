"""How much noise a budget buys, found by rehearsing a fit without data.

The estimator's own code runs on a few invented records that stand for many, with a mechanism that
notes each release instead of adding noise to it. What is noted cannot drift from what a fit does.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpmorse.bases import PrivateFit, Queries
from dpmorse.engine import Cells, InMemoryEngine
from dpmorse.privacy import PlannedChoice, PlannedRelease, ReleaseEvent
from dpmorse.statistics import BinaryCodes, CellMoments, ColumnHistograms
from dpmorse.typing import FloatArray, IntArray

SEEN = 3.0
"""A cluster can be seen if its count is so many standard deviations of noise: docs/privacy.md, section 9."""

_N_INVENTED = 512
_LARGEST_CROWD = 1 << 25  # 64-bit sums hold no more; more would not change the noise


@dataclass(frozen=True)
class Crowd:
    """Invented records, each standing for several."""

    points: FloatArray
    copies: int

    @classmethod
    def of(cls, n_records: int, n_features: int) -> "Crowd":
        """Spread about ``n_records`` evenly over the box from -1 to 1."""
        size = min(n_records, _N_INVENTED)
        points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(size, n_features))
        return cls(points, max(1, round(min(n_records, _LARGEST_CROWD) / size)))

    def __len__(self) -> int:
        return len(self.points) * self.copies


class CrowdEngine:
    """Exact sums over a crowd: those over its points, times the copies."""

    def __init__(self) -> None:
        self._engine = InMemoryEngine()

    def reduce(self, records: Crowd, statistic: CellMoments, cells: Cells) -> Any:
        """Add up a statistic."""
        exact = self._engine.reduce(records.points, statistic, cells)
        return type(exact)(*(records.copies * part for part in _blocks(exact)))

    def count(self, records: Crowd, statistic: ColumnHistograms) -> IntArray:
        """Count records in bins."""
        return records.copies * self._engine.count(records.points, statistic)

    def tally(self, records: Crowd, codes: BinaryCodes) -> Any:
        """Count records with each code."""
        tally = self._engine.tally(records.points, codes)
        return replace(tally, counts=records.copies * tally.counts)


class NotingMechanism:
    """Notes releases and adds nothing to them: there is nobody to protect."""

    def __init__(self) -> None:
        self.events: list[ReleaseEvent] = []

    def release(self, exact: IntArray, planned: PlannedRelease) -> IntArray:
        """Note a release."""
        self.events.append(planned.event)
        return exact

    def choose(self, penalties: IntArray, planned: PlannedChoice) -> int:
        """Note a choice."""
        self.events.append(planned.event)
        return int(penalties.argmin())


@dataclass(frozen=True)
class Rehearsed:
    """What a fit would do.

    Attributes
    ----------
    count_stddev : float
        Standard deviation of the noise of a component's count in the released mixture, in records.
    n_releases : int
        How many releases are made.
    rho : float
        What they cost.
    """

    count_stddev: float
    n_releases: int
    rho: float

    @property
    def smallest_cluster(self) -> int:
        """The smallest number of records that noise does not hide."""
        return math.ceil(SEEN * self.count_stddev)


def rehearse(base: PrivateFit, plan: Any, n_features: int, n_records: int) -> Rehearsed:
    """Run a fit of about ``n_records`` invented records up to its last release."""
    mechanism: Any = NotingMechanism()
    engine: Any = CrowdEngine()
    queries = Queries(Crowd.of(n_records, n_features), engine, mechanism, plan.settings.budget)
    with threadpool_limits(limits=1):  # as in a fit
        base._release(queries, plan, np.random.default_rng(0))  # noqa: SLF001 - the whole point
    events: list[ReleaseEvent] = mechanism.events
    last = next(event for event in reversed(events) if "count" in event.noise_stddev)
    averaged = getattr(plan.settings, "n_averaged", 1)  # of the last releases, in expectation-maximisation
    stddev = last.noise_stddev["count"] / math.sqrt(averaged)
    return Rehearsed(stddev, len(events), math.fsum(event.rho for event in events))


def _blocks(exact: Any) -> tuple[IntArray, IntArray, IntArray]:
    return exact.counts, exact.sums, exact.second_moments
