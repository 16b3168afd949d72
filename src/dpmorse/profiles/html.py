"""The table of clusters as HTML, for notebooks: one row for each cluster, one cell for each column."""

import math
from datetime import date
from html import escape

import numpy as np

from dpmorse.profiles.estimate import Interval, shown_decimals
from dpmorse.profiles.view import ClusterView, ColumnView, NumberView

MOST_COLUMNS = 8
"""Columns that are shown; more would not fit on a page."""

_MOST_LEVELS = 3
"""Levels of a category that are shown, the most frequent first."""

_SHORT = '<span style="white-space:nowrap">{}</span>'
_SMALL = '<span style="opacity:.7;font-size:.9em">{}</span>'


def clusters_as_html(view: ClusterView, called: str = "cluster {}") -> str:
    """Return clusters as a table; names and levels are escaped.

    Of clusters that were not measured, the shares and the centres of numbers are shown.
    """
    columns = [column for column in view.columns if view.table is not None or isinstance(column, NumberView)]
    shown = columns[:MOST_COLUMNS]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "share", *(column.name for column in shown)))
    body = "".join(
        f"<tr><th>{_SHORT.format(called.format(cluster))}</th>{_cells(view, shown, cluster)}</tr>"
        for cluster in range(view.n_clusters)
    )
    more = len(columns) - len(shown)
    note = f"<p>{more} more columns: see <code>summary()</code>.</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cells(view: ClusterView, columns: list[ColumnView], cluster: int) -> str:
    """Return the cells of one cluster: its share, then each column."""
    has_records = view.table is not None or view.share.value[cluster] > 0
    cells = [[_part(view.share.at(cluster))]]
    for column in columns:
        if has_records:
            cells.append(_lines(column, cluster))
        else:  # a component without weight: 0, wherever it stands
            nothing = Interval(0.0, math.nan, math.nan)
            cells.append([_centre(column, nothing) if isinstance(column, NumberView) else ""])
    return "".join(f"<td>{'<br>'.join(map(_SHORT.format, lines))}</td>" for lines in cells)


def _lines(column: ColumnView, cluster: int) -> list[str]:
    """Return the lines of a cell: centre and spread of a number, or the most frequent levels."""
    if not isinstance(column, NumberView):
        common = np.argsort(-column.level_share.value[cluster], kind="stable")[:_MOST_LEVELS]
        return [f"{escape(column.levels[i])} {_part(column.level_share.at(cluster, i))}" for i in common]
    centre, spread = column.centre.at(cluster), column.spread.at(cluster)
    unit = f"{column.column.spread_unit} ".lstrip()
    lines = [_centre(column, centre)]
    return [*lines, f"spread {unit}{_number(spread)}"] if spread.is_known else lines


def _centre(column: NumberView, centre: Interval) -> str:
    """Return a number or a day, with its interval."""
    first, (value, low, high) = column.column.first, centre
    if first is None:
        return _number(centre)
    day = date.fromordinal(first + round(value))
    if not centre.is_known:
        return str(day)
    ends = [date.fromordinal(first + end) for end in (math.floor(low), math.ceil(high))]
    return f"{day} " + _SMALL.format(f"({ends[0]} to {ends[1]})")


def _part(share: Interval) -> str:
    """Return a share as a percentage, with its interval."""
    value, low, high = share.times(100)
    if not share.is_known:
        return f"{value:.1f} %"
    return f"{value:.1f} % " + _SMALL.format(f"({low:.1f} to {high:.1f})")


def _number(number: Interval) -> str:
    """Return a number with its interval, to the digits that matter."""
    value, low, high = number
    if not number.is_known:
        return f"{value:.4g}"
    decimals = max(shown_decimals(low, high), 0)
    return f"{value:.{decimals}f} " + _SMALL.format(f"({low:.{decimals}f} to {high:.{decimals}f})")
