"""Clusters as the terminal shows them: sentences, then a table that is no wider than the terminal."""

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.cli.messages import printable, shortened
from dpmorse.profiles import (
    NOT_KNOWN,
    ClusterView,
    ColumnView,
    Interval,
    LevelView,
    NumberView,
    shown_decimals,
)
from dpmorse.report import Description

_SHOWN_COLUMNS = 8
"""Columns of the data that are printed. --json has all."""

_SHOWN_CLUSTERS = 12
"""Clusters that are printed. --json has all."""

_SHOWN_LEVELS = 3
"""Levels of a category that are printed, at most: the most frequent ones."""

_LONGEST = (24, 18, 12, 9)
"""Characters of a name, a level or a rank, tried in turn until lines fit."""

_NARROWEST = 40
"""Columns of a terminal below which lines are not made shorter."""

_PIPED = 120
"""Width of lines where there is no terminal."""


def width() -> int:
    """Return how wide lines may be."""
    return max(shutil.get_terminal_size((_PIPED, 24)).columns, _NARROWEST)


def wrapped(text: str, indent: str = "") -> str:
    """Break a text into lines that fit; a number is not parted from its percent sign."""
    options: dict[str, Any] = {
        "subsequent_indent": indent,
        "break_long_words": False,
        "break_on_hyphens": False,
    }
    lines = (
        textwrap.fill(_JOINED.join(map(printable, line.split(_JOINED))), width(), **options)
        for line in text.split("\n")
    )
    return "\n".join(lines).replace(_JOINED, " ")


_JOINED = "\N{NO-BREAK SPACE}"


def sentences(said: Description) -> str:
    """Return a description, broken into lines."""
    shown = [wrapped(group, "  ") for group in said.groups[:_SHOWN_CLUSTERS]]
    more = len(said.groups) - len(shown)
    rest = [f"... and {more} more; --json has all."] if more else []
    return "\n".join([wrapped(said.headline), "", *shown, *rest, "", wrapped(said.privacy)])


def table(view: ClusterView, label: str) -> list[str]:
    """Return a line for each cluster, and below it one for each column.

    What takes too much room goes: long names and further levels first, then intervals of missing values,
    those of medians, and missing values.
    """
    most = width()
    for form in _forms():
        lines = form.lines(view, label)
        if max(map(len, lines)) <= most:
            return lines
    return lines


def _forms() -> Iterator["_Form"]:
    for numbers in _NUMBERS:
        for longest in _LONGEST:
            for n_levels in range(_SHOWN_LEVELS, 0, -1):
                yield _Form(longest, n_levels, *numbers)


_NUMBERS = ((True, True, True), (True, False, True), (False, False, True), (False, False, False))
"""Whether medians and levels have intervals, whether missing values have, and whether these are shown."""


@dataclass(frozen=True)
class _Form:
    """A way to write the table: how long names are, how many levels there are, which numbers there are."""

    longest: int
    n_levels: int
    with_ends: bool
    missing_with_ends: bool
    with_missing: bool

    def lines(self, view: ClusterView, label: str) -> list[str]:
        """Return the lines of a table."""
        has_levels = any(isinstance(column, LevelView) for column in view.columns)
        titles = ("column", "median, or levels, %" if has_levels else "median", "half between", "missing, %")
        n_shown, shown = min(view.n_clusters, _SHOWN_CLUSTERS), view.columns[:_SHOWN_COLUMNS]
        rows = [titles, *(self._cells(view, column, c) for c in range(n_shown) for column in shown)]
        used = [column for column in zip(*rows, strict=True) if any(column[1:])]
        widths = [max(map(len, column)) for column in used]
        written = [
            "  " + "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
            for row in zip(*used, strict=True)
        ]
        lines = [written[0]]
        for c in range(n_shown):
            lines += ["", *_head(view, label, c), *written[1 + c * len(shown) :][: len(shown)]]
        return [*lines, *_left_out(view, n_shown, len(shown), label)]

    def _cells(self, view: ClusterView, column: ColumnView, c: int) -> tuple[str, str, str, str]:
        """Return name, median and quartiles of a number; name and most frequent levels of a category."""
        name = shortened(column.title, self.longest) + _mark(view, None, None, column.place)
        missing = ""
        if column.missing is not None and self.with_missing:
            missing = percent(column.missing.at(c), known=self.missing_with_ends)
        if isinstance(column, LevelView):
            return name, self._frequent(column, c), "", missing
        if not isinstance(column, NumberView):
            return name, "", "", missing
        median = column.median.at(c)
        value, low, high = (self._value(column, column.text(median, f"{{{part}}}")) for part in range(3))
        shown = f"{value} [{low}, {high}]" if median.is_known and self.with_ends else value
        half = [self._value(column, column.half(c, f"{{{part}}}")) for part in range(2)]
        return name, shown, NOT_KNOWN if column.half(c) == NOT_KNOWN else " and ".join(half), missing

    def _value(self, column: NumberView, text: str) -> str:
        """Shorten the name of a rank; numbers and days are never cut."""
        return shortened(text, self.longest) if column.column.ranks else text

    def _frequent(self, column: LevelView, c: int) -> str:
        """Write the most frequent levels and their shares."""
        shares = column.level_share.value[c]
        if np.isnan(shares).all():
            return NOT_KNOWN
        ranked = np.argsort(-shares, kind="stable")
        frequent = [
            f"{shortened(column.levels[i], self.longest)} "
            f"{percent(column.level_share.at(c, i), known=self.with_ends)}"
            for i in ranked[: self.n_levels]
        ]
        more = len(ranked) > self.n_levels > 1
        return ", ".join([*frequent, *["..."] * more])


def _head(view: ClusterView, label: str, c: int) -> list[str]:
    """Return how large a cluster is, and how often it was found again."""
    share = f"{percent(view.share.at(c))}{_JOINED}%{_mark(view, 'size', c)}"
    named = f"{label} {c}{_mark(view, 'unknown', c)}"
    again = view.found_again(c)
    return wrapped(f"{named}: {share}{f', {again}' if again else ''}", "  ").split("\n")


def _left_out(view: ClusterView, n_clusters: int, n_columns: int, label: str) -> Sequence[str]:
    """Count what is not shown, and explain stars."""
    left = {f"{label}s": view.n_clusters - n_clusters, "columns": len(view.columns) - n_columns}
    more = " and ".join(f"{n} more {what}" for what, n in left.items() if n)
    return ["", wrapped(f"Not shown: {more}; --json has all.")] if more else []


def percent(share: Interval, *, known: bool = True) -> str:
    """Write a share in percent, with its interval unless there is no room for it."""
    if share.is_hidden:
        return NOT_KNOWN
    parts = share.times(100)
    if not share.is_known:
        return f"{parts.value:.4g}"
    return with_ends(*parts) if known else with_ends(*parts).partition(" [")[0]


def with_ends(value: float, low: float, high: float) -> str:
    """Write a percentage and its interval to two digits of half the interval's width."""
    decimals = max(shown_decimals(low, high), 0)
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def _mark(view: ClusterView, kind: str | None, cluster: int | None, column: int | None = None) -> str:
    """Return a star for what a warning is about, of one kind or of any."""
    found = any(
        (note.cluster, note.column) == (cluster, column) and kind in {None, note.kind}
        for note in view.cautions
    )
    return "*" if found else ""
