"""What makes a cluster: where it differs from all other records by more than noise explains.

A cluster and the rest of the records are groups of different components, and both have released numbers with
intervals. They differ for certain where the intervals do not overlap. Differences are measured in standard
deviations of all records, so that columns can be ranked; a level counts as a column of zeros and ones, whose
standard deviation is sqrt(p (1 - p)).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from dpmorse.profiles import ClusterView, ColumnView, Estimate, NumberView, shown_decimals
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


@dataclass(frozen=True)
class _Differences:
    """Where one column of groups differs from all other records: centres, levels or missing values."""

    column: ShownColumn
    place: int
    found: dict[About, _Compared]

    @classmethod
    def of(cls, column: ShownColumn, place: int, views: Sequence[ColumnView]) -> Self:
        """Compare groups with their rests, given all records."""
        own, others, whole = views
        numbers = [view for view in views if isinstance(view, NumberView)]
        if numbers:
            group, rest, everybody = numbers
            spread = everybody.spread.value[:, None]
            found = {About.CENTRE: _Compared.of(group.centre[:, None], rest.centre[:, None], spread)}
        else:
            spread = _spread(whole.level_share.value)
            found = {About.LEVEL: _Compared.of(own.level_share, others.level_share, spread)}
        if own.missing is not None and others.missing is not None and whole.missing is not None:
            spread = _spread(whole.missing.value[:, None])
            found[About.MISSING] = _Compared.of(own.missing[:, None], others.missing[:, None], spread)
        return cls(column, place, found)

    def strongest(self, group: int) -> Trait | None:
        """Return the difference that says most about a group."""
        traits = [
            _trait(compared, group, at, (self.column, self.place, about, at))
            for about, compared in self.found.items()
            for at in np.flatnonzero(compared.clear[group] & (compared.difference[group] != 0)).tolist()
        ]
        telling = self.column.telling_level
        if telling is not None:
            few = [trait for trait in traits if trait.level == telling or trait.about is About.MISSING]
            traits = few or traits
        return max(traits, key=_worth, default=None)


class Traits:
    """Traits of every group of components of one released profile."""

    def __init__(self, measured: Measured, members: FloatArray) -> None:
        n = measured.profile.n_components
        tables = [measured.table(groups) for groups in (members, 1.0 - members, np.ones((1, n)))]
        views = [ClusterView.of(table, measured.schema).columns for table in tables]
        self._alone = members.sum(axis=1) == n  # nothing is left to compare it with
        self._supported = tables[0].supported
        self._columns = [
            _Differences.of(measured.columns[j], place, [columns[j] for columns in views])
            for place, j in enumerate(measured.shown)
        ]

    def of(self, group: int) -> list[Trait]:
        """Return the strongest trait of each column of a group, strongest column first."""
        if self._alone[group] or not self._supported[group]:
            return []
        found = [column.strongest(group) for column in self._columns]
        return sorted((trait for trait in found if trait is not None), key=lambda t: -abs(t.difference))

    def clear_levels(self, group: int) -> list[list[int]]:
        """Return, for each category, the levels that stand out from the other records."""
        levels = [column.found[About.LEVEL] for column in self._columns if About.LEVEL in column.found]
        if self._alone[group] or not self._supported[group]:
            return [[] for _ in levels]
        return [np.flatnonzero(compared.clear[group]).tolist() for compared in levels]


def _worth(trait: Trait) -> float:
    if trait.about is About.CENTRE or trait.difference > 0:
        return abs(trait.difference)
    return _LESS_OFTEN * abs(trait.difference)


def _trait(compared: _Compared, group: int, at: int, about: tuple[ShownColumn, int, About, int]) -> Trait:
    own, others = compared.own.at(group, at), compared.others.at(group, at)
    return Trait(
        *about,
        difference=float(compared.difference[group, at]),
        own=own.value,
        others=others.value,
        decimals=min(shown_decimals(own.low, own.high) - 1, _MOST_DECIMALS),
    )


def _spread(part: FloatArray) -> FloatArray:
    """Return the standard deviation of zeros and ones, of which this part are ones."""
    return np.maximum(np.sqrt(part * (1 - part)), _LEAST_SPREAD)
