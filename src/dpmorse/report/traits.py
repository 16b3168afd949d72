"""What makes a cluster: where it differs from all other records by more than noise explains, and in words.

A cluster and the rest of the records are groups of different components, and both have released numbers with
intervals. They differ for certain where the intervals do not overlap. Differences are measured in standard
deviations of all records, so that columns can be ranked; a level counts as a column of zeros and ones, whose
standard deviation is sqrt(p (1 - p)).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from dpmorse.profiles import (
    ClusterView,
    ColumnView,
    Estimate,
    Interval,
    NumberView,
    group_table,
    shown_decimals,
)
from dpmorse.report.columns import Measured, ShownColumn
from dpmorse.typing import BoolArray, FloatArray

_LEAST_SPREAD = 0.1
"""Smallest standard deviation of a level: that of one in a hundred. Rarer ones would outweigh all else."""

_LESS_OFTEN = 0.7
"""What a level is worth that a cluster has less often: that it has another more often says more."""

_SMALL = 0.0095
"""Smaller parts are written in tenths of a percent."""

_MOST_DECIMALS = 4
"""Most decimals of a number in words."""

OF_ALL_RECORDS = "All records: there is nothing to compare them with."
"""The sentence about the only cluster there is."""

_MOST_PHRASES = 4
"""Most columns in a sentence; the others are ranked beside it."""

_CLEAR, _STRONG = 0.5, 1.5
"""Differences, in standard deviations, that are worth a word, and that are worth "very"."""

_MOST_DECIMALS_OF_SIZE = 2
"""Most decimals of a share of all records, in percent."""

_MOSTLY, _HARDLY = 0.5, 0.02
"""Parts of a cluster from which on it has a level mostly, and up to which it hardly ever has it."""


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
            own = self.column.in_words(self.own, self.decimals)
            return f"{own}, others {self.column.in_words(self.others, self.decimals)}"
        what = self.column.levels[self.level] if self.about is About.LEVEL else "missing"
        return f"{what} {_in_percent(self.own)}, others {_in_percent(self.others)}"


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
    """Traits of every group of components of one released profile.

    Attributes
    ----------
    table : ClusterTable
        The table of the groups.
    columns : list of ColumnView
        What people read of it, of the columns that are shown.
    """

    def __init__(self, measured: Measured, members: FloatArray) -> None:
        profile, everybody = measured.profile, np.ones((1, measured.profile.n_components))
        self.table = group_table(profile, members)
        tables = (self.table, group_table(profile, 1.0 - members), group_table(profile, everybody))
        own, others, whole = (ClusterView.of(table, measured.schema).columns for table in tables)
        self.columns = [own[place] for place in measured.shown]
        self._shown = [measured.columns[place] for place in measured.shown]
        self._found = [_differences(own[place], others[place], whole[place]) for place in measured.shown]
        # There must be others to compare a group with.
        self._comparable = self.table.supported & (members.sum(axis=1) != profile.n_components)

    def of(self, group: int) -> list[Trait]:
        """Return the strongest trait of each column of a group, strongest column first."""
        if not self._comparable[group]:
            return []
        found = [self._strongest(group, place) for place in range(len(self._shown))]
        return sorted(filter(None, found), key=lambda trait: -abs(trait.difference))

    def clear_levels(self, group: int) -> list[list[int]]:
        """Return, for each category, the levels that stand out from the other records."""
        levels = [found[About.LEVEL] for found in self._found if About.LEVEL in found]
        if not self._comparable[group]:
            return [[] for _ in levels]
        return [np.flatnonzero(compared.clear[group]).tolist() for compared in levels]

    def _strongest(self, group: int, place: int) -> Trait | None:
        """Return the difference in a column that says most about a group."""
        column, traits = self._shown[place], []
        for about, compared in self._found[place].items():
            difference = compared.difference[group]
            for at in np.flatnonzero(compared.clear[group] & (difference != 0)).tolist():
                own, others = compared.own.at(group, at), compared.others.at(group, at)
                decimals = min(shown_decimals(own.low, own.high) - 1, _MOST_DECIMALS)
                traits.append(
                    Trait(column, place, about, at, float(difference[at]), own.value, others.value, decimals)
                )
        if column.telling_level is not None:
            of_telling = [t for t in traits if t.level == column.telling_level or t.about is About.MISSING]
            traits = of_telling or traits
        return max(traits, key=_worth, default=None)


def _differences(own: ColumnView, others: ColumnView, whole: ColumnView) -> dict[About, _Compared]:
    """Compare one column of groups with that of their rests: centres, levels or missing values."""
    if isinstance(own, NumberView) and isinstance(others, NumberView) and isinstance(whole, NumberView):
        spread = whole.spread.value[:, None]
        found = {About.CENTRE: _Compared.of(own.centre[:, None], others.centre[:, None], spread)}
    else:
        spread = _spread(whole.level_share.value)
        found = {About.LEVEL: _Compared.of(own.level_share, others.level_share, spread)}
    if own.missing is not None and others.missing is not None and whole.missing is not None:
        spread = _spread(whole.missing.value[:, None])
        found[About.MISSING] = _Compared.of(own.missing[:, None], others.missing[:, None], spread)
    return found


def _spread(part: FloatArray) -> FloatArray:
    """Return the standard deviation of zeros and ones, of which this part are ones."""
    return np.maximum(np.sqrt(part * (1 - part)), _LEAST_SPREAD)


def _worth(trait: Trait) -> float:
    if trait.about is About.CENTRE or trait.difference > 0:
        return abs(trait.difference)
    return _LESS_OFTEN * abs(trait.difference)


def sentence(traits: Sequence[Trait], share: Interval, *, supported: bool = True) -> str:
    """Describe a cluster.

    Parameters
    ----------
    traits : sequence of Trait
        Where it differs from the other records, strongest first.
    share : Interval
        Its part of all records.
    supported : bool
        Whether it is larger than its noise.
    """
    if not supported:
        return f"May be noise: too small to be told from it ({_size(share)})."
    words = described(traits)
    return f"{words[:1].upper()}{words[1:]}; {_size(share)}."


def described(traits: Sequence[Trait]) -> str:
    """Say how a cluster differs, in a part of a sentence."""
    if not traits:
        return "no column stands out from the noise"
    worth = [trait for trait in traits if abs(trait.difference) >= _CLEAR]
    if not worth:
        return f"close to the other records; slightly {_phrase(traits[0])}"
    phrases = [_phrase(trait) for trait in worth[:_MOST_PHRASES]]
    more = len(worth) - len(phrases)
    if more:
        return f"{', '.join(phrases)}, and {more} more column{'s' * (more > 1)}"
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _phrase(trait: Trait) -> str:
    if trait.about is About.MISSING:
        often = "more often" if trait.difference > 0 else "less often"
        return f"{trait.column.name} {often} missing ({_in_percent(trait.own)})"
    if trait.about is About.LEVEL:
        if trait.difference > 0:
            often = "mostly" if trait.own >= _MOSTLY else "more often"
        else:
            often = "hardly ever" if trait.own <= _HARDLY else "less often"
        level = trait.column.levels[trait.level]
        return f"{trait.column.name} {often} {level} ({_in_percent(trait.own)})"
    very = "very " * (abs(trait.difference) >= _STRONG)
    value = trait.column.in_words(trait.own, trait.decimals)
    if trait.column.kind == "date":
        return f"{trait.column.name} {very}{'late' if trait.difference > 0 else 'early'} ({value})"
    return f"{very}{'high' if trait.difference > 0 else 'low'} {trait.column.name} ({value})"


def _size(share: Interval) -> str:
    """Write a share and half the width of its interval, to one digit of that."""
    value, low, high = share
    half = (high - low) / 2
    if not half > 0:
        return f"{_in_percent(value, 0)} of the records"
    decimals = min(max(0, -math.floor(math.log10(100 * half))), _MOST_DECIMALS_OF_SIZE)
    give_or_take = max(half, 10.0 ** -(decimals + 2))
    return (
        f"{_in_percent(value, decimals)} of the records, give or take {_in_percent(give_or_take, decimals)}"
    )


def _in_percent(part: float, decimals: int | None = None) -> str:
    """Write a part of all on one line: in whole percents, or in tenths where it is small."""
    if decimals is None:
        decimals = 0 if part >= _SMALL or part == 0 else 1
    return f"{100 * part:.{decimals}f}\N{NO-BREAK SPACE}%"
