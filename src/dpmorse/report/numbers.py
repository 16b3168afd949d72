"""Shares, centres and spreads on a page, with their intervals and what must be said beside them.

Every cluster of every cut is a node of the merge tree, and a node's numbers do not depend on the cut. So
there is one row for each node, and each cut says which rows are its clusters.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmorse.profiles import (
    Caution,
    ClusterTable,
    Estimate,
    Profile,
    about_intervals,
    cautions_of,
    group_table,
    shown_decimals,
)
from dpmorse.typing import FloatArray, IntArray

_VALUES_AT_A_TIME = 1_000_000
"""Groups times components times columns in one call, which limits the memory it takes."""

_CALLED = "this cluster"
"""How a note calls the cluster beside which it stands."""


def numbers(
    profile: Profile | None, cuts: Sequence[Sequence[int]], columns: IntArray, names: list[str]
) -> dict[str, Any] | None:
    """Return the rows of all clusters of all cuts, or None where no profile was released.

    Parameters
    ----------
    profile : Profile or None
        What was released about the components.
    cuts : list of list of int
        The cluster of each component (then of modes without component) for 1, 2, ... clusters.
    columns : ndarray of int
        Columns that are shown.
    names : list of str
        Names of all columns.
    """
    if profile is None:
        return None
    members, rows_of_cuts = _nodes([np.array(cut[: profile.n_components]) for cut in cuts])
    texts: dict[str, int] = {}
    rows = [row for group in _parts(members, profile) for row in _rows(profile, group, columns, names, texts)]
    return {
        "about": about_intervals(),
        "rows": rows,
        "cuts": rows_of_cuts,
        "columns": _column_notes(profile, columns, names, texts),
        "texts": list(texts),
    }


def _nodes(cuts: Sequence[IntArray]) -> tuple[FloatArray, list[list[int | None]]]:
    """Return the components of each node, and the nodes of each cut; a cluster without component has none."""
    found: dict[bytes, int] = {}
    of_cuts: list[list[int | None]] = []
    for n_clusters, labels in enumerate(cuts, start=1):
        groups = (labels == cluster for cluster in range(n_clusters))
        of_cuts.append(
            [found.setdefault(mine.tobytes(), len(found)) if mine.any() else None for mine in groups]
        )
    members = np.frombuffer(b"".join(found), dtype=bool).reshape(len(found), -1)
    return members.astype(np.float64), of_cuts


def _parts(members: FloatArray, profile: Profile) -> list[FloatArray]:
    size = max(1, _VALUES_AT_A_TIME // (profile.n_components * profile.n_features))
    return [members[start : start + size] for start in range(0, len(members), size)]


def _rows(
    profile: Profile, members: FloatArray, columns: IntArray, names: list[str], texts: dict[str, int]
) -> list[dict[str, Any]]:
    table = group_table(profile, members)
    notes = cautions_of(table, profile, names, _CALLED)
    shown = [note for note in notes if note.column is None or note.column in columns]
    return [
        _row(table, i, columns, [note for note in shown if note.cluster == i], texts)
        for i in range(len(members))
    ]


def _row(
    table: ClusterTable, i: int, columns: IntArray, notes: list[Caution], texts: dict[str, int]
) -> dict[str, Any]:
    """Describe one node: [value, low, high, decimals] of each number; notes as [text, column], by kind."""
    said: dict[str, Any] = {}
    for note in notes:
        column = None if note.column is None else int(np.searchsorted(columns, note.column))
        said.setdefault(note.kind, []).append([_numbered(note.text, texts), column])
    return {
        "records": round(float(table.counts[i])),
        "share": _with_ends(table.share, i),
        "centre": [_with_ends(table.centre, i, j) for j in columns],
        "spread": [_with_ends(table.spread, i, j) for j in columns],
        "supported": bool(table.supported[i]),
        "notes": said,
    }


def _column_notes(
    profile: Profile, columns: IntArray, names: list[str], texts: dict[str, int]
) -> list[list[int]]:
    """Return the notes about each column of all records: bounds that it piles up at."""
    whole = group_table(profile, np.ones((1, profile.n_components)))
    notes = [note for note in cautions_of(whole, profile, names) if note.kind == "bounds"]
    return [[_numbered(note.text, texts) for note in notes if note.column == j] for j in columns]


def _numbered(text: str, texts: dict[str, int]) -> int:
    return texts.setdefault(f"{text[:1].upper()}{text[1:]}", len(texts))


def _with_ends(estimate: Estimate, *place: int) -> list[float]:
    """Return a number and the ends of its interval, rounded to what is shown, and the number of decimals."""
    value, low, high = (float(part[place]) for part in (estimate.value, estimate.low, estimate.high))
    decimals = shown_decimals(low, high)
    return [*(round(number, decimals) for number in (value, low, high)), decimals]
