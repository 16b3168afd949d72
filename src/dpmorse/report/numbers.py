"""Shares, medians, quartiles, levels and missing values on a page, with intervals and what must be said.

Every cluster of every cut is a node of the merge tree, and a node's numbers do not depend on the cut. So
there is one row for each node, and each cut says which rows are its clusters. What is not known is None.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmorse.profiles import (
    NO_INTERVALS,
    ClusterView,
    ColumnView,
    Interval,
    LevelView,
    NumberView,
    about_intervals,
    cautions_of,
    cautions_of_columns,
    shown_decimals,
)
from dpmorse.report.bulletin import said_of
from dpmorse.report.columns import Measured
from dpmorse.report.quality import LARGER, word_of
from dpmorse.report.released import ReleasedModel
from dpmorse.report.sentences import compared, size_in_words
from dpmorse.report.text import plain
from dpmorse.report.traits import Traits, robust_deviation
from dpmorse.typing import FloatArray, IntArray

_VALUES_AT_A_TIME = 1_000_000
"""Groups times components times columns in one table, which limits the memory it takes."""

_CALLED = "this cluster"
"""How a note calls the cluster beside which it stands."""

_MOST_TRAITS = 8
"""Most columns that are ranked for a cluster."""

_PARTS = 10_000
"""Shares of levels are whole numbers of this part, a hundredth of a percent."""

_DECIMALS = 3
"""Decimals of a share of whose noise nothing is known."""

_OF_RECORDS = (
    "The number of records was released with noise, too.",
    "The number of all records is public; how many are in a cluster was released with noise.",
)
"""What is said of numbers of records: where that of all of them is not public, and where it is."""

_LONGEST_NOTE = 600
"""Most characters of a note, in which there are names of columns."""


def numbers(model: ReleasedModel, shown: IntArray, nodes: FloatArray) -> dict[str, Any]:
    """Return a row for each node, and what is said about all of them.

    Parameters
    ----------
    model : ReleasedModel
        What was released.
    shown : ndarray of int
        Places of the columns that are shown.
    nodes : ndarray of shape (n_nodes, n_components)
        1 where a component belongs to a node.
    """
    if model.profile is None:
        return _of_mixture(model, shown, nodes)
    measured = Measured(model.profile, model.columns, shown, model.schema)
    texts: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    size = max(1, _VALUES_AT_A_TIME // (measured.profile.n_components * max(len(measured.columns), 1)))
    for start in range(0, len(nodes), size):
        members = nodes[start : start + size]
        traits = Traits(measured, members)
        rows += _rows(measured, traits, members, texts)
    notes = cautions_of_columns(measured.profile, measured.schema)
    columns = [[_numbered(note.text, texts) for note in notes if note.column == j] for j in shown]
    said = {"columns": columns, "texts": list(texts), "units": list(map(_known, traits.units))}
    about = f"{about_intervals()} {_OF_RECORDS[measured.profile.n_records is not None]}"
    return {"measured": True, "about": about, "rows": rows, **said}


def nodes_of(cuts: Sequence[Sequence[int]], n_components: int) -> tuple[FloatArray, list[list[int]]]:
    """Return the components of each node, and the nodes of each cut; that of a bare mode has no component.

    ``cuts`` has the cluster of each component (then of modes without component) for 1, 2, ... clusters.
    """
    found: dict[bytes, int] = {}
    of_cuts: list[list[int]] = []
    for n_clusters, cut in enumerate(cuts, start=1):
        own = np.array(cut[:n_components]) == np.arange(n_clusters)[:, None]
        of_cuts.append([found.setdefault(mine.tobytes(), len(found)) for mine in own])
    members = np.frombuffer(b"".join(found), dtype=bool).reshape(len(found), -1)
    return members.astype(np.float64), of_cuts


def _of_mixture(model: ReleasedModel, shown: IntArray, nodes: FloatArray) -> dict[str, Any]:
    """Describe nodes by the released mixture, with the noise of their sizes as far as it is known."""
    view = ClusterView.of_groups(model.density, nodes, model.schema)
    columns = [view.columns[place] for place in shown]
    rows = [
        _row(view, columns, i) | {"said": f"{size_in_words(view.share.at(i))}."} for i in range(len(nodes))
    ]
    if model.noise is not None:
        members = nodes * (model.mixture.weights > 0)
        for row, noise in zip(rows, np.sqrt(members @ np.square(model.noise)), strict=True):
            row["noise"] = _known(noise)
    # The first node has all records.
    units = [_known(robust_deviation(one)[0]) for one in columns if isinstance(one, NumberView)]
    said = {"columns": [[] for _ in shown], "texts": [], "units": units}
    return {"measured": False, "about": NO_INTERVALS, "rows": rows, **said}


def _rows(
    measured: Measured, traits: Traits, members: FloatArray, texts: dict[str, int]
) -> list[dict[str, Any]]:
    """Describe nodes; ``texts`` are those of notes, which a row has by kind."""
    notes: list[dict[str, Any]] = [{} for _ in members]
    for note in cautions_of(traits.table, measured.profile, measured.schema, _CALLED):
        if note.cluster is not None:
            notes[note.cluster].setdefault(note.kind, []).append(_numbered(note.text, texts))
    view = ClusterView.of(traits.table, measured.schema)
    return [
        _row(view, traits.columns, i)
        | {"notes": notes[i]}
        | _portrait(traits, i, is_whole=bool(members[i].all()))
        for i in range(len(members))
    ]


def _row(view: ClusterView, columns: Sequence[ColumnView], i: int) -> dict[str, Any]:
    """Describe one node: [value, low, high, decimals] of its share, and of quartiles and median of numbers.

    Of a table there are shares of levels, category by category, and of missing values, column by column.
    """
    share, numbers = view.share.at(i), [column for column in columns if isinstance(column, NumberView)]
    row: dict[str, Any] = {
        "share": _with_ends(share, shown_decimals(*share[1:]) if share.is_known else _DECIMALS),
        "numbers": [
            [
                _with_ends(one.at(i), column.decimals(one.at(i)))
                for one in (column.q1, column.median, column.q3)
            ]
            for column in numbers
        ],
    }
    if view.schema.stated:
        row["levels"] = [
            [_in_parts(column.level_share.at(i, level)) for level in range(len(column.levels))]
            for column in columns
            if isinstance(column, LevelView)
        ]
        row["missing"] = [
            None if column.missing is None else _in_parts(column.missing.at(i)) for column in columns
        ]
    return row


def _portrait(traits: Traits, i: int, *, is_whole: bool) -> dict[str, Any]:
    """Describe a node in words, with the columns that make it and how far its size is above the noise."""
    table, found = traits.table, traits.of(i)
    noise, supported = float(table.count_stddev[i]), bool(table.supported[i])
    over_noise = float(table.counts[i]) / noise if noise else 0.0  # nobody, without noise
    return {
        "records": round(float(table.counts[i])),
        "supported": supported,
        "said": said_of(traits, i, is_whole=is_whole),
        "traits": [
            [t.place, round(t.difference, 2), compared(t), round(t.give, 2)] for t in found[:_MOST_TRAITS]
        ],
        "n_traits": len(found),
        "clear": traits.clear_levels(i),
        "size": [round(over_noise, 1), word_of(over_noise, LARGER)],
    }


def _numbered(text: str, texts: dict[str, int]) -> int:
    return texts.setdefault(plain(f"{text[:1].upper()}{text[1:]}", _LONGEST_NOTE), len(texts))


def _known(value: float) -> float | None:
    """Return a number, rounded to five significant digits, or None if it is not known."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def _with_ends(number: Interval, decimals: int) -> list[float | None] | None:
    """Return a number and the ends of its interval, rounded to what is shown, and the number of decimals."""
    if number.is_hidden:
        return None
    rounded = (round(part, decimals) if math.isfinite(part) else None for part in number)
    return [*rounded, decimals]


def _in_parts(share: Interval) -> list[int | None] | None:
    """Return a share and the ends of its interval in hundredths of a percent."""
    if share.is_hidden:
        return None
    return [round(_PARTS * part) if math.isfinite(part) else None for part in share]
