"""Questions to engines: their plain forms, their answers, and their releases."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.cases import released_of
from audits.kernels import plain
from audits.kernels.hostile import Rng
from dpmorse.privacy import Neighboring, PlannedChoice, PlannedRelease, Step
from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    GroupCounts,
    MomentShares,
    SecondMoments,
    SwapCosts,
    counts_starting_with,
)
from dpmorse.typing import FloatArray, IntArray

_COST = 0.5
"""Cost of a release, so that it is a Gaussian mechanism with mu = 1."""


@dataclass(frozen=True)
class Sums:
    """Sums of a statistic over the records of cells."""

    statistic: Any
    cells: Any
    draw: Callable[[Rng, int], FloatArray]
    """Draws records that are hard to add up."""

    def plain(self, X: FloatArray) -> IntArray:
        """Return the plain form of the answer."""
        return plain.sums(X, self.statistic, self.cells)

    def answer(self, engine: Any, records: Any) -> IntArray:
        """Return the answer without noise."""
        return opened(self.statistic.to_units(engine.reduce(records, self.statistic, self.cells)))

    def planned(self, rng: Rng, relation: Neighboring) -> PlannedRelease:
        """Plan the release, with any shares of the cost."""
        shares = _shares(rng, self.statistic.second_moments)
        if self.statistic.layout is not None:
            shares = replace(shares, levels=float(rng.uniform(0.1, 0.9)))
        scales = self.statistic.calibrate(_COST, relation, shares)
        (planned,) = self.statistic.plan([Step("sums")], scales, relation)
        return planned  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Bins:
    """Counts of records in bins of columns, or of cells."""

    statistic: Any
    draw: Callable[[Rng, int], FloatArray]

    def plain(self, X: FloatArray) -> IntArray:
        """Return the plain form of the answer."""
        return opened(released_of(self.statistic).to_units(sealed(plain.counts(X, self.statistic))))

    def answer(self, engine: Any, records: Any) -> IntArray:
        """Return the answer without noise."""
        return opened(released_of(self.statistic).to_units(engine.count(records, self.statistic)))

    def planned(self, rng: Rng, relation: Neighboring) -> PlannedRelease:
        """Plan the release."""
        del rng
        planned: PlannedRelease = released_of(self.statistic).plan(Step("bins"), _COST, relation)
        return planned


@dataclass(frozen=True)
class Groups:
    """Counts of all codes."""

    codes: BinaryCodes
    draw: Callable[[Rng, int], FloatArray]

    @property
    def statistic(self) -> GroupCounts:
        """The counts that are released."""
        return GroupCounts(1 << self.codes.n_bits)

    def plain(self, X: FloatArray) -> IntArray:
        """Return the plain form of the answer."""
        counted = np.zeros(1 << self.codes.n_bits, dtype=np.int64)
        for code, n in plain.tally(X, self.codes).items():
            counted[code] = n
        return opened(self.statistic.to_units(sealed(counted)))

    def answer(self, engine: Any, records: Any) -> IntArray:
        """Return the answer without noise."""
        prefixes, tally = np.arange(1 << self.codes.n_bits), engine.tally(records, self.codes)
        return opened(self.statistic.to_units(counts_starting_with(tally, prefixes, self.codes.n_bits)))

    def planned(self, rng: Rng, relation: Neighboring) -> PlannedRelease:
        """Plan the release."""
        del rng
        return self.statistic.plan(Step("groups"), _COST, relation)


@dataclass(frozen=True)
class Swaps:
    """Costs of sets of centres, by which one is chosen."""

    codes: BinaryCodes
    candidates: IntArray
    chosen: IntArray
    limit: int
    draw: Callable[[Rng, int], FloatArray]

    @property
    def statistic(self) -> type[SwapCosts]:
        """The costs that decide."""
        return SwapCosts

    def plain(self, X: FloatArray) -> IntArray:
        """Return the plain form of the costs."""
        found = plain.tally(X, self.codes)
        points = self.codes.centres(np.array(sorted(found)), self.codes.bits)
        numbers = np.array([found[code] for code in sorted(found)])
        return np.array(plain.swaps(points, numbers, self.candidates, self.chosen, self.limit))

    def answer(self, engine: Any, records: Any) -> IntArray:
        """Return the costs."""
        costs = SwapCosts.of(engine.tally(records, self.codes), self.codes, self.codes.bits, self.limit)
        return opened(costs.after_swaps(self.candidates, self.chosen))

    def planned(self, rng: Rng, relation: Neighboring) -> PlannedChoice:
        """Plan the choice."""
        del rng
        return SwapCosts.plan(Step("swap"), self.limit, _COST, relation)


Question = Sums | Bins | Groups | Swaps


def _shares(rng: Rng, kind: SecondMoments) -> MomentShares:
    count, total, _ = 0.02 + 0.94 * rng.dirichlet(np.ones(3))
    if kind is SecondMoments.NONE:
        return MomentShares(count=count, sum=1 - count)
    return MomentShares(count=count, sum=total, second_moment=1 - count - total)
