"""What a reader of a table must be told, beside the number that it is about. All of it costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.profiles.levels import level_table
from dpmorse.profiles.profile import Profile
from dpmorse.profiles.table import ClusterTable
from dpmorse.schema import OTHER, Schema


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
    table: ClusterTable, profile: Profile, schema: Schema, called: str = "cluster {}"
) -> list[Caution]:
    """Return what must be said about a table: first about columns, then in the order of clusters.

    ``called`` is how the sentences call a cluster; braces stand for its number.
    """
    found = cautions_of_columns(profile, schema)
    for c in range(len(table.counts)):
        cluster = called.format(c)
        if not table.supported[c]:
            found.append(Caution("size", c, None, _SIZE.format(cluster=cluster)))
            continue
        for j in np.flatnonzero((table.spread.low[c] <= 0) & (table.spread.high[c] > 0)):
            place = schema.number_places[j]
            text = _SPREAD.format(cluster=cluster, name=schema.names[place])
            found.append(Caution("spread", c, place, text))
        if table.heavy_tailed[c]:
            found.append(Caution("tail", c, None, _TAIL.format(cluster=cluster)))
    return found


def cautions_of_columns(profile: Profile, schema: Schema) -> list[Caution]:
    """Return what must be said about columns of all records.

    A column may pile up at a bound; values may be there that were not stated, or are written in another way
    than was stated.
    """
    found = []
    for j, side in zip(*np.nonzero(profile.piled), strict=True):
        place = schema.number_places[j]
        text = _BOUNDS.format(name=schema.names[place], side=("lower", "upper")[side])
        found.append(Caution("bounds", None, place, text))
    whole = level_table(profile, np.ones((1, profile.n_components)))
    for j, place in enumerate(schema.number_places):
        name, column = schema.columns[place]
        if column.missing != "refuse" and whole.missing.low[0, j] > _NEARLY_ALL:
            found.append(Caution("missing", None, place, _MISSING.format(name=name)))
    categories = zip(schema.category_places, schema.categories, schema.layout.levels, strict=False)
    for (place, (name, category), own), unsure in zip(categories, whole.unsure[0], strict=False):
        other = category.levels.index(OTHER)
        part = float(whole.share.value[0, own.start + other])
        if part > _MANY and other >= len(category.listed) and not unsure:  # it is no value that was listed
            found.append(Caution("other", None, place, _OTHER.format(name=name, part=part)))
    return found


def cautions_of_budget(table: ClusterTable, called: str = "cluster {}") -> list[Caution]:
    """Say that a table has more clusters than can be told from noise."""
    seen, asked = int(table.supported.sum()), len(table.supported)
    text = _BUDGET.format(seen=seen, asked=asked, clusters=called.format("").strip() + "s")
    return [] if seen == asked else [Caution("budget", None, None, text)]


def in_one_text(cautions: Sequence[Caution], at_most: int | None = None) -> str:
    """Return the sentences as one text; beyond ``at_most`` the others are counted."""
    said = [f"{caution.text[:1].upper()}{caution.text[1:]}" for caution in cautions[:at_most]]
    more = len(cautions) - len(said)
    return " ".join([*said, *([f"And {more} more: see cautions()."] if more else [])])


_MANY = 0.2
"""Part of the values that must be "other" for something to be said."""

_NEARLY_ALL = 0.8
"""Part of the values of a number that must be missing, at least, for something to be said."""

_BUDGET = (
    "{seen} of {asked} {clusters} stand out from the noise: with this many records and this epsilon the "
    "others cannot be told from noise. Ask for fewer, or use more records or a larger epsilon."
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
_MISSING = (
    "nearly all values of column {name!r} are missing, or could not be read as its description says. Look at "
    "how they are written, such as with decimal commas."
)
_OTHER = (
    "many values of column {name!r} are not listed: about {part:.0%} of them are 'other'. List more of the "
    "values that can occur, from public knowledge."
)
