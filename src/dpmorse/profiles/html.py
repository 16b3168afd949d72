"""The table of clusters as HTML, for notebooks: one row for each cluster, one cell for each column."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from dpmorse.profiles.about import shown_decimals

MOST_COLUMNS = 8
"""Columns that are shown; more would not fit on a page."""

_MOST_LEVELS = 3
"""Levels of a category that are shown, the most frequent first."""

_SMALL = '<span style="opacity:.7;font-size:.9em">{}</span>'


def clusters_as_html(columns: Mapping[str, Sequence[Any]], called: str = "cluster {}") -> str:
    """Return what ``columns_of`` or ``mixed_columns_of`` gives as a table; names and levels are escaped."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    names = list(dict.fromkeys(row["column"] for row in rows if row["column"] is not None))
    shown = names[:MOST_COLUMNS]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "share", *shown))
    body = "".join(
        f"<tr><th>{escape(called.format(cluster))}</th>{_cells(list(of_cluster), shown)}</tr>"
        for cluster, of_cluster in groupby(rows, key=lambda row: row["cluster"])
    )
    more = len(names) - len(shown)
    note = f"<p>{more} more columns: see <code>summary()</code>.</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cells(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return the cells of one cluster: its share, then each column."""
    of_columns = [_cell([row for row in rows if row["column"] == name]) for name in names]
    return "".join(f"<td>{cell}</td>" for cell in (_part(rows[0], "share"), *of_columns))


def _cell(rows: Sequence[Mapping[str, Any]]) -> str:
    if rows[0].get("level") is None:
        spread = f"<br>spread {_number(rows[0], 'spread')}" if "spread" in rows[0] else ""
        return _number(rows[0], "centre") + spread
    common = sorted(rows, key=lambda row: -row["level_share"])[:_MOST_LEVELS]
    return "<br>".join(f"{escape(str(row['level']))} {_part(row, 'level_share')}" for row in common)


def _part(row: Mapping[str, Any], name: str) -> str:
    """Return a share as a percentage, with its interval."""
    value, low, high = (100 * row[name + end] for end in ("", "_low", "_high"))
    if math.isnan(low):
        return f"{value:.1f} %"
    return f"{value:.1f} % " + _SMALL.format(f"({low:.1f} to {high:.1f})")


def _number(row: Mapping[str, Any], name: str) -> str:
    """Return a number with its interval, to the digits that matter."""
    value, low, high = (row[name + end] for end in ("", "_low", "_high"))
    if math.isnan(low):
        return f"{value:.4g}"
    decimals = max(shown_decimals(low, high), 0)
    return f"{value:.{decimals}f} " + _SMALL.format(f"({low:.{decimals}f} to {high:.{decimals}f})")
