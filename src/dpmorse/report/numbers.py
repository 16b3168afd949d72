"""Shares, centres, spreads, levels and missing values on a page, with their intervals and what must be said.

Every cluster of every cut is a node of the merge tree, and a node's numbers do not depend on the cut. So
there is one row for each node, and each cut says which rows are its clusters.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from dpmorse.profiles import (
    ColumnView,
    Interval,
    NumberView,
    about_intervals,
    cautions_of,
    cautions_of_columns,
    shown_decimals,
)
from dpmorse.report.columns import Measured
from dpmorse.report.quality import LARGER, word_of
from dpmorse.report.text import plain
from dpmorse.report.traits import OF_ALL_RECORDS, Traits, sentence
from dpmorse.typing import FloatArray

_VALUES_AT_A_TIME = 1_000_000
"""Groups times components times columns in one table, which limits the memory it takes."""

_CALLED = "this cluster"
"""How a note calls the cluster beside which it stands."""

_MOST_TRAITS = 6
"""Most columns that are ranked for a cluster."""

_PARTS = 10_000
"""Shares of levels are whole numbers of this part, a hundredth of a percent."""

_LONGEST_NOTE = 600
"""Most characters of a note, in which there are names of columns."""


def numbers(measured: Measured | None, nodes: FloatArray) -> dict[str, Any] | None:
    """Return a row for each node, or None where no profile was released.

    Parameters
    ----------
    measured : Measured or None
        What was released.
    nodes : ndarray of shape (n_nodes, n_components)
        1 where a component belongs to a node.
    """
    if measured is None:
        return None
    texts: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    size = max(1, _VALUES_AT_A_TIME // (measured.profile.n_components * max(len(measured.columns), 1)))
    for start in range(0, len(nodes), size):
        rows += _rows(measured, nodes[start : start + size], texts)
    notes = cautions_of_columns(measured.profile, measured.schema)
    columns = [[_numbered(note.text, texts) for note in notes if note.column == j] for j in measured.shown]
    return {"about": about_intervals(), "rows": rows, "columns": columns, "texts": list(texts)}


def nodes_of(cuts: Sequence[Sequence[int]], n_components: int) -> tuple[FloatArray, list[list[int | None]]]:
    """Return the components of each node, and the nodes of each cut; a cluster without component has none.

    ``cuts`` has the cluster of each component (then of modes without component) for 1, 2, ... clusters.
    """
    found: dict[bytes, int] = {}
    of_cuts: list[list[int | None]] = []
    for n_clusters, cut in enumerate(cuts, start=1):
        labels, nodes = np.array(cut[:n_components]), []
        for cluster in range(n_clusters):
            mine = labels == cluster
            nodes.append(found.setdefault(mine.tobytes(), len(found)) if mine.any() else None)
        of_cuts.append(nodes)
    members = np.frombuffer(b"".join(found), dtype=bool).reshape(len(found), -1)
    return members.astype(np.float64), of_cuts


def _rows(measured: Measured, members: FloatArray, texts: dict[str, int]) -> list[dict[str, Any]]:
    """Describe nodes; ``texts`` are those of notes, which a row has as [text, column], by kind."""
    traits = Traits(measured, members)
    # Where each column is among those that are shown.
    places: dict[int | None, int | None] = {None: None, **dict(zip(measured.shown.tolist(), count()))}
    notes: list[dict[str, Any]] = [{} for _ in members]
    for note in cautions_of(traits.table, measured.profile, measured.schema, _CALLED):
        if note.cluster is not None and note.column in places:
            said = notes[note.cluster].setdefault(note.kind, [])
            said.append([_numbered(note.text, texts), places[note.column]])
    return [
        _row(traits, i)
        | {"notes": notes[i]}
        | (_levels_and_holes(traits.columns, i) if measured.schema.stated else {})
        | _portrait(traits, i, is_whole=bool(members[i].all()))
        for i in range(len(members))
    ]


def _row(traits: Traits, i: int) -> dict[str, Any]:
    """Describe one node: [value, low, high, decimals] of each number."""
    table, numbers = traits.table, [column for column in traits.columns if isinstance(column, NumberView)]
    return {
        "records": round(float(table.counts[i])),
        "share": _with_ends(table.share.at(i)),
        "centre": [_with_ends(column.centre.at(i)) for column in numbers],
        "spread": [_with_ends(column.spread.at(i)) for column in numbers],
        "supported": bool(table.supported[i]),
    }


def _levels_and_holes(columns: Sequence[ColumnView], i: int) -> dict[str, Any]:
    """Describe shares of levels, category by category, and of missing values, column by column."""
    return {
        "levels": [
            [_in_parts(column.level_share.at(i, level)) for level in range(len(column.levels))]
            for column in columns
            if not isinstance(column, NumberView)
        ],
        "missing": [
            None if column.missing is None else _in_parts(column.missing.at(i)) for column in columns
        ],
    }


def _portrait(traits: Traits, i: int, *, is_whole: bool) -> dict[str, Any]:
    """Describe a node in words, with the columns that make it and how far its size is above the noise."""
    table, found = traits.table, traits.of(i)
    over_noise = float(table.counts[i] / table.count_stddev[i])
    said = sentence(found, table.share.at(i), supported=bool(table.supported[i]))
    return {
        "said": OF_ALL_RECORDS if is_whole else said,
        "traits": [[t.place, round(t.difference, 2), t.numbers_in_words] for t in found[:_MOST_TRAITS]],
        "n_traits": len(found),
        "clear": traits.clear_levels(i),
        "size": [round(over_noise, 1), word_of(over_noise, LARGER)],
    }


def _numbered(text: str, texts: dict[str, int]) -> int:
    return texts.setdefault(plain(f"{text[:1].upper()}{text[1:]}", _LONGEST_NOTE), len(texts))


def _with_ends(number: Interval) -> list[float]:
    """Return a number and the ends of its interval, rounded to what is shown, and the number of decimals."""
    value, low, high = number
    decimals = shown_decimals(low, high)
    return [round(value, decimals), round(low, decimals), round(high, decimals), decimals]


def _in_parts(share: Interval) -> list[int]:
    return [round(_PARTS * part) for part in share]
