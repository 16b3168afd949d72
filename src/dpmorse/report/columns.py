"""The columns of a page: what each was stated to be, and where its released numbers are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpmorse.report.text import plain
from dpmorse.schema import Boolean, Column, Date, Nominal, Numeric, Ordinal, Schema

_DAY_ZERO = date(1970, 1, 1).toordinal()
"""The day from which scripts count."""

_MOST_LISTED = 40
"""Most values of a column that are listed where columns are described; the others are counted."""


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
    is_boolean : bool
        Whether its levels are false and true.
    """

    name: str
    kind: str
    place: int
    stated: str = ""
    may_miss: bool = False
    levels: tuple[str, ...] = ()
    first_day: int = 0
    is_boolean: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it has a centre and a spread."""
        return self.kind != "category"

    def to_dict(self) -> dict[str, Any]:
        """Return what the script needs to show values of it; what goes without saying is left out."""
        known = {"name": self.name, "kind": self.kind, "missing": self.may_miss}
        extra = {"levels": list(self.levels), "first": self.first_day}
        return known | {key: value for key, value in extra.items() if value}

    def in_words(self, value: float, decimals: int = 1) -> str:
        """Write a centre of this column: a number, a date, or the rank that is nearest."""
        if self.kind == "date":
            return date.fromordinal(_DAY_ZERO + self.first_day + round(value)).isoformat()
        if self.kind == "rank":
            return f"near {self.levels[min(max(round(value), 0), len(self.levels) - 1)]}"
        return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "\N{MINUS SIGN}")


def table_columns(schema: Schema) -> list[ShownColumn]:
    """Describe the columns of a table, in its order."""
    if not schema.stated:
        return [
            ShownColumn(
                plain(name), "number", j, "" if math.isinf(column.bounds[0]) else _range(*column.bounds)
            )
            for j, (name, column) in enumerate(schema.numbers)
        ]
    numbers = {p: _number(*schema.columns[p], j) for j, p in enumerate(schema.number_places)}
    categories = {p: _category(*schema.columns[p], j) for j, p in enumerate(schema.category_places)}
    return [column for _, column in sorted((numbers | categories).items())]


def _number(name: str, column: Column, place: int) -> ShownColumn:
    shown, may_miss = plain(name), column.missing != "refuse"
    if isinstance(column, Date):
        stated = f"dates from {column.earliest} to {column.latest}"
        return ShownColumn(
            shown, "date", place, stated + _gaps(column), may_miss, first_day=column.first - _DAY_ZERO
        )
    if isinstance(column, Ordinal):
        values = tuple(plain(str(value)) for value in column.values)
        return ShownColumn(
            shown, "rank", place, f"in order: {_listed(values)}{_gaps(column)}", may_miss, values
        )
    return ShownColumn(shown, "number", place, _numeric(column) + _gaps(column), may_miss)


def _numeric(column: Column) -> str:
    if not isinstance(column, Numeric):
        return ""
    return f"{'whole numbers' if column.integer else 'numbers'} from {_range(*column.bounds)}"


def _category(name: str, column: Nominal | Boolean, place: int) -> ShownColumn:
    levels = tuple(plain(level) for level in column.levels)
    boolean = isinstance(column, Boolean)
    stated = "true or false" if boolean else f"one of {_listed([plain(str(v)) for v in column.values])}"
    return ShownColumn(
        plain(name),
        "category",
        place,
        stated + _gaps(column),
        column.missing == "ignore",
        levels,
        is_boolean=boolean,
    )


def _gaps(column: Column) -> str:
    return {"refuse": "", "ignore": "; may be missing", "level": "; missing is a value of its own"}[
        column.missing
    ]


def _range(lower: float, upper: float) -> str:
    return f"{lower:g} to {upper:g}".replace("-", "\N{MINUS SIGN}")


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _MOST_LISTED
    return ", ".join([*values[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])])
