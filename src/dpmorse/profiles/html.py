"""The table of clusters as HTML, for notebooks: one row for each cluster, one cell for each column."""

import math
from collections.abc import Mapping, Sequence
from datetime import date
from html import escape
from itertools import groupby
from types import MappingProxyType
from typing import Any

from dpmorse.profiles.about import shown_decimals

MOST_COLUMNS = 8
"""Columns that are shown; more would not fit on a page."""

_MOST_LEVELS = 3
"""Levels of a category that are shown, the most frequent first."""

_SHORT = '<span style="white-space:nowrap">{}</span>'
_SMALL = '<span style="opacity:.7;font-size:.9em">{}</span>'


def clusters_as_html(
    columns: Mapping[str, Sequence[Any]],
    called: str = "cluster {}",
    first_days: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return what ``columns_of`` or ``mixed_columns_of`` gives as a table; names and levels are escaped.

    ``first_days`` are those, as Python counts days, from which columns of dates count.
    """
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    names = list(dict.fromkeys(row["column"] for row in rows if row["column"] is not None))
    shown = names[:MOST_COLUMNS]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "share", *shown))
    by_cluster = groupby(rows, key=lambda row: row["cluster"])
    body = "".join(
        f"<tr><th>{_SHORT.format(called.format(cluster))}</th>{_cells(list(own), shown, first_days)}</tr>"
        for cluster, own in by_cluster
    )
    more = len(names) - len(shown)
    note = f"<p>{more} more columns: see <code>summary()</code>.</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cells(rows: Sequence[Mapping[str, Any]], names: Sequence[str], first_days: Mapping[str, int]) -> str:
    """Return the cells of one cluster: its share, then each column."""
    of_columns = (
        _lines([row for row in rows if row["column"] == name], first_days.get(name)) for name in names
    )
    cells = ([_part(rows[0], "share")], *of_columns)
    return "".join(f"<td>{'<br>'.join(map(_SHORT.format, lines))}</td>" for lines in cells)


def _lines(rows: Sequence[Mapping[str, Any]], first_day: int | None) -> list[str]:
    """Return the lines of a cell: centre and spread of a number, or the most frequent levels."""
    if rows[0].get("level") is not None:
        common = sorted(rows, key=lambda row: -row["level_share"])[:_MOST_LEVELS]
        return [f"{escape(str(row['level']))} {_part(row, 'level_share')}" for row in common]
    centre = _number(rows[0], "centre") if first_day is None else _day(rows[0], first_day)
    unit = "" if first_day is None else "days "
    return [centre, *([f"spread {unit}{_number(rows[0], 'spread')}"] if "spread" in rows[0] else [])]


def _part(row: Mapping[str, Any], name: str) -> str:
    """Return a share as a percentage, with its interval."""
    value, low, high = (100 * row[name + end] for end in ("", "_low", "_high"))
    if math.isnan(low):
        return f"{value:.1f} %"
    return f"{value:.1f} % " + _SMALL.format(f"({low:.1f} to {high:.1f})")


def _day(row: Mapping[str, Any], first: int) -> str:
    """Return the day of a centre, with its interval."""
    value, low, high = (row["centre" + end] for end in ("", "_low", "_high"))
    if math.isnan(low):
        return str(date.fromordinal(first + round(value)))
    days = [date.fromordinal(first + round(day)) for day in (value, math.floor(low), math.ceil(high))]
    return f"{days[0]} " + _SMALL.format(f"({days[1]} to {days[2]})")


def _number(row: Mapping[str, Any], name: str) -> str:
    """Return a number with its interval, to the digits that matter."""
    value, low, high = (row[name + end] for end in ("", "_low", "_high"))
    if math.isnan(low):
        return f"{value:.4g}"
    decimals = max(shown_decimals(low, high), 0)
    return f"{value:.{decimals}f} " + _SMALL.format(f"({low:.{decimals}f} to {high:.{decimals}f})")
