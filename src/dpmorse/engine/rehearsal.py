"""A fit without data: invented records that stand for many, and a mechanism that notes what is asked.

Nobody is protected here, because there is nobody: this is the one place where sums come back without noise,
and it takes no records but those that it invents.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmorse.engine.base import Cells
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.engine.source import Source
from dpmorse.privacy import Mechanism, PlannedChoice, PlannedRelease, ReleaseEvent
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import BinaryCodes, CellMoments, ColumnHistograms, ExactMoments, Tally
from dpmorse.typing import FloatArray, IntArray

_N_INVENTED = 512
"""Points that are invented; noise does not depend on where records lie, only on how many there are."""

_LARGEST_CROWD = 1 << 25
"""64-bit sums hold no more records with soft memberships; more would not change the noise."""


@dataclass(frozen=True)
class _Crowd:
    """Invented records, each standing for several."""

    points: FloatArray
    copies: int

    @classmethod
    def of(cls, n_records: int, n_features: int) -> "_Crowd":
        """Spread about ``n_records`` evenly over the box from -1 to 1."""
        size = min(n_records, _N_INVENTED)
        points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(size, n_features))
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

    def count(self, records: _Crowd, statistic: ColumnHistograms) -> Exact[IntArray]:
        """Count records in bins."""
        return sealed(records.copies * opened(self._engine.count(records.points, statistic)))

    def tally(self, records: _Crowd, codes: BinaryCodes) -> Exact[Tally]:
        """Count records with each code."""
        tally = opened(self._engine.tally(records.points, codes))
        return sealed(replace(tally, counts=records.copies * tally.counts))


class NotingMechanism(Mechanism):
    """Notes releases and adds nothing to them."""

    def __init__(self) -> None:
        self.events: list[ReleaseEvent] = []

    def release(self, exact: Exact[IntArray], planned: PlannedRelease) -> IntArray:
        """Note a release."""
        self.events.append(planned.event)
        return opened(exact)

    def choose(self, exact: Exact[IntArray], planned: PlannedChoice) -> int:
        """Note a choice."""
        self.events.append(planned.event)
        return int(opened(exact).argmin())


def invented_source(n_records: int, n_features: int) -> Source:
    """Return about ``n_records`` invented records to ask."""
    engine: Any = _CrowdEngine()
    return Source(_Crowd.of(n_records, n_features), engine)
