"""A model, and its clusters: a table, warnings and plain data, with intervals if it has a profile."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.cli.messages import say, shortened, warn
from dpmorse.cli.models import Model, label_name, schema_of
from dpmorse.clustering import MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import Suggestion
from dpmorse.privacy import PrivacyReport
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


def _style(view: ClusterView) -> _Style:
    return _OF_STATED if view.schema.stated else _OF_NUMBERS


def _view_of(model: Model, *, population: bool) -> ClusterView:
    """Return the clusters of a model, heaviest first: from its profile, else from the mixture alone."""
    if model._released.profile_ is not None:
        return ClusterView.of(model.table(population=population), schema_of(model), model.cautions())
    if population:
        raise InvalidParameterError("--population needs intervals, and this model has no profile.")
    return ClusterView.of_mixture(model.mixture_, model._labels_of_components(None), schema_of(model))


# -- printed ------------------------------------------------------------------------------------------


def say_clusters(model: Model, *, population: bool = False) -> None:
    """Print the table of the clusters, and below it how sure their number is, and warnings."""
    view, label = _view_of(model, population=population), label_name([], model)
    in_one_line = view.table is None and not view.schema.stated
    lines = _one_line_each(view, label) if in_one_line else _lines(view, label)
    below, number = [_about_numbers(view, population=population)], _suggestion(model)
    if number is not None:
        below.append(f"No number of clusters was given: {number.in_words}.")
    say("\n".join([_title(model, view, label), "", *lines, "", *below]))
    tell_cautions(model)


def tell_cautions(model: Model) -> None:
    """Print what must be said about the numbers of a model as warnings."""
    alike: dict[tuple[Any, ...], list[Caution]] = {}
    for caution in [] if model._released.profile_ is None else model.cautions():
        about = caution.cluster if caution.cluster is not None else ("column", caution.column)
        alike.setdefault((caution.kind, about), []).append(caution)
    for first, *others in list(alike.values())[:_MOST_WARNINGS]:  # of each kind one about a cluster
        more = f" The same is true of {len(others)} more of its columns." if others else ""
        warn(f"{first.text}{more}")
    left = len(alike) - _MOST_WARNINGS
    if left > 0:
        warn(f"{left} more warning{'s' * (left > 1)} about numbers; `dpmorse show --json` has all.")


def _about_numbers(view: ClusterView, *, population: bool) -> str:
    """Say what the intervals are about, or why there are none."""
    return _style(view).no_intervals if view.table is None else about_intervals(population=population)


def _suggestion(model: Model) -> Suggestion | None:
    """Return how sure the number of clusters is; None where the user gave it, or where there are none."""
    if isinstance(model, MorseEstimator) and model.n_clusters == "auto":
        return model.merge_tree_.suggestion
    return None


def _title(model: Model, view: ClusterView, label: str) -> str:
    counted, style = _counted(view.n_clusters, label), _style(view)
    if isinstance(model, MorseEstimator):
        counted += f" of {_counted(model.mixture_.n_components, 'component')}"
    counted += f" in {_counted(len(view.columns), 'column')}"
    more = f" ({style.n_columns} shown; --json has all)" if len(view.columns) > style.n_columns else ""
    if view.table is None:
        return f"{counted}{more}{style.unmeasured}"
    return f"{counted}{more}, about {view.table.counts.sum():,.0f} records:"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _one_line_each(view: ClusterView, label: str) -> Iterator[str]:
    """Yield one line a cluster: its share, and mean ± standard deviation of the first columns."""
    columns = view.columns[: _OF_NUMBERS.n_columns]
    names = (shortened(column.name, _OF_NUMBERS.longest) for column in columns)
    yield f"{label:>9}{'share':>9}" + "".join(f"  {name:>{_WIDTH}}" for name in names)
    for c in range(view.n_clusters):
        numbers = (column for column in columns if isinstance(column, NumberView))
        cells = (f"{one.centre.value[c]:.4g} ± {one.spread.value[c]:.2g}" for one in numbers)
        yield f"{c:>9}{view.share.value[c]:>9.1%}" + "".join(f"  {cell:>{_WIDTH}}" for cell in cells)


def _lines(view: ClusterView, label: str) -> list[str]:
    """Return one line for each cluster and column; the share stands in the first line of its cluster."""
    style, alone = _style(view), " (without interval)" if view.table is None else ""
    rows = [(label, f"share, %{alone}", "column", f"{style.centre}{alone}", f"spread{alone}")]
    notes = view.cautions if style.has_stars else ()
    for c in range(view.n_clusters):
        share = _number(view.share.at(c).times(100)) + _mark(notes, "size", c)
        first = (f"{c}{_mark(notes, 'tail', c)}", share)
        for column in view.columns[: style.n_columns]:
            for cells in _cells(column, c, notes, style):
                rows.append((*first, *cells))
                first = ("", "")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    lines = [f"  {line.rstrip()}" for line in padded]
    if style.has_stars and any("*" in line for line in lines):
        lines.append("  * see the warnings")
    return lines


def _cells(
    column: ColumnView, c: int, notes: Sequence[Caution], style: _Style
) -> Iterator[tuple[str, str, str]]:
    """Yield name, centre and spread of a number, and name and most frequent levels of a category."""
    name, longest = shortened(column.name, style.longest), style.longest
    if isinstance(column, NumberView):
        centre, spread, stated = column.centre.at(c), column.spread.at(c), column.column
        ends = centre[1:] if centre.is_known else None
        shown = _number(centre)
        words = stated.centre_in_words(shown, centre.value, ends, lambda text: shortened(text, longest))
        stars = [_mark(notes, "bounds", None, column.place), _mark(notes, "spread", c, column.place)]
        yield name + stars[0], words, f"{_number(spread)} {stated.spread_unit}".rstrip() + stars[1]
    if column.levels:
        ranked = np.argsort(-column.level_share.value[c], kind="stable")
        shares = ((column.levels[i], column.level_share.at(c, i).times(100)) for i in ranked[:_SHOWN_LEVELS])
        frequent = [f"{shortened(level, longest)} {_number(share)}" for level, share in shares]
        yield name, ", ".join([*frequent, *(["..."] if len(ranked) > _SHOWN_LEVELS else [])]), ""


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


# -- plain data ---------------------------------------------------------------------------------------


def model_to_dict(model: Model, path: str, *, population: bool = False) -> dict[str, Any]:
    """Return what is known of a model as plain data for --json."""
    kind, view, number = label_name([], model), _view_of(model, population=population), _suggestion(model)
    return {
        "model": path,
        "estimator": type(model).__name__,
        "columns": list(schema_of(model).names),
        "components": model.mixture_.n_components,
        f"{kind}s": [{kind: c, **_cluster_to_dict(view, c)} for c in range(view.n_clusters)],
        "nearly_as_good": None if number is None else list(number.nearly),
        "intervals_about": _about_numbers(view, population=population),
        "warnings": [caution.text for caution in view.cautions],
        "privacy": _privacy_to_dict(model.privacy_),
    }


def _privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    return {
        "epsilon": report.epsilon,
        "delta": report.delta,
        "neighboring": report.neighboring,
        "unit": report.budget.protects.word,
        "max_rows_per_group": report.budget.max_rows_per_group,
        "rho": report.rho,
        "used": {"epsilon": report.used.epsilon(report.delta), "rho": report.used.rho},
        "secure": report.secure,
        "statement": report.statement,
        "releases": report.to_dicts(),
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
