"""A model, and its clusters: sentences, a table, warnings and plain data, with intervals if there are any."""

from collections.abc import Callable
from typing import Any

from dpmorse.cli.messages import say, warn
from dpmorse.cli.models import Model, label_name, schema_of
from dpmorse.cli.printed_clusters import sentences, table, wrapped
from dpmorse.clustering import MorseEstimator, SuggestedNumber
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import PrivacyReport
from dpmorse.profiles import (
    ABOUT_AGAIN,
    NO_INTERVALS,
    ClusterView,
    Interval,
    LevelView,
    NumberView,
    about_intervals,
)

_MOST_WARNINGS = 12
"""Warnings about numbers that are printed. --json has all."""


def _view_of(model: Model, *, population: bool) -> ClusterView:
    """Return the clusters of a model, heaviest first: from its profile, else from the mixture alone."""
    if model._released.profile_ is not None:
        table, cautions = model.table(population=population), model.cautions()
        return ClusterView.of(table, schema_of(model), cautions, model._again())
    if population:
        raise InvalidParameterError("--population needs intervals, and this model has no profile.")
    return ClusterView.of_mixture(model.mixture_, model._labels_of_components(None), schema_of(model))


# -- printed ------------------------------------------------------------------------------------------


def say_clusters(model: Model, *, population: bool = False) -> None:
    """Print the clusters in sentences, then their table, how sure their number is, and warnings."""
    view, label = _view_of(model, population=population), label_name([], model)
    below, number = [_about_numbers(view, population=population)], _suggestion(model)
    if number is not None:
        below.append(f"No number of clusters was given: {number}.")
    if view.again is not None:
        below.append(ABOUT_AGAIN)
    lines = table(view, label)
    if any("*" in line for line in lines):
        below.append("* see the warnings")
    said = [sentences(model.describe()), ""] if isinstance(model, MorseEstimator) else []
    say("\n".join([*said, wrapped(_title(model, view, label)), "", *lines, "", *map(wrapped, below)]))
    tell_cautions(model)


def tell_cautions(model: Model) -> None:
    """Print what must be said about the numbers of a model as warnings."""
    cautions = [] if model._released.profile_ is None else model.cautions()
    for caution in cautions[:_MOST_WARNINGS]:
        warn(caution.text)
    left = len(cautions) - _MOST_WARNINGS
    if left > 0:
        warn(f"{left} more warning{'s' * (left > 1)} about numbers; `dpmorse show --json` has all.")


def _about_numbers(view: ClusterView, *, population: bool) -> str:
    """Say what the intervals are about, or why there are none."""
    return NO_INTERVALS if view.table is None else about_intervals(population=population)


def _suggestion(model: Model) -> SuggestedNumber | None:
    """Return how sure the number of clusters is; None where the user gave it, or where there are none."""
    if isinstance(model, MorseEstimator) and model.n_clusters == "auto":
        return model.suggestion_
    return None


def _title(model: Model, view: ClusterView, label: str) -> str:
    counted = _counted(view.n_clusters, label)
    if isinstance(model, MorseEstimator):
        counted += f" of {_counted(model.mixture_.n_components, 'component')}"
    counted += f" in {_counted(len(view.columns), 'column')}"
    if view.table is None:
        return f"{counted}, as released, without intervals:"
    return f"{counted}, about {view.table.counts.sum():,.0f} records:"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
        "suggestion": _suggestion_to_dict(model),
        "intervals_about": _about_numbers(view, population=population),
        "warnings": [caution.text for caution in view.cautions],
        "privacy": _privacy_to_dict(model.privacy_),
    }


def _suggestion_to_dict(model: Model) -> dict[str, Any] | None:
    """Return the number of clusters that is suggested, whatever was asked for, and what rehearsals say."""
    if not isinstance(model, MorseEstimator):
        return None
    number = model.suggestion_
    votes = list(number.rehearsed) or None
    return {"clusters": number.n_clusters, "rehearsals": votes, "text": str(number)}


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
    """Return a cluster as plain data, with None for what is not known."""
    values = _parts(view, c, lambda number, plain: None if number.is_hidden else plain(number.value))
    ends = _parts(view, c, lambda number, plain: [*map(plain, number[1:])] if number.is_known else None)
    if view.table is None:
        ends = dict.fromkeys(ends)
    records = None if view.table is None else float(view.table.counts[c])
    known = {"records": records, **_again_to_dict(view, c)}
    return values | known | {f"{name}_interval": part for name, part in ends.items()}


def _again_to_dict(view: ClusterView, c: int) -> dict[str, Any]:
    """Return how nearly a cluster is found again, from 0 to 1, and in how many of how many rehearsals."""
    n_found = None if view.again is None else view.again.n_found(c)
    if view.again is None or n_found is None:
        return {"again": None, "found_again": None}
    votes = {"in": n_found, "of": view.again.n_rehearsals}
    return {"again": float(view.again.likeness[c]), "found_again": votes}


def _parts(
    view: ClusterView, c: int, show: Callable[[Interval, Callable[[float], Any]], Any]
) -> dict[str, Any]:
    """Return what ``show`` makes of each number, and of the function that writes it in its column's terms."""
    numbers = [column for column in view.columns if isinstance(column, NumberView)]
    categories = [column for column in view.columns if isinstance(column, LevelView)]
    gaps = [(column.name, column.missing) for column in view.columns if column.missing is not None]
    return {
        "share": show(view.share.at(c), float),
        "median": {one.name: show(one.median.at(c), one.column.plain) for one in numbers},
        "q1": {one.name: show(one.q1.at(c), one.column.plain) for one in numbers},
        "q3": {one.name: show(one.q3.at(c), one.column.plain) for one in numbers},
        "levels": {
            one.name: {level: show(one.level_share.at(c, i), float) for i, level in enumerate(one.levels)}
            for one in categories
        },
        "missing": {name: show(missing.at(c), float) for name, missing in gaps},
    }
