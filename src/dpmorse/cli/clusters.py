"""The clusters of a model as a table, as warnings and as plain data, with intervals if it has a profile."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.cli.messages import printable, say, warn
from dpmorse.cli.models import Model, label_name, profile_of, schema_of
from dpmorse.clustering import MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import Suggestion
from dpmorse.profiles import (
    NO_INTERVALS,
    Caution,
    ClusterView,
    ColumnView,
    Interval,
    NumberView,
    about_intervals,
    shown_decimals,
)

_SHOWN_LEVELS = 3
"""Levels of a category that are printed: the most probable ones."""

_WIDTH = 18
"""Characters of a cell without interval."""

_MARKED = "  * see the warnings"
"""The line below a table with stars."""

_MOST_WARNINGS = 12
"""Warnings about numbers that are printed. --json has all."""


@dataclass(frozen=True)
class _Style:
    """How a table is printed: columns of the data, characters of a name, titles, and whether it has stars."""

    n_columns: int
    longest: int
    centre: str
    unmeasured: str
    no_intervals: str
    has_stars: bool


_OF_NUMBERS = _Style(
    n_columns=5,
    longest=18,
    centre="centre",
    unmeasured="; share, mean ± standard deviation as released:",
    no_intervals=NO_INTERVALS,
    has_stars=True,
)
_OF_STATED = _Style(
    n_columns=12,
    longest=24,
    centre="centre, or most frequent levels, %",
    unmeasured=", as released:",
    no_intervals=f"Sizes of clusters are not available for this model. {NO_INTERVALS}",
    has_stars=False,
)


def _style(model: Model) -> _Style:
    return _OF_STATED if schema_of(model).stated else _OF_NUMBERS


def view_of(model: Model, *, population: bool = False) -> ClusterView:
    """Return the clusters of a model, heaviest first: from its profile, else from the mixture alone."""
    if profile_of(model) is not None:
        return ClusterView.of(model.table(population=population), schema_of(model), model.cautions())
    if population:
        raise InvalidParameterError("--population needs intervals, and this model has no profile.")
    return ClusterView.of_mixture(model.mixture_, model._labels_of_components(None), schema_of(model))


# -- printed ------------------------------------------------------------------------------------------


def say_clusters(model: Model, *, population: bool = False) -> None:
    """Print the table of the clusters, and below it what must be said about its numbers."""
    say(cluster_table(model, population=population))
    tell_cautions(model)


def tell_cautions(model: Model) -> None:
    """Print what must be said about the numbers of a model as warnings."""
    texts = [] if profile_of(model) is None else _one_a_cluster(model.cautions())
    for text in texts[:_MOST_WARNINGS]:
        warn(text)
    more = len(texts) - _MOST_WARNINGS
    if more > 0:
        warn(f"{more} more warning{'s' * (more > 1)} about numbers; `dpmorse show --json` has all.")


def _one_a_cluster(cautions: Sequence[Caution]) -> list[str]:
    """Return the sentences, but of each kind only the first about a cluster, and how many more there are."""
    alike: dict[tuple[Any, ...], list[Caution]] = {}
    for caution in cautions:
        about = caution.cluster if caution.cluster is not None else ("column", caution.column)
        alike.setdefault((caution.kind, about), []).append(caution)
    more = " The same is true of {} more of its columns."
    return [first.text + (more.format(len(others)) if others else "") for first, *others in alike.values()]


def caution_texts(model: Model) -> list[str]:
    """Return what must be said about the numbers of a model, a sentence each."""
    return [] if profile_of(model) is None else [caution.text for caution in model.cautions()]


def about_numbers(model: Model, *, population: bool = False) -> str:
    """Say what the intervals are about, or why there are none."""
    if profile_of(model) is not None:
        return about_intervals(population=population)
    return _style(model).no_intervals


def suggestion(model: Model) -> Suggestion | None:
    """Return how sure the number of clusters is; None where the user gave it, or where there are none."""
    if isinstance(model, MorseEstimator) and model.n_clusters == "auto":
        return model.merge_tree_.suggestion
    return None


def cluster_table(model: Model, *, population: bool = False) -> str:
    """Return the clusters as a table of text, what its intervals are about, and how sure their number is."""
    view, style, label = view_of(model, population=population), _style(model), label_name([], model)
    below = [about_numbers(model, population=population)]
    number = suggestion(model)
    if number is not None:
        below.append(f"No number of clusters was given: {number.in_words}.")
    in_one_line = view.table is None and style is _OF_NUMBERS
    lines = _one_line_each(view, style, label) if in_one_line else _lines(view, style, label)
    return "\n".join([_title(model, view, style), "", *lines, "", *below])


def _title(model: Model, view: ClusterView, style: _Style) -> str:
    counted = _counted(view.n_clusters, label_name([], model))
    if isinstance(model, MorseEstimator):
        counted += f" of {_counted(model.mixture_.n_components, 'component')}"
    counted += f" in {_counted(len(view.columns), 'column')}"
    more = f" ({style.n_columns} shown; --json has all)" if len(view.columns) > style.n_columns else ""
    if view.table is None:
        return f"{counted}{more}{style.unmeasured}"
    return f"{counted}{more}, about {view.table.counts.sum():,.0f} records:"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _one_line_each(view: ClusterView, style: _Style, label: str) -> Iterator[str]:
    """Yield one line a cluster: its share, and mean ± standard deviation of the first columns."""
    columns = view.columns[: style.n_columns]
    yield f"{label:>9}{'share':>9}" + "".join(
        f"  {_short(column.name, style):>{_WIDTH}}" for column in columns
    )
    for c in range(view.n_clusters):
        numbers = (column for column in columns if isinstance(column, NumberView))
        cells = (f"{one.centre.value[c]:.4g} ± {one.spread.value[c]:.2g}" for one in numbers)
        yield f"{c:>9}{view.share.value[c]:>9.1%}" + "".join(f"  {cell:>{_WIDTH}}" for cell in cells)


def _lines(view: ClusterView, style: _Style, label: str) -> list[str]:
    """Return one line for each cluster and column; the share stands in the first line of its cluster."""
    alone = " (without interval)" if view.table is None else ""
    rows = [(label, f"share, %{alone}", "column", f"{style.centre}{alone}", f"spread{alone}")]
    notes = view.cautions if style.has_stars else ()
    for c in range(view.n_clusters):
        share = _number(view.share.at(c).times(100)) + _mark(notes, "size", c)
        first = (f"{c}{_mark(notes, 'tail', c)}", share)
        for column in view.columns[: style.n_columns]:
            for cells in _cells(column, c, notes, style):
                rows.append((*first, *cells))
                first = ("", "")
    lines = _aligned(rows)
    return [*lines, *([_MARKED] if style.has_stars and any("*" in line for line in lines) else [])]


def _cells(
    column: ColumnView, c: int, notes: Sequence[Caution], style: _Style
) -> Iterator[tuple[str, str, str]]:
    """Yield name, centre and spread of a number, and name and most frequent levels of a category."""
    name = _short(column.name, style)
    if isinstance(column, NumberView):
        centre, spread, stated = column.centre.at(c), column.spread.at(c), column.column
        ends = centre[1:] if centre.is_known else None
        words = stated.centre_in_words(_number(centre), centre.value, ends, lambda text: _short(text, style))
        stars = [_mark(notes, "bounds", None, column.place), _mark(notes, "spread", c, column.place)]
        yield name + stars[0], words, f"{_number(spread)} {stated.spread_unit}".rstrip() + stars[1]
    if column.levels:
        yield name, _most_frequent(column, c, style), ""


def _most_frequent(column: ColumnView, c: int, style: _Style) -> str:
    ranked = np.argsort(-column.level_share.value[c], kind="stable")
    shares = ((i, column.level_share.at(c, i).times(100)) for i in ranked[:_SHOWN_LEVELS])
    shown = [f"{_short(column.levels[i], style)} {_number(share)}" for i, share in shares]
    return ", ".join([*shown, *(["..."] if len(ranked) > _SHOWN_LEVELS else [])])


def _number(number: Interval) -> str:
    return with_ends(*number) if number.is_known else f"{number.value:.4g}"


def with_ends(value: float, low: float, high: float) -> str:
    """Write a number and its interval to two digits of half the interval's width."""
    decimals = shown_decimals(low, high)
    if max(abs(low), abs(high)) >= 1e7 or decimals > 6:
        return f"{value:.5g} [{low:.5g}, {high:.5g}]"
    value, low, high = (round(number, decimals) + 0.0 for number in (value, low, high))
    shown = max(decimals, 0)
    return f"{value:.{shown}f} [{low:.{shown}f}, {high:.{shown}f}]"


