"""A table with categories and holes as columns of a data frame, and what must be said about it.

There is one row for each cluster and number, and one for each cluster, category and level of it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmorse.profiles.cautions import Caution, cautions_of, in_one_text
from dpmorse.profiles.levels import Estimate, level_table
from dpmorse.profiles.mixed import TableProfile
from dpmorse.profiles.table import ClusterTable
from dpmorse.schema import OTHER, CategoryColumn, Schema

_MANY = 0.2
"""Part of the values that must be "other" for something to be said."""

_NEARLY_ALL = 0.8
"""Part of the values of a number that must be missing, at least, for something to be said."""

_ENDS = (("value", ""), ("low", "_low"), ("high", "_high"))

_OF_COLUMNS = ("centre", "spread", "level_share", "missing")

_COLUMNS = (
    "cluster",
    "column",
    "level",
    *(name + end for name in ("share", *_OF_COLUMNS) for _, end in _ENDS),
    "warning",
)
"""The columns of the frame."""


def mixed_cautions_of(
    table: ClusterTable, profile: TableProfile, schema: Schema, called: str = "cluster {}"
) -> list[Caution]:
    """Return what must be said about a table with categories: first about columns, then about clusters."""
    places = [schema.names.index(name) for name in schema.number_names]
    of_numbers = [
        note if note.column is None else replace(note, column=places[note.column])
        for note in cautions_of(table, profile.numbers, schema.number_names, called)
    ]
    of_columns = [note for note in of_numbers if note.cluster is None]
    of_values = [*_of_missing_values(profile, schema), *_of_other_values(profile, schema)]
    return [*of_columns, *of_values, *of_numbers[len(of_columns) :]]


def _of_missing_values(profile: TableProfile, schema: Schema) -> Iterator[Caution]:
    """Say where nearly all numbers are missing: they may be there, and be written in another way."""
    whole = level_table(profile.levels, np.ones((1, profile.n_components)))
    for j, (name, column) in enumerate(schema.numbers):
        if column.missing != "refuse" and whole.missing.low[0, j] > _NEARLY_ALL:
            yield Caution("missing", None, schema.names.index(name), _MISSING.format(name=name))


def _of_other_values(profile: TableProfile, schema: Schema) -> Iterator[Caution]:
    """Say where many values are "other", unless that is a value that was listed."""
    whole = level_table(profile.levels, np.ones((1, profile.n_components)))
    parts = zip(schema.categories, schema.layout.levels, whole.unsure[0], strict=False)
    for (name, column), levels, unsure in parts:
        other = column.levels.index(OTHER)
        part = float(whole.share.value[0, levels.start + other])
        if part > _MANY and other >= len(column.listed) and not unsure:
            text = _OTHER.format(name=name, part=part)
            yield Caution("other", None, schema.names.index(name), text)


_MISSING = (
    "nearly all values of column {name!r} are missing, or could not be read as its description says. Look at "
    "how they are written, such as with decimal commas."
)

_OTHER = (
    "many values of column {name!r} are not listed: about {part:.0%} of them are 'other'. List more of the "
    "values that can occur, from public knowledge."
)


def mixed_columns_of(table: ClusterTable, notes: Sequence[Caution], schema: Schema) -> dict[str, list[Any]]:
    """Return the columns of the frame; what a row is not about is NaN, its level None."""
    estimates = {"centre": table.centre, "spread": table.spread}
    if table.levels is not None:
        estimates |= {"level_share": table.levels.share, "missing": table.levels.missing}
    rows = [
        _of_cluster(table.share, cluster)
        | _of_column(estimates, about, cluster)
        | {"warning": _said(notes, cluster, about.place)}
        for cluster in range(len(table.counts))
        for about in _abouts(schema)
    ]
    return {name: [row[name] for row in rows] for name in _COLUMNS}


@dataclass(frozen=True)
class _About:
    """Which column and level a row is about, and where each of its numbers is among all of that kind."""

    place: int
    name: str
    level: str | None
    numbers: dict[str, int]


def _abouts(schema: Schema) -> Iterator[_About]:
    """Go through the columns in the order of the table."""
    for place, (name, column) in enumerate(schema.columns):
        if isinstance(column, CategoryColumn):
            yield from _of_category(schema, place, name, column)
        else:
            j = schema.number_names.index(name)
            missing = {} if column.missing == "refuse" else {"missing": j}
            yield _About(place, name, None, {"centre": j, "spread": j} | missing)


def _of_category(schema: Schema, place: int, name: str, column: CategoryColumn) -> Iterator[_About]:
    """Go through the levels; "missing" may be one of them, and has a row then."""
    j = [other for other, _ in schema.categories].index(name)
    missing = {"missing": schema.layout.n_numbers + j} if column.missing == "ignore" else {}
    for i, level in enumerate(column.levels, schema.layout.levels[j].start):
        yield _About(place, name, level, {"level_share": i} | missing)


def _of_cluster(share: Estimate, cluster: int) -> dict[str, Any]:
    shares = {"share" + end: float(getattr(share, part)[cluster]) for part, end in _ENDS}
    return {"cluster": cluster} | shares


def _of_column(estimates: dict[str, Estimate], about: _About, cluster: int) -> dict[str, Any]:
    row: dict[str, Any] = {"column": about.name, "level": about.level}
    for name in _OF_COLUMNS:
        for part, end in _ENDS:
            known = name in about.numbers
            row[name + end] = (
                float(getattr(estimates[name], part)[cluster, about.numbers[name]]) if known else math.nan
            )
    return row


def _said(notes: Sequence[Caution], cluster: int, place: int) -> str:
    about = [note for note in notes if note.cluster in {cluster, None} and note.column in {place, None}]
    return in_one_text(about)
