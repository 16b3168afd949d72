"""``dpmorse plan``: the noise that a budget leads to, computed without data."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from dpmorse.bases import Plan, Rehearsed, rehearse_all
from dpmorse.cli.bounds_file import read_bounds
from dpmorse.cli.fit_request import DEFAULT, FitRequest, parse_clusters
from dpmorse.cli.messages import reports_mistakes, say, say_json
from dpmorse.cli.options import (
    BaseOption,
    ClustersOption,
    ComponentsOption,
    DeltaOption,
    JsonOption,
    NeighboringOption,
)
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import DEFAULT_DELTA
from dpmorse.schema import Schema

_EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""The budgets in the table: from strict to weak."""

_PROMISED = (None, DEFAULT, "PrivateGaussianMixture")
"""What looks for small clusters on purpose, and says what these have to pass (``hurdles``)."""


@reports_mistakes
def plan(
    *,
    columns: Annotated[
        int | None, typer.Option("--columns", metavar="D", min=1, help="Number of columns.")
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option("--bounds", metavar="TOML", help="A bounds file instead of --columns, filled in."),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            "--rows", metavar="N", min=1, help="About how many records: a public guess, not a count."
        ),
    ] = 10_000,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="A budget to add to the table.")] = None,
    delta: DeltaOption = DEFAULT_DELTA,
    clusters: ClustersOption = "auto",
    components: ComponentsOption = None,
    base: BaseOption = None,
    neighboring: NeighboringOption = "add-remove",
    json: JsonOption = False,
) -> None:
    """Say what noise a budget buys, without data.

    A fit of invented records is rehearsed for each epsilon. The table shows the noise of a cluster's size
    (one standard deviation, in records), the smallest cluster that is seen in 19 of 20 fits if it lies apart
    from all others, and how many clusters of that size there is room for.
    """
    wanted = parse_clusters(clusters)
    n_columns, described = _columns(columns, bounds)
    request = FitRequest(
        epsilon=1.0 if epsilon is None else epsilon,
        delta=delta,
        clusters=wanted,
        components=components,
        base=base,
        neighboring=neighboring,
        **described,
    )
    suggested = request.suggested_components(n_columns)
    request = replace(request, components=components or suggested)
    _, planned = request.plan(n_columns)  # says what is wrong with the parameters as they were given
    epsilons = sorted({*_EPSILONS, *([] if epsilon is None else [epsilon])})
    bases = {value: replace(request, epsilon=value).plan(n_columns)[0] for value in epsilons}
    rehearsed = rehearse_all(bases, n_columns, rows)
    table = {value: _row(value, found, rows) for value, found in rehearsed.items()}
    if json:
        settings = {"delta": delta, "columns": n_columns, "rows": rows, "neighboring": neighboring}
        used = {"base": base or DEFAULT, "components": request.components, "stages": _stages(planned)}
        asked = None if epsilon is None else table[epsilon]
        more = {"suggested_components": suggested, "asked": asked, "table": list(table.values())}
        say_json({**settings, **used, **more})
        return
    say(_in_words(list(table.values()), request, suggested, _in_columns(planned.schema), rows))
    if planned.schema.stated:
        say("\nWhat the budget is spent on:")
        width = max(len(stage.name) for stage in planned.stages) + 2
        for stage in _stages(planned):
            say(f"  {stage['stage']:<{width}}{stage['share']:>5.0%}")


def _stages(planned: Plan[Any]) -> list[dict[str, Any]]:
    """Return what the budget is spent on; a cost is rho, or epsilon where the promise is pure."""
    total = sum(stage.cost for stage in planned.stages)
    return [
        {"stage": stage.name, "share": stage.cost / total, "cost": stage.cost, "most_values": stage.n_draws}
        for stage in planned.stages
    ]


def _columns(columns: int | None, bounds: str | None) -> tuple[int, dict[str, Any]]:
    """Return the number of columns, and the parameters that say what they are."""
    if columns is not None and bounds is None:
        return columns, {"bounds": (-1.0, 1.0)}
    if bounds is None or columns is not None:
        raise typer.BadParameter("give either --columns, or --bounds with a bounds file that is filled in.")
    given = read_bounds(bounds)
    if not given.names:
        raise InvalidParameterError(
            f"--bounds must be a file for a plan, got {bounds!r}: one pair does not say how many columns "
            "there are. Give --columns instead."
        )
    return len(given.names), {"bounds": given.of(given.names), "columns": given.schema_of(given.names)}


def _in_columns(schema: Schema) -> str:
    n_columns, layout = len(schema.names), schema.layout
    if not schema.stated:
        return f"{n_columns} columns"
    return (
        f"{n_columns} columns ({layout.n_numbers} of numbers, {layout.n_categories} of categories with "
        f"{layout.n_all_levels} levels)"
    )


def _row(epsilon: float, result: Rehearsed, rows: int) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "count_noise": result.count_stddev,
        "smallest_cluster": result.smallest_cluster,
        "smallest_share": result.smallest_cluster / rows,
        "most_clusters": result.most_clusters(rows),
        "releases": result.n_releases,
        "rho": result.rho,
    }


def _in_words(
    table: list[dict[str, Any]],
    request: FitRequest,
    suggested: int,
    columns: str,
    rows: int,
) -> str:
    title = (
        f"{request.base or DEFAULT} with {request.components} components, about {rows} records in {columns}, "
        f"delta = {request.delta:g}, {request.neighboring}:"
    )
    header = (
        f"{'epsilon':>9}{'noise of a count':>20}{'smallest cluster':>20}{'of all':>10}{'most clusters':>16}"
    )
    lines = [
        f"{row['epsilon']:>9g}{row['count_noise']:>20.1f}{row['smallest_cluster']:>20}"
        f"{_share(row['smallest_share']):>10}{row['most_clusters']:>16}"
        for row in table
    ]
    advice = f"Suggested --components: {suggested}. No data was read and nothing was spent."
    notes = _too_many(table, request.clusters, rows)
    if request.base not in _PROMISED:
        notes.append(
            "The smallest cluster is what noise does not hide at the end; "
            f"{request.base} may have found no place for it."
        )
    return "\n".join([title, "", header, *lines, "", *notes, advice])


def _too_many(table: list[dict[str, Any]], clusters: int | str, rows: int) -> list[str]:
    """Say for which budgets noise hides that number of clusters, even if all have the same size."""
    if isinstance(clusters, str):
        return []
    hidden = [row["epsilon"] for row in table if row["most_clusters"] < clusters]
    sentence = (
        f"With epsilon = {max(hidden, default=0):g} or less the budget cannot carry {clusters} clusters of "
        f"{rows} records:\nsome may be noise. Use more records, a larger epsilon, or fewer clusters."
    )
    return [sentence] if hidden else []


def _share(share: float) -> str:
    return f"{share:.1%}" if share <= 1 else "> 100%"
