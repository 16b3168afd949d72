"""The table of clusters as HTML, for notebooks: one row for each cluster, one cell for each column."""

from collections.abc import Iterator
from html import escape

import numpy as np

from dpmorse.profiles.estimate import NOT_KNOWN, Interval
from dpmorse.profiles.view import ClusterView, ColumnView, LevelView, NumberView

MOST_COLUMNS = 8
"""Columns that are shown; more would not fit on a page."""

_MOST_LEVELS = 3
"""Levels of a category that are shown, the most frequent first."""

_SHORT = '<span style="white-space:nowrap">{}</span>'
_SMALL = '<span style="opacity:.7;font-size:.9em">{}</span>'


def clusters_as_html(view: ClusterView, called: str = "cluster {}") -> str:
    """Return clusters as a table; names and levels are escaped.

    Of clusters that were not measured, the shares and the medians of numbers are shown.
    """
    columns = [column for column in view.columns if view.table is not None or isinstance(column, NumberView)]
    shown = columns[:MOST_COLUMNS]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "share", *(column.title for column in shown)))
    body = "".join(
        f"<tr><th>{_SHORT.format(called.format(cluster))}</th>{_cells(view, shown, cluster)}</tr>"
        for cluster in range(view.n_clusters)
    )
    more = len(columns) - len(shown)
    note = f"<p>{more} more columns: see <code>summary()</code>.</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cells(view: ClusterView, columns: list[ColumnView], cluster: int) -> str:
    """Return the cells of one cluster: its share, then each column."""
    again = view.found_again(cluster)
    share = [_part(view.share.at(cluster)), *[_SMALL.format(again)] * bool(again)]
    cells = [share, *(_lines(column, cluster) for column in columns)]
    return "".join(f"<td>{'<br>'.join(map(_SHORT.format, lines))}</td>" for lines in cells)


def _lines(column: ColumnView, cluster: int) -> list[str]:
    """Return the lines of a cell: median and quartiles, or the most frequent levels; then what is missing."""
    lines = list(_values(column, cluster))
    missing = None if column.missing is None else column.missing.at(cluster)
    if missing is not None and not missing.is_hidden:
        lines.append(_SMALL.format("missing: ") + _part(missing))
    return lines


def _values(column: ColumnView, cluster: int) -> Iterator[str]:
    if isinstance(column, LevelView):
        shares = column.level_share.value[cluster]
        if np.isnan(shares).all():
            yield NOT_KNOWN
            return
        for i in np.argsort(-shares, kind="stable")[:_MOST_LEVELS]:
            yield f"{escape(column.levels[i])} {_part(column.level_share.at(cluster, i))}"
    elif isinstance(column, NumberView):
        median, half = column.median.at(cluster), column.half(cluster)
        yield _value(column, median)
        if half != NOT_KNOWN:
            yield _SMALL.format(f"half: {escape(half)}")


def _value(column: NumberView, number: Interval) -> str:
    """Return a number, a rank or a day, with its interval."""
    value = escape(column.text(number, "{}"))
    ends = escape(column.text(number, "({1} to {2})"))
    return f"{value} {_SMALL.format(ends)}" if number.is_known else value


def _part(share: Interval) -> str:
    """Return a share as a percentage, with its interval."""
    if share.is_hidden:
        return NOT_KNOWN
    value, low, high = share.times(100)
    if not share.is_known:
        return f"{value:.1f} %"
    return f"{value:.1f} % " + _SMALL.format(f"({low:.1f} to {high:.1f})")
