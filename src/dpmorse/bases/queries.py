"""The releases of one fit: exact sums from the engine, noise from the mechanism."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmorse._progress import one_pass
from dpmorse.engine import Cells, Engine
from dpmorse.privacy import Budget, Mechanism, Neighboring, Noise, PlannedRelease, noise_of_sums
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    GroupCounts,
    MagnitudeHistograms,
    MomentShares,
    NoisyMoments,
    SwapCosts,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Queries:
    """Turns a statistic and its share of the budget into released values.

    A share is in units of rho, or of epsilon where ``noise`` is Laplace.
    """

    records: Any
    engine: Engine
    mechanism: Mechanism
    budget: Budget

    @property
    def neighboring(self) -> Neighboring:
        """The relation between datasets that differ in one record."""
        return self.budget.neighboring_rows

    @property
    def noise(self) -> Noise:
        """The noise of sums: Laplace for a pure promise."""
        return noise_of_sums(self.budget)

    def counts(
        self, name: str, statistic: ColumnHistograms | MagnitudeHistograms, cost: float
    ) -> tuple[FloatArray, float]:
        """Release histograms, one row for each column; return them with their noise."""
        with one_pass(name, len(self.records)):
            exact = self.engine.count(self.records, statistic)
        released, stddev = self._counts(name, statistic.counts, exact, cost)
        return released.reshape(exact.shape), stddev

    def disjoint(self, name: str, exact: IntArray, cost: float) -> tuple[FloatArray, float]:
        """Release counts of disjoint groups of records; return them with their noise."""
        return self._counts(name, GroupCounts(exact.size), exact, cost)

    def noise_of_counts(self, cost: float) -> float:
        """Return the noise that counts of disjoint groups will have."""
        planned = GroupCounts(1).plan("", self.cost_of_a_row(cost), self.neighboring, self.noise)
        return planned.event.noise_stddev["count"]

    def total(self, name: str, cost: float) -> float:
        """Release the number of records, or state it where it is public: at least 1."""
        n_records = len(self.records)
        if self.neighboring is Neighboring.REPLACE_ONE:
            return float(n_records)
        return max(1.0, float(self.disjoint(name, np.array([n_records]), cost)[0][0]))

    def tally(self, name: str, codes: BinaryCodes) -> Tally:
        """Return exact counts of codes, which may only be used for releases and choices."""
        with one_pass(name, len(self.records)):
            return self.engine.tally(self.records, codes)

    def sums(self, name: str, statistic: CellMoments, cells: Cells, n_repeats: int = 0) -> IntArray:
        """Return exact sums as one vector, which may only be released; as many passes like it follow."""
        with one_pass(name, len(self.records), n_repeats):
            return statistic.to_units(self.engine.reduce(self.records, statistic, cells))

    def moments(
        self,
        name: str,
        statistic: CellMoments,
        cells: Cells,
        cost: float,
        shares: MomentShares,
        *,
        n_repeats: int = 0,
    ) -> NoisyMoments:
        """Release moments of cells; as many releases like it follow."""
        scales = statistic.calibrate(self.cost_of_a_row(cost), self.neighboring, shares, self.noise)
        (planned,) = statistic.plan([name], scales, self.neighboring, self.noise)
        exact = self.sums(name, statistic, cells, n_repeats)
        return statistic.from_units(self._release(exact, planned), planned)

    def cost_of_a_row(self, cost: float) -> float:
        """Return what one record may cost if all that neighbours differ in may cost ``cost``."""
        return self.noise.cost_of_a_row(cost, self.budget.rows)

    def choose(self, name: str, penalties: IntArray, limit: int, cost: float) -> int:
        """Choose an option by its penalty, to which one record contributes at most ``limit``."""
        planned = SwapCosts.plan(name, limit * self.budget.rows, cost, self.neighboring, self.noise)
        event = replace(planned.event, neighboring=self.budget.neighboring)
        return self.mechanism.choose(penalties, replace(planned, event=event))

    def _counts(
        self, name: str, statistic: GroupCounts, exact: IntArray, cost: float
    ) -> tuple[FloatArray, float]:
        planned = statistic.plan(name, self.cost_of_a_row(cost), self.neighboring, self.noise)
        released = statistic.from_units(self._release(statistic.to_units(exact), planned))
        return released, planned.event.noise_stddev["count"]

    def _release(self, exact: IntArray, planned: PlannedRelease) -> IntArray:
        return self.mechanism.release(exact, planned.for_groups(self.budget))
