"""The questions that a base may ask of records, each answered with released values and paid for.

A base cannot reach the records, nor the exact answers: what it gets back has noise, or is sealed.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.engine import Cells, Source
from dpmorse.privacy import (
    Budget,
    Exact,
    Mechanism,
    Neighboring,
    Noise,
    ReleaseEvent,
    Step,
    noise_of_sums,
)
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    GaussianCells,
    GroupCounts,
    MagnitudeHistograms,
    MomentShares,
    NearestCubes,
    NoiseScales,
    NoisyMoments,
    PrefixCells,
    ProfileCounts,
    SwapCosts,
    Tally,
    counts_starting_with,
)
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Tallied:
    """A rule that gives records codes, and how many records have which code: sealed."""

    codes: BinaryCodes
    exact: Exact[Tally]


class Queries:
    """Turns a statistic and its share of the budget into released values.

    A cost is in units of rho, or of epsilon where ``noise`` is Laplace.

    Parameters
    ----------
    source : Source
        The records and the engine that adds them up.
    mechanism : Mechanism
        What draws noise and writes costs down.
    budget : Budget
        That of the fit: which rows neighbours differ in, and which noise there is.
    """

    def __init__(self, source: Source, mechanism: Mechanism, budget: Budget) -> None:
        self._source, self._mechanism, self._budget = source, mechanism, budget

    @property
    def neighboring(self) -> Neighboring:
        """The relation between datasets that differ in one record."""
        return self._budget.neighboring_rows

    @property
    def noise(self) -> Noise:
        """The noise of sums: Laplace for a pure promise."""
        return noise_of_sums(self._budget)

    def histograms(
        self, step: Step, statistic: ColumnHistograms | MagnitudeHistograms, cost: float
    ) -> tuple[FloatArray, float]:
        """Release histograms, one row for each column; return them with their noise."""
        if type(statistic) not in {ColumnHistograms, MagnitudeHistograms}:
            raise TypeError(f"statistic must be one of dpmorse.statistics, got {type(statistic).__name__}")
        exact = self._source.histograms(step, statistic)
        released, stddev = self._counts(step, statistic.counts, exact, cost)
        return released.reshape(statistic.n_features, -1), stddev

    def profile(self, step: Step, statistic: ProfileCounts, cost: float) -> tuple[FloatArray, ReleaseEvent]:
        """Release the sizes of cells and counts in bins of every column, a row for each cell."""
        if type(statistic) is not ProfileCounts or type(statistic.rule) is not GaussianCells:
            raise TypeError("statistic must be one of dpmorse.statistics, with its own rule of cells")
        planned = statistic.plan(step, self.cost_of_a_row(cost), self.neighboring, self.noise)
        exact = statistic.to_units(self._source.histograms(step, statistic))
        released = self._mechanism.release(exact, planned.for_groups(self._budget))
        return statistic.from_units(released), planned.event

    def noise_of_bins(self, cost: float, n_columns: int) -> float:
        """Return the noise that bins of a profile of as many columns will have."""
        counts, of_a_row = GroupCounts(1, n_columns), self.cost_of_a_row(cost)
        planned = ProfileCounts.plan_bins(Step(""), counts, of_a_row, self.neighboring, self.noise)
        return planned.event.noise_stddev["count"]

    def tally(self, step: Step, codes: BinaryCodes) -> Tallied:
        """Count the records with each code: sealed, for ``group_counts`` and ``SwapCosts``."""
        if type(codes) is not BinaryCodes:  # another class could look at the records that it is shown
            raise TypeError(f"codes must be BinaryCodes, got {type(codes).__name__}")
        return Tallied(codes, self._source.tally(step, codes))

    def group_counts(
        self, step: Step, tallied: Tallied, prefixes: IntArray, n_bits: int, *, cost: float
    ) -> tuple[FloatArray, float]:
        """Release how many records have a code with each prefix of ``n_bits`` bits; return their noise too.

        Prefixes must differ: a record in two groups would change more than the one count that is paid for.
        """
        whole = prefixes.ndim == 1 and prefixes.dtype.kind == "i" and 0 <= n_bits <= tallied.codes.n_bits
        distinct = np.unique(prefixes).size == prefixes.size
        if not (whole and distinct) or np.any((prefixes < 0) | (prefixes >> n_bits)):
            raise ValueError(
                "prefixes must be distinct whole numbers of n_bits bits, and no longer than codes"
            )
        exact = counts_starting_with(tallied.exact, prefixes, n_bits)
        return self._counts(step, GroupCounts(prefixes.size), exact, cost)

    def noise_of_counts(self, cost: float) -> float:
        """Return the noise that counts of disjoint groups will have."""
        planned = GroupCounts(1).plan(Step(""), self.cost_of_a_row(cost), self.neighboring, self.noise)
        return planned.event.noise_stddev["count"]

    @property
    def public_size(self) -> float | None:
        """The number of records where it is public: under replace-one."""
        public = self._source.public_size(self._budget)
        return None if public is None else float(public)

    def total(self, step: Step, cost: float) -> float:
        """Release the number of records, or state it where it is public: at least 1."""
        if self.public_size is not None:
            return self.public_size
        counts, _ = self._counts(step, GroupCounts(1), self._source.size(), cost)
        return max(1.0, float(counts[0]))

    def calibrate(self, statistic: CellMoments, cost: float, shares: MomentShares | None) -> NoiseScales:
        """Return the noise of moments that may cost ``cost``, divided among them by shares."""
        return statistic.calibrate(self.cost_of_a_row(cost), self.neighboring, shares, self.noise)

    def rounds(self, n_rounds: int) -> Iterator[int]:
        """Yield the numbers of rounds; an engine may keep records as integers until the last is done."""
        with self._source.keeping() if n_rounds > 1 else nullcontext():
            yield from range(1, n_rounds + 1)

    def moments(
        self, step: Step, statistic: CellMoments, cells: Cells, scales: NoiseScales, *, n_repeats: int = 0
    ) -> NoisyMoments:
        """Release moments of cells with this noise; progress is told of ``n_repeats`` that follow.

        A rule of cells is shown every record: one that is written elsewhere could keep what it sees.
        """
        if type(cells) not in {GaussianCells, PrefixCells, NearestCubes}:
            raise TypeError(f"cells must be those of dpmorse.statistics, got {type(cells).__name__}")
        if cells.n_cells != statistic.n_cells:
            raise ValueError("cells must be as many as those of the statistic")
        (planned,) = statistic.plan([step], scales, self.neighboring, self.noise)
        exact = statistic.to_units(self._source.moments(step, statistic, cells, n_repeats))
        released = self._mechanism.release(exact, planned.for_groups(self._budget))
        return statistic.from_units(released, planned)

    def choose(self, step: Step, penalties: Exact[IntArray], limit: int, cost: float) -> int:
        """Choose an option by its penalty, to which one record contributes at most ``limit``."""
        of_unit = limit * self._budget.rows
        planned = SwapCosts.plan(step, of_unit, cost, self.neighboring, self.noise)
        event = replace(planned.event, neighboring=self._budget.neighboring)
        return self._mechanism.choose(penalties, replace(planned, event=event))

    def cost_of_a_row(self, cost: float) -> float:
        """Return what one record may cost if all that neighbours differ in may cost ``cost``."""
        return self.noise.cost_of_a_row(cost, self._budget.rows)

    def _counts(
        self, step: Step, statistic: GroupCounts, exact: Exact[IntArray], cost: float
    ) -> tuple[FloatArray, float]:
        planned = statistic.plan(step, self.cost_of_a_row(cost), self.neighboring, self.noise)
        released = self._mechanism.release(statistic.to_units(exact), planned.for_groups(self._budget))
        return statistic.from_units(released), planned.event.noise_stddev["count"]
