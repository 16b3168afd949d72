"""The columns of a page: what each was stated to be, where its released numbers are, and which are shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import Any

from dpmorse.profiles import Profile
from dpmorse.report.text import plain
from dpmorse.schema import CategoryColumn, NumberColumn, Schema
from dpmorse.typing import IntArray

_DAY_ZERO = date(1970, 1, 1).toordinal()
"""The day from which scripts count."""


@dataclass(frozen=True)
class ShownColumn:
    """A column of the table as a page shows it.

    Attributes
    ----------
    name : str
        Its name, fit to be shown.
    kind : str
        "number", "rank", "date" or "category".
    place : int
        Where it is among the columns that are numbers, or among those that are categories.
    stated : str
        What was stated of it, in words: bounds or values. Empty if that is not known.
    may_miss : bool
        Whether its values may be missing without being a level.
    levels : tuple of str
        Names of ranks or levels, fit to be shown.
    first_day : int
        For dates, the day that counts as 0, in days since 1970.
    telling_level : int or None
        The level of two that says in fewer words where a cluster differs.
    label, unit : str
        What people call it, and what it is measured in, where that was stated; fit to be shown.
    """

    name: str
    kind: str
    place: int
    stated: str = ""
    may_miss: bool = False
    levels: tuple[str, ...] = ()
    first_day: int = 0
    telling_level: int | None = None
    label: str = ""
    unit: str = ""

    @property
    def called(self) -> str:
        """What sentences call it."""
        return self.label or self.name

    @property
    def is_number(self) -> bool:
        """Whether it has a median and quartiles."""
        return self.kind != "category"

    def to_dict(self) -> dict[str, Any]:
        """Return what the script needs to show values of it; what goes without saying is left out."""
        known: dict[str, Any] = {"name": self.name, "kind": self.kind, "missing": self.may_miss}
        if self.levels:
            known["levels"] = list(self.levels)
        if self.label or self.unit:
            known |= {"label": self.label, "unit_in_words": self.unit}
        if self.first_day:
            known["first"] = self.first_day
        return known

    def in_words(self, value: float, decimals: int = 1) -> str:
        """Write a value of this column: a number, a date, or the rank that is nearest."""
        if self.kind == "date":
            return date.fromordinal(_DAY_ZERO + self.first_day + round(value)).isoformat()
        if self.kind == "rank":
            return self.levels[min(max(round(value), 0), len(self.levels) - 1)]
        return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Measured:
    """What was released about clusters, and the columns that are shown.

    Attributes
    ----------
    profile : Profile
        What was released about the components.
    columns : list of ShownColumn
        All columns of the table.
    shown : ndarray of int
        Places of those that are shown, in order.
    schema : Schema
        What the columns are.
    """

    profile: Profile
    columns: Sequence[ShownColumn]
    shown: IntArray
    schema: Schema


def table_columns(schema: Schema) -> list[ShownColumn]:
    """Describe the columns of a table, in its order."""
    columns: list[ShownColumn] = []
    numbers, categories = count(), count()
    for name, column in schema.columns:
        if isinstance(column, NumberColumn):
            shown = ShownColumn(
                plain(name),
                column.shown_as,
                next(numbers),
                column.stated(plain) if schema.stated else _range(column),
                label=plain(column.label),
                unit=plain(column.unit) if "unit" in column.texts else "",  # as stated, not days or ranks
                may_miss=column.missing != "refuse",
                levels=tuple(map(plain, column.ranks)),
                first_day=0 if column.first is None else column.first - _DAY_ZERO,
            )
        elif isinstance(column, CategoryColumn):
            shown = ShownColumn(
                plain(name),
                column.shown_as,
                next(categories),
                column.stated(plain),
                label=plain(column.label),
                may_miss=column.missing == "ignore",
                levels=tuple(map(plain, column.levels)),
                telling_level=column.telling_level,
            )
        columns.append(shown)
    return columns


def _range(column: NumberColumn) -> str:
    """Return the bounds of a column of which nothing else was said; they may be unknown."""
    lower, upper = column.bounds
    return "" if math.isinf(lower) else f"{lower:g} to {upper:g}".replace("-", "\N{MINUS SIGN}")
