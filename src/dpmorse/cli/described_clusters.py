"""Clusters of a table with categories: of its profile with intervals, or else of the mixture alone.

Without a profile shares are weights of the mixture. None of the numbers has an interval then, and every
heading says so.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import numpy as np

from dpmorse.cli.intervals import with_ends
from dpmorse.cli.messages import printable
from dpmorse.cli.models import Model, label_name
from dpmorse.cli.parts import Part
from dpmorse.profiles import NO_INTERVALS
from dpmorse.schema import Date, NumberColumn, Ordinal, Schema
from dpmorse.typing import FloatArray

MOST_COLUMNS = 12
"""Columns of the data in a printed table. --json has all."""

NO_SIZES = f"Sizes of clusters are not available for this model. {NO_INTERVALS}"
"""What is said below the table."""

_SHOWN_LEVELS = 3
"""Levels of a category that are printed: the most probable ones."""

_LONGEST = 24
"""Characters of a name or a level; longer ones are cut."""

Row = tuple[str, ...]


def described_rows(model: Model, schema: Schema, described: Sequence[Part]) -> list[Row]:
    """Return the table of the clusters, with a head: one row for each cluster and column."""
    alone = "" if described and described[0].ends else " (without interval)"
    head = ("share, %", "column", "centre, or most frequent levels, %", "spread")
    marked = (title if title == "column" else f"{title}{alone}" for title in head)
    rows: list[Row] = [(label_name([], model), *marked)]
    for c, part in enumerate(described):
        for j, (name, centre, spread) in enumerate(_cells(schema, part)):
            first = (str(c), _number(100 * part.share, _of(part, "share", 100))) if j == 0 else ("", "")
            rows.append((*first, name, centre, spread))
    return rows


def described_part(schema: Schema, part: Part) -> dict[str, Any]:
    """Return a cluster as plain data: means of numbers, and probabilities of levels."""
    names = schema.number_names
    centres = [
        _plain_centre(column, mean) for (_, column), mean in zip(schema.numbers, part.mean, strict=True)
    ]
    return {
        "share": part.share,
        "mean": dict(zip(names, centres, strict=True)),
        "standard_deviation": dict(zip(names, part.deviation.tolist(), strict=True)),
        "levels": _by_level(schema, part.levels),
        "records": part.records,
        **_intervals(schema, part),
    }


def _intervals(schema: Schema, part: Part) -> dict[str, Any]:
    """Return the ends of all intervals; those of dates are days since the earliest."""
    if part.ends is None:
        kinds = ("share", "mean", "standard_deviation", "levels")
        return {f"{kind}_interval": None for kind in kinds}
    ends, names = part.ends, schema.number_names
    of_numbers = {
        f"{kind}_interval": dict(zip(names, np.transpose(ends[kind]).tolist(), strict=True))
        for kind in ("mean", "standard_deviation")
    }
    of_levels = None if part.levels is None else _by_level(schema, np.transpose(ends["levels"]))
    return {"share_interval": np.array(ends["share"]).tolist(), **of_numbers, "levels_interval": of_levels}


def _by_level(schema: Schema, values: FloatArray | None) -> dict[str, dict[str, Any]]:
    """Return values of all levels by the name of the category and of the level."""
    if values is None:
        return {}
    columns = zip(schema.labels, schema.layout.levels, strict=True)
    return {name: dict(zip(levels, values[own].tolist(), strict=True)) for (name, levels), own in columns}


def _cells(schema: Schema, part: Part) -> Iterator[Row]:
    """Yield name, centre and spread of the first columns, in the order of the table."""
    found: dict[str, list[Row]] = {name: [] for name in schema.names}
    for j, (name, column) in enumerate(schema.numbers):
        centre = _centre(column, part.mean[j], _of(part, "mean", 1, j))
        spread = _number(part.deviation[j], _of(part, "standard_deviation", 1, j))
        found[name].append((_short(name), centre, f"{spread} days" if isinstance(column, Date) else spread))
    if part.levels is not None:
        for (name, levels), own in zip(schema.labels, schema.layout.levels, strict=True):
            found[name].append((_short(name), _most_frequent(levels, own, part), ""))
    for name in schema.names[:MOST_COLUMNS]:
        yield from found[name]


def _of(part: Part, kind: str, factor: float, place: int | None = None) -> tuple[float, float] | None:
    """Return the ends of an interval, if there is one."""
    if part.ends is None:
        return None
    low, high = (end if place is None else end[place] for end in part.ends[kind])
    return factor * float(low), factor * float(high)


def _number(value: float, ends: tuple[float, float] | None) -> str:
    return f"{value:.4g}" if ends is None else with_ends(value, *ends)


def _most_frequent(levels: Sequence[str], own: slice, part: Part) -> str:
    shares = np.zeros(0) if part.levels is None else part.levels[own]
    ranked = np.argsort(-shares, kind="stable")
    shown = [
        f"{_short(levels[i])} {_number(100 * shares[i], _of(part, 'levels', 100, own.start + i))}"
        for i in ranked[:_SHOWN_LEVELS]
    ]
    return ", ".join([*shown, *(["..."] if len(ranked) > _SHOWN_LEVELS else [])])


def _centre(column: NumberColumn, mean: float, ends: tuple[float, float] | None) -> str:
    """Write a centre in the terms of the column: a date, or a rank and the level next to it."""
    if isinstance(column, Ordinal):
        nearest = column.values[min(max(round(mean), 0), len(column.values) - 1)]
        return f"rank {_number(mean, ends)}, near {_short(str(nearest))}"
    if not isinstance(column, Date):
        return _number(mean, ends)
    between = "" if ends is None else f" [{', '.join(str(_plain_centre(column, end)) for end in ends)}]"
    return f"{_plain_centre(column, mean)}{between}"


def _plain_centre(column: NumberColumn, mean: float) -> float | str:
    """Return a mean; that of dates as a date, inside the bounds."""
    if not isinstance(column, Date):
        return float(mean)
    return date.fromordinal(min(max(column.first + round(mean), column.first), column.last)).isoformat()


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
