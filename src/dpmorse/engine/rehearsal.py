"""A fit without data: invented records with multiplicities, and a mechanism that records the releases.

This is the one place where sums are returned without noise. It takes no records but those that it invents, so
that there is nobody to protect.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmorse.engine.base import Cells
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.engine.source import Source
from dpmorse.privacy import Mechanism, PlannedChoice, PlannedRelease, ReleaseEvent
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes, CellMoments, ExactMoments, Histograms, Tally
from dpmorse.typing import FloatArray, IntArray

_N_INVENTED = 512
"""Number of invented points. The noise of a plan depends on the number of records, not on where they lie, so
that few points with multiplicities suffice."""

_LARGEST_CROWD = 1 << 25
"""Largest number of records that is rehearsed. With soft memberships, 64-bit sums hold no more; the noise
would not change with more."""


@dataclass(frozen=True)
class _Crowd:
    """Invented records, each with the same multiplicity."""

    points: FloatArray
    copies: int

    @classmethod
    def of(cls, n_records: int, layout: Layout) -> "_Crowd":
        """Spread about ``n_records`` evenly over the columns of a table, without missing values."""
        size = min(n_records, _N_INVENTED)
        points = np.zeros((size, layout.width))
        spread = np.random.default_rng(0).uniform(-0.5, 0.5, size=(size, layout.n_numbers))
        half = (np.array(layout.upper) - np.array(layout.lower)) / 2
        points[:, layout.number_part] = layout.middle + half * spread
        for own in layout.levels:
            drawn = np.random.default_rng(own.start).integers(own.stop - own.start, size=size)
            points[np.arange(size), layout.level_part.start + own.start + drawn] = 1
        return cls(points, max(1, round(min(n_records, _LARGEST_CROWD) / size)))

    def __len__(self) -> int:
        return len(self.points) * self.copies


class _CrowdEngine:
    """Exact sums over a crowd: those over its points, times the copies."""

    def __init__(self) -> None:
        self._engine = InMemoryEngine()

    def reduce(self, records: _Crowd, statistic: CellMoments, cells: Cells) -> Exact[ExactMoments]:
        """Add up a statistic."""
        exact = opened(self._engine.reduce(records.points, statistic, cells))
        blocks = (exact.counts, exact.sums, exact.second_moments)
        return sealed(ExactMoments(*(records.copies * block for block in blocks)))

    def count(self, records: _Crowd, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins."""
        return sealed(records.copies * opened(self._engine.count(records.points, statistic)))

    def tally(self, records: _Crowd, codes: BinaryCodes) -> Exact[Tally]:
        """Count records with each code."""
        tally = opened(self._engine.tally(records.points, codes))
        return sealed(replace(tally, counts=records.copies * tally.counts))


class _NotingMechanism(Mechanism):
    """Notes releases and adds nothing to them; made only together with invented records."""

    def __init__(self) -> None:
        self.events: list[ReleaseEvent] = []

    def release(self, exact: Exact[IntArray], planned: PlannedRelease) -> IntArray:
        """Record a release and return the exact values."""
        self.events.append(planned.event)
        return opened(exact)

    def choose(self, exact: Exact[IntArray], planned: PlannedChoice) -> int:
        """Record a choice and return the best option."""
        self.events.append(planned.event)
        return int(opened(exact).argmin())


def invented(n_records: int, layout: Layout) -> tuple[Source, _NotingMechanism]:
    """Return about ``n_records`` invented records to ask, and the mechanism that answers for them."""
    engine: Any = _CrowdEngine()
    return Source(_Crowd.of(n_records, layout), engine), _NotingMechanism()
