"""What a reader of a table must be told, beside the number that it is about. All of it costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.profiles.profile import Profile
from dpmorse.profiles.table import ClusterTable


@dataclass(frozen=True)
class Caution:
    """Something to be said about a cluster, a column of it, or a column of all records.

    Attributes
    ----------
    kind : str
        "budget", "size", "spread", "tail", "bounds" or, for described columns, "missing" and "other".
    cluster : int or None
        The cluster; None for all records.
    column : int or None
        Position of the column; None for the whole cluster.
    text : str
        A sentence.
    """

    kind: str
    cluster: int | None
    column: int | None
    text: str


def cautions_of(
    table: ClusterTable, profile: Profile | None, names: Sequence[str], called: str = "cluster {}"
) -> list[Caution]:
    """Return what must be said about a table, in the order of its clusters and columns.

    ``called`` is how the sentences call a cluster; braces stand for its number. The profile is None where no
    column is a number.
    """
    clusters = range(len(table.counts))
    found = [caution for c in clusters for caution in _of_cluster(table, c, names, called.format(c))]
    return [*([] if profile is None else _of_bounds(profile, names)), *found]


def cautions_of_budget(table: ClusterTable, called: str = "cluster {}") -> list[Caution]:
    """Say that a table has more clusters than can be told from noise."""
    seen, asked = int(table.supported.sum()), len(table.supported)
    text = _BUDGET.format(seen=seen, asked=asked, clusters=called.format("").strip() + "s")
    return [] if seen == asked else [Caution("budget", None, None, text)]


def _of_cluster(table: ClusterTable, c: int, names: Sequence[str], cluster: str) -> list[Caution]:
    if not table.supported[c]:
        return [Caution("size", c, None, _SIZE.format(cluster=cluster))]
    found = [
        Caution("spread", c, int(j), _SPREAD.format(cluster=cluster, name=names[int(j)]))
        for j in np.flatnonzero((table.spread.low[c] <= 0) & (table.spread.high[c] > 0))
    ]
    if table.heavy_tailed[c]:
        found.append(Caution("tail", c, None, _TAIL.format(cluster=cluster)))
    return found


def in_one_text(cautions: Sequence[Caution], at_most: int | None = None) -> str:
    """Return the sentences as one text; beyond ``at_most`` the others are counted."""
    said = [f"{caution.text[:1].upper()}{caution.text[1:]}" for caution in cautions[:at_most]]
    more = len(cautions) - len(said)
    return " ".join([*said, *([f"And {more} more: see cautions()."] if more else [])])


def _of_bounds(profile: Profile, names: Sequence[str]) -> list[Caution]:
    sides = ("lower", "upper")
    return [
        Caution("bounds", None, int(j), _BOUNDS.format(name=names[int(j)], side=sides[int(side)]))
        for j, side in zip(*np.nonzero(profile.piled), strict=True)
    ]


_BUDGET = (
    "{seen} of {asked} {clusters} stand out from the noise: records and budget do not carry the others. Ask "
    "for fewer, or use more records or a larger epsilon."
)
_SIZE = (
    "{cluster} is smaller than three standard deviations of its size's noise: it may be noise, and so may "
    "its centre and spread."
)
_SPREAD = "the spread of column {name!r} in {cluster} cannot be told from 0: too few records for the noise."
_TAIL = (
    "{cluster} has a heavy tail: more than 1 % of its records lie far out. Its spread is that of few "
    "records; synthetic records, which are normal within components, have a lighter tail."
)
_BOUNDS = (
    "column {name!r} piles up at its {side} bound. If there are values beyond it, your bounds cut this "
    "column: its centres and spreads are those of the clipped values."
)
