"""The releases of one fit: exact sums from the engine, noise from the mechanism."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.engine import Cells, Engine
from dpmorse.privacy import Budget, Mechanism, Neighboring, Noise
from dpmorse.statistics import (
    CellMoments,
    ColumnHistograms,
    GroupCounts,
    MomentShares,
    NoisyMoments,
    SwapCosts,
)
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Releases:
    """Turns a statistic and its share of the budget into released values.

    A share is in units of rho, or of epsilon where ``noise`` is Laplace.
    """

    records: Any
    engine: Engine
    mechanism: Mechanism
    budget: Budget

    @property
    def neighboring(self) -> Neighboring:
        """The relation under which a share is spent."""
        return self.budget.neighboring

    @property
    def noise(self) -> Noise:
        """The noise of sums: Laplace for a pure promise."""
        return Noise.LAPLACE if self.budget.is_pure else Noise.GAUSSIAN

    def counts(self, name: str, statistic: ColumnHistograms, rho: float) -> tuple[FloatArray, float]:
        """Release histograms; return them with the standard deviation of their noise."""
        exact = self.engine.count(self.records, statistic)
        released, stddev = self._counts(name, statistic.counts, exact, rho)
        return released.reshape(exact.shape), stddev

    def disjoint(self, name: str, exact: IntArray, cost: float) -> tuple[FloatArray, float]:
        """Release counts of disjoint groups of records; return them with their noise."""
        return self._counts(name, GroupCounts(exact.size), exact, cost)

    def total(self, name: str, cost: float) -> float:
        """Release the number of records, or state it where it is public: at least 1."""
        n_records = len(self.records)
        if self.neighboring is Neighboring.REPLACE_ONE:
            return float(n_records)
        return max(1.0, float(self.disjoint(name, np.array([n_records]), cost)[0][0]))

    def moments(
        self, name: str, statistic: CellMoments, cells: Cells, cost: float, shares: MomentShares
    ) -> NoisyMoments:
        """Release moments of cells."""
        scales = statistic.calibrate(cost, self.neighboring, shares, self.noise)
        (planned,) = statistic.plan([name], scales, self.neighboring, self.noise)
        exact = statistic.to_units(self.engine.reduce(self.records, statistic, cells))
        return statistic.from_units(self.mechanism.release(exact, planned), planned)

    def choose(self, name: str, penalties: IntArray, limit: int, cost: float) -> int:
        """Choose an option by its penalty, to which one record contributes at most ``limit``."""
        planned = SwapCosts.plan(name, limit, cost, self.neighboring, pure=self.budget.is_pure)
        return self.mechanism.choose(penalties, planned)

    def _counts(
        self, name: str, statistic: GroupCounts, exact: IntArray, cost: float
    ) -> tuple[FloatArray, float]:
        planned = statistic.plan(name, cost, self.neighboring, self.noise)
        released = statistic.from_units(self.mechanism.release(statistic.to_units(exact), planned))
        return released, planned.event.noise_stddev["count"]
