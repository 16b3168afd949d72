"""Clusters of a table with categories, from the mixture alone: used where a model has no profile.

Shares are weights of the mixture. None of the numbers has an interval, and every heading says so.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from dpmorse.cli.messages import printable
from dpmorse.cli.models import Model, label_name
from dpmorse.cli.parts import Part
from dpmorse.profiles import NO_INTERVALS
from dpmorse.schema import Date, NumberColumn, Ordinal, Schema

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
    rows: list[Row] = [
        (
            label_name([], model),
            "share (without interval)",
            "column",
            "centre, or most probable levels (without interval)",
            "spread (without interval)",
        )
    ]
    for c, part in enumerate(described):
        for j, (name, centre, spread) in enumerate(_cells(schema, part)):
            first = (str(c), f"{part.share:.1%}") if j == 0 else ("", "")
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
        "levels": {name: dict(levels) for name, levels in _levels(schema, part)},
        "records": None,
        **dict.fromkeys(("share_interval", "mean_interval", "standard_deviation_interval")),
    }


def _cells(schema: Schema, part: Part) -> Iterator[Row]:
    """Yield name, centre and spread of the first columns, in the order of the table."""
    numbers = zip(schema.numbers, part.mean, part.deviation, strict=True)
    found: dict[str, list[Row]] = {name: [] for name in schema.names}
    for (name, column), mean, spread in numbers:
        found[name].append((_short(name), _centre(column, mean), _spread(column, spread)))
    for name, levels in _levels(schema, part):
        found[name].append((_short(name), _most_probable(levels), ""))
    for name in schema.names[:MOST_COLUMNS]:
        yield from found[name]


def _levels(schema: Schema, part: Part) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Yield the name of each category and its levels with their probabilities."""
    if part.levels is None:
        return
    for (name, levels), own in zip(schema.labels, schema.layout.levels, strict=True):
        yield name, list(zip(levels, part.levels[own].tolist(), strict=True))


def _most_probable(levels: Sequence[tuple[str, float]]) -> str:
    ranked = sorted(levels, key=lambda level: -level[1])
    shown = [f"{_short(name)} {probability:.0%}" for name, probability in ranked[:_SHOWN_LEVELS]]
    return ", ".join([*shown, *(["..."] if len(ranked) > _SHOWN_LEVELS else [])])


def _centre(column: NumberColumn, mean: float) -> str:
    """Write a centre in the terms of the column: a date, or a rank and the level next to it."""
    plain = _plain_centre(column, mean)
    if isinstance(column, Ordinal):
        nearest = column.values[min(max(round(mean), 0), len(column.values) - 1)]
        return f"rank {mean:.2f}, near {_short(str(nearest))}"
    return plain if isinstance(plain, str) else f"{plain:.4g}"


def _spread(column: NumberColumn, spread: float) -> str:
    return f"{spread:.0f} days" if isinstance(column, Date) else f"{spread:.2g}"


def _plain_centre(column: NumberColumn, mean: float) -> float | str:
    """Return a mean; that of dates as a date, inside the bounds."""
    if not isinstance(column, Date):
        return float(mean)
    return date.fromordinal(min(max(column.first + round(mean), column.first), column.last)).isoformat()


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
