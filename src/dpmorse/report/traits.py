"""What makes a cluster: where it differs from all other records by more than noise explains.

A cluster and the rest of the records are groups of different components, and both have released numbers with
intervals. They differ for certain where the intervals do not overlap. Differences are measured in standard
deviations of all records, so that columns can be ranked; a level counts as a column of zeros and ones, whose
standard deviation is sqrt(p (1 - p)).
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from dpmorse.profiles import Estimate, shown_decimals
from dpmorse.report.columns import ShownColumn
from dpmorse.report.measured import Measured
from dpmorse.report.text import in_percent
from dpmorse.typing import BoolArray, FloatArray

_LEAST_SPREAD = 0.1
"""Smallest standard deviation of a level: that of one in a hundred. Rarer ones would outweigh all else."""

_LESS_OFTEN = 0.7
"""What a level is worth that a cluster has less often: that it has another more often says more."""

_SMALL = 0.0095
"""Smaller parts are written in tenths of a percent."""

_MOST_DECIMALS = 4
"""Most decimals of a number in words."""


class About(Enum):
    """What a trait is about."""

    CENTRE = "centre"
    LEVEL = "level"
    MISSING = "missing"


@dataclass(frozen=True)
class Trait:
    """One way in which a cluster differs from all other records.

    Attributes
    ----------
    column : ShownColumn
        The column.
    place : int
        Its place among the columns that are shown.
    about : About
        Whether the centre, a level, or missing values differ.
    level : int
        Place of the level among those of the column.
    difference : float
        In standard deviations of all records.
    own, others : float
        The number of the cluster, and of all other records.
    decimals : int
        How many decimals of them matter.
    """

    column: ShownColumn
    place: int
    about: About
    level: int
    difference: float
    own: float
    others: float
    decimals: int

    @property
    def numbers_in_words(self) -> str:
        """The number of the cluster and that of the others."""
        if self.about is About.CENTRE:
            own, others = (self.column.in_words(value, self.decimals) for value in (self.own, self.others))
            return f"{own}, others {others}"
        what = self.column.levels[self.level] if self.about is About.LEVEL else "missing"
        return f"{what} {percent(self.own)}, others {percent(self.others)}"


def percent(part: float) -> str:
    """Write a part of all to whole percents, or tenths where it is small."""
    return in_percent(part, 0 if part >= _SMALL or part == 0 else 1)


@dataclass(frozen=True)
class _Compared:
    """Differences of groups to their rests, and where they are clear; shape (groups, values)."""

    own: Estimate
    others: Estimate
    difference: FloatArray
    clear: BoolArray

    @classmethod
    def of(cls, own: Estimate, others: Estimate, spread: FloatArray) -> "_Compared":
        apart: BoolArray = (own.low > others.high) | (own.high < others.low)
        unit = np.where(spread > 0, spread, np.inf)
        return cls(own, others, (own.value - others.value) / unit, apart)


class Traits:
    """Traits of every group of components of one released profile."""

    def __init__(self, measured: Measured, members: FloatArray) -> None:
        self._measured = measured
        n = measured.profile.n_components
        own, others = measured.table(members), measured.table(1.0 - members)
        whole = measured.table(np.ones((1, n)))
        self._alone = members.sum(axis=1) == n  # nothing is left to compare it with
        self._supported = own.supported
        self._centres = _Compared.of(own.centre, others.centre, whole.spread.value)
        self._levels = self._missing = None
        if own.levels is not None and others.levels is not None and whole.levels is not None:
            share, missing = whole.levels.share.value, whole.levels.missing.value
            self._levels = _Compared.of(own.levels.share, others.levels.share, _spread(share))
            self._missing = _Compared.of(own.levels.missing, others.levels.missing, _spread(missing))

    def of(self, group: int) -> list[Trait]:
        """Return the strongest trait of each column of a group, strongest column first."""
        if self._alone[group] or not self._supported[group]:
            return []
        found = [self._strongest(group, place, c) for place, c in enumerate(self._measured.shown_columns)]
        return sorted((trait for trait in found if trait is not None), key=lambda t: -abs(t.difference))

    def clear_levels(self, group: int) -> list[list[int]]:
        """Return, for each category, the levels that stand out from the other records."""
        columns = [column for column in self._measured.shown_columns if not column.is_number]
        if self._levels is None or self._alone[group] or not self._supported[group]:
            return [[] for _ in columns]
        clear = self._levels.clear[group]
        return [
            [level for level, place in enumerate(self._measured.level_places(column)) if clear[place]]
            for column in columns
        ]

    def _strongest(self, group: int, place: int, column: ShownColumn) -> Trait | None:
        found = [trait for trait in self._candidates(group, place, column) if trait is not None]
        if column.is_boolean:  # what is true says it in fewer words
            found = [trait for trait in found if trait.level == 1 or trait.about is About.MISSING] or found
        return max(found, key=_worth, default=None)

    def _candidates(self, group: int, place: int, column: ShownColumn) -> list[Trait | None]:
        found: list[Trait | None] = []
        if column.is_number:
            found.append(_trait(self._centres, group, column.place, (column, place, About.CENTRE, 0)))
        elif self._levels is not None:
            found += [
                _trait(self._levels, group, at, (column, place, About.LEVEL, level))
                for level, at in enumerate(self._measured.level_places(column))
            ]
        if self._missing is not None and column.may_miss:
            at = self._measured.missing_place(column)
            found.append(_trait(self._missing, group, at, (column, place, About.MISSING, 0)))
        return found


def _worth(trait: Trait) -> float:
    if trait.about is About.CENTRE or trait.difference > 0:
        return abs(trait.difference)
    return _LESS_OFTEN * abs(trait.difference)


def _trait(
    compared: _Compared, group: int, at: int, about: tuple[ShownColumn, int, About, int]
) -> Trait | None:
    if not compared.clear[group, at] or not compared.difference[group, at]:
        return None
    own, others = compared.own, compared.others
    decimals = shown_decimals(float(own.low[group, at]), float(own.high[group, at])) - 1
    return Trait(
        *about,
        difference=float(compared.difference[group, at]),
        own=float(own.value[group, at]),
        others=float(others.value[group, at]),
        decimals=min(decimals, _MOST_DECIMALS),
    )


def _spread(part: FloatArray) -> FloatArray:
    """Return the standard deviation of zeros and ones, of which this part are ones."""
    return np.maximum(np.sqrt(part * (1 - part)), _LEAST_SPREAD)
