"""What makes a cluster: where it differs from all other records by more than noise explains.

A cluster and the rest of the records are groups of different components, so that the noise of their numbers
is independent. Of numbers medians are compared, of categories levels, of all columns missing values. They
differ for certain where the difference stands as many standard deviations of its noise beyond zero as
statements about so many columns and levels need (``beyond_noise``): three at least. Differences are measured
in robust standard deviations of all records, so that columns can be ranked; a level counts as a column of
zeros and ones, whose standard deviation is sqrt(p (1 - p)).
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.special import ndtr

from dpmorse.profiles import (
    ClusterView,
    ColumnView,
    Estimate,
    LevelView,
    NumberView,
    beyond_noise,
    group_table,
    shown_decimals,
)
from dpmorse.report.columns import Measured, ShownColumn
from dpmorse.typing import BoolArray, FloatArray

_QUARTILES_APART = 1.349
"""Standard deviations between the quartiles of values that are bell-shaped."""

_OUTER, _LEAST_PART = (0.05, 0.95), 0.05
"""Further quantiles of all records, and the part of their distance that quartiles are taken to be apart at
least. Where most values are one, any difference would outweigh those of all other columns."""

_LEAST_SPREAD = 0.1
"""Smallest standard deviation of a level: that of one in a hundred. Rarer ones would outweigh all else."""

_LESS_OFTEN = 0.7
"""What a level is worth that a cluster has less often: that it has another more often says more."""

_READ = 1.96
"""Standard deviations of noise in half an interval that people read."""

_MOST_DECIMALS = 4
"""Most decimals of a number in words."""


class About(Enum):
    """What a trait is about."""

    MEDIAN = "median"
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
        Whether the median, a level, or missing values differ.
    level : int
        Place of the level among those of the column.
    difference : float
        In robust standard deviations of all records.
    own, others : float
        The number of the cluster, and of all other records.
    give : float
        Half the width of the interval of the difference.
    half : tuple of float or None
        Quartiles of the cluster, if it is the median that differs and they are known.
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
    half: tuple[float, float] | None = None
    decimals: int = 0
    give: float = 0.0


@dataclass(frozen=True)
class _Compared:
    """Numbers of groups and of their rests, how they differ, and where that is clear: (groups, values)."""

    own: FloatArray
    others: FloatArray
    difference: FloatArray
    give: FloatArray
    clear: BoolArray

    @classmethod
    def of(cls, both: Estimate, unit: FloatArray, wide: float) -> "_Compared":
        """Compare numbers whose intervals are as wide as a statement needs: of groups, then of their rests.

        ``wide`` is how many times as wide as those that people read.

        Of each interval the side that faces the other number counts. What is not known is not clear.
        """
        n = len(both.value) // 2
        own, others = both[:n], both[n:]
        apart = own.value - others.value
        own_side = np.where(apart > 0, own.value - own.low, own.high - own.value)
        others_side = np.where(apart > 0, others.high - others.value, others.value - others.low)
        clear: BoolArray = (np.abs(apart) > np.hypot(own_side, others_side)) & (unit > 0)
        per_unit = 1 / np.where(unit > 0, unit, np.inf)
        give = np.hypot(own.high - own.low, others.high - others.low) / 2 / wide
        return cls(own.value, others.value, apart * per_unit, give * per_unit, clear)


class Traits:
    """Traits of every group of components of one released profile.

    Attributes
    ----------
    table : ClusterTable
        The table of the groups.
    columns : list of ColumnView
        What people read of it, of the columns that are shown.
    units : list of float
        The robust standard deviation of all records in each of them that is a number; NaN if not known.
    """

    def __init__(self, measured: Measured, members: FloatArray) -> None:
        profile, schema = measured.profile, measured.schema
        n_compared = profile.n_columns + sum(profile.n_levels) + len(profile.may_miss)
        sure = beyond_noise(n_compared)
        level = 2 * float(ndtr(sure)) - 1
        self.table = group_table(profile, members)
        both = group_table(profile, np.vstack([members, 1.0 - members]), level=level)
        everybody = group_table(profile, np.ones((1, profile.n_components)), quantiles=_OUTER)
        views = [ClusterView.of(table, schema).columns for table in (self.table, both, everybody)]
        self.columns, compared, whole = ([view[place] for place in measured.shown] for view in views)
        self.units = [float(robust_deviation(one)[0]) for one in whole if isinstance(one, NumberView)]
        self._shown = [measured.columns[place] for place in measured.shown]
        self._found = [_differences(*pair, sure / _READ) for pair in zip(compared, whole, strict=True)]
        # There must be others to compare a group with.
        self._comparable = self.table.supported & (members.sum(axis=1) != profile.n_components)

    def of(self, group: int) -> list[Trait]:
        """Return the strongest trait of each column of a group, strongest column first."""
        if not self._comparable[group]:
            return []
        found = [self._strongest(group, place) for place in range(len(self._shown))]
        return sorted(filter(None, found), key=lambda trait: -abs(trait.difference))

    def clear_levels(self, group: int) -> list[list[int]]:
        """Return, for each category, the levels that stand out from the other records.

        The place after that of the last level stands for missing values, where there may be any.
        """
        if not self._comparable[group]:
            return [[] for found in self._found if About.LEVEL in found]
        return [
            np.flatnonzero(np.concatenate([compared.clear[group] for compared in found.values()])).tolist()
            for found in self._found
            if About.LEVEL in found
        ]

    def _strongest(self, group: int, place: int) -> Trait | None:
        """Return the difference in a column that says most about a group."""
        column, found = self._shown[place], self._found[place]
        traits = [
            self._trait(group, place, about, at)
            for about, compared in found.items()
            for at in np.flatnonzero(compared.clear[group]).tolist()
        ]
        if column.telling_level is not None:
            of_telling = [t for t in traits if t.level == column.telling_level or t.about is About.MISSING]
            traits = of_telling or traits
        return max(traits, key=_worth, default=None)

    def _trait(self, group: int, place: int, about: About, at: int) -> Trait:
        compared, view = self._found[place][about], self.columns[place]
        difference, own, others, give = (
            float(part[group, at])
            for part in (compared.difference, compared.own, compared.others, compared.give)
        )
        trait = Trait(self._shown[place], place, about, at, difference, own, others, give=give)
        if about is not About.MEDIAN or not isinstance(view, NumberView):
            return trait
        median, q1, q3 = (one.at(group) for one in (view.median, view.q1, view.q3))
        half = None if q1.is_hidden or q3.is_hidden else (q1.value, q3.value)
        decimals = min(
            shown_decimals(median.low, median.high) - 1, 0 if view.column.whole else _MOST_DECIMALS
        )
        return replace(trait, own=median.value, half=half, decimals=decimals)


def robust_deviation(column: NumberView) -> FloatArray:
    """Return the distance of the quartiles of each group as a standard deviation of bell-shaped values.

    That of whole numbers is one at least.
    """
    apart: FloatArray = column.q3.value - column.q1.value
    if set(_OUTER) <= set(column.quantiles):
        low, high = (column.quantiles[p].value for p in _OUTER)
        apart = np.fmax(apart, _LEAST_PART * (high - low))
    return np.maximum(apart, float(column.column.whole)) / _QUARTILES_APART


def _differences(both: ColumnView, whole: ColumnView, wide: float) -> dict[About, _Compared]:
    """Compare one column of groups with that of their rests: medians or levels, then missing values."""
    found = {}
    if isinstance(both, NumberView) and isinstance(whole, NumberView):
        found[About.MEDIAN] = _Compared.of(both.median[:, None], robust_deviation(whole)[:, None], wide)
    elif isinstance(both, LevelView) and isinstance(whole, LevelView):
        found[About.LEVEL] = _Compared.of(
            both.level_share, _deviation_of_parts(whole.level_share.value), wide
        )
    if both.missing is not None and whole.missing is not None:
        unit = _deviation_of_parts(whole.missing.value[:, None])
        found[About.MISSING] = _Compared.of(both.missing[:, None], unit, wide)
    return found


def _deviation_of_parts(part: FloatArray) -> FloatArray:
    """Return the standard deviation of zeros and ones, of which this part are ones."""
    return np.maximum(np.sqrt(part * (1 - part)), _LEAST_SPREAD)


def _worth(trait: Trait) -> float:
    if trait.about is About.MEDIAN or trait.difference > 0:
        return abs(trait.difference)
    return _LESS_OFTEN * abs(trait.difference)