def _mark(notes: Sequence[Caution], kind: str, cluster: int | None, column: int | None = None) -> str:
    """Return a star for what a warning is about."""
    found = any((note.kind, note.cluster, note.column) == (kind, cluster, column) for note in notes)
    return "*" if found else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line.rstrip()}" for line in padded]


def _short(name: str, style: _Style) -> str:
    shown = printable(name)
    return shown if len(shown) <= style.longest else f"{shown[: style.longest - 3]}..."


# -- plain data ---------------------------------------------------------------------------------------


def clusters_to_dict(model: Model, *, population: bool = False) -> dict[str, Any]:
    """Return the clusters, how sure their number is, what intervals are about, and warnings, for --json."""
    kind, view, number = label_name([], model), view_of(model, population=population), suggestion(model)
    return {
        f"{kind}s": [{kind: c, **_cluster_to_dict(view, c)} for c in range(view.n_clusters)],
        "nearly_as_good": None if number is None else list(number.nearly),
        "intervals_about": about_numbers(model, population=population),
        "warnings": caution_texts(model),
    }


def _cluster_to_dict(view: ClusterView, c: int) -> dict[str, Any]:
    """Return a cluster as plain data; centres of dates are dates, their intervals days since the earliest."""
    numbers = [
        (column, column.centre.at(c), column.spread.at(c))
        for column in view.columns
        if isinstance(column, NumberView)
    ]
    categories_first = sorted(view.columns, key=lambda column: isinstance(column, NumberView))
    levels = {
        column.name: {level: column.level_share.at(c, i) for i, level in enumerate(column.levels)}
        for column in categories_first
        if column.levels
    }
    plain = {
        "share": view.share.at(c).value,
        "mean": {column.name: column.column.plain_centre(mean.value) for column, mean, _ in numbers},
        "standard_deviation": {column.name: spread.value for column, _, spread in numbers},
        "levels": {name: {level: part.value for level, part in own.items()} for name, own in levels.items()},
        "records": None if view.table is None else float(view.table.counts[c]),
        "share_interval": view.share.at(c)[1:],
        "mean_interval": {column.name: mean[1:] for column, mean, _ in numbers},
        "standard_deviation_interval": {column.name: spread[1:] for column, _, spread in numbers},
        "levels_interval": {
            name: {level: part[1:] for level, part in own.items()} for name, own in levels.items()
        },
    }
    if view.table is None:
        plain |= dict.fromkeys(name for name in plain if name.endswith("_interval"))
    return {name: part for name, part in plain.items() if view.schema.stated or "levels" not in name}
