"""``dpmorse plan``: the noise that a budget leads to, computed without data."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from dpmorse.bases import Rehearsed, rehearse
from dpmorse.cli.fit_request import DEFAULT, FitRequest, parse_clusters
from dpmorse.cli.messages import reports_mistakes, say, say_json
from dpmorse.cli.options import (
    BaseOption,
    ComponentsOption,
    DeltaOption,
    JsonOption,
    NeighboringOption,
)
from dpmorse.clustering import fitted_n_components
from dpmorse.privacy import DEFAULT_DELTA

_EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""The budgets in the table: from strict to weak."""


@reports_mistakes
def plan(
    *,
    columns: Annotated[int, typer.Option("--columns", metavar="D", min=1, help="Number of columns.")],
    rows: Annotated[
        int,
        typer.Option(
            "--rows", metavar="N", min=1, help="About how many records: a public guess, not a count."
        ),
    ] = 10_000,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="A budget to add to the table.")] = None,
    delta: DeltaOption = DEFAULT_DELTA,
    clusters: Annotated[
        str, typer.Option("--clusters", metavar="K|auto", help="Number of clusters.")
    ] = "auto",
    components: ComponentsOption = None,
    base: BaseOption = None,
    neighboring: NeighboringOption = "add-remove",
    json: JsonOption = False,
) -> None:
    """Say what noise a budget buys, without data.

    A fit of invented records is rehearsed for each epsilon. The table shows the noise of a cluster's count
    (one standard deviation, in records), the smallest cluster that can be seen, three times that, and how
    many clusters of equal size that leaves.
    """
    wanted = parse_clusters(clusters)
    suggested = fitted_n_components(None, None if isinstance(wanted, str) else wanted, columns)
    request = FitRequest(
        epsilon=1.0 if epsilon is None else epsilon,
        delta=delta,
        bounds=(-1.0, 1.0),
        clusters=wanted,
        components=components or suggested,
        base=base,
        neighboring=neighboring,
    )
    request.plan(columns)  # says what is wrong with the parameters as they were given
    epsilons = sorted({*_EPSILONS, *([] if epsilon is None else [epsilon])})
    rehearsed = {value: _rehearsed(replace(request, epsilon=value), columns, rows) for value in epsilons}
    table = [_row(value, result, rows) for value, result in rehearsed.items()]
    if json:
        settings = {"delta": delta, "columns": columns, "rows": rows, "neighboring": neighboring}
        used = {"base": base or DEFAULT, "components": components or suggested}
        asked = None if epsilon is None else _row(epsilon, rehearsed[epsilon], rows)
        say_json({**settings, **used, "suggested_components": suggested, "asked": asked, "table": table})
    else:
        say(_in_words(table, request, suggested, columns, rows))


def _rehearsed(request: FitRequest, n_features: int, n_records: int) -> Rehearsed:
    base, _ = request.plan(n_features)
    return rehearse(base, n_features, n_records)


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
    table: list[dict[str, Any]], request: FitRequest, suggested: int, columns: int, rows: int
) -> str:
    title = (
        f"{request.base or DEFAULT} with {request.components} components, about {rows} records in {columns} "
        f"columns, delta = {request.delta:g}, {request.neighboring}:"
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
    return "\n".join([title, "", header, *lines, "", *_too_many(table, request.clusters, rows), advice])


def _too_many(table: list[dict[str, Any]], clusters: int | str, rows: int) -> list[str]:
    """Say for which budgets noise hides so many clusters, even if all have the same size."""
    if isinstance(clusters, str):
        return []
    hidden = [row["epsilon"] for row in table if row["most_clusters"] < clusters]
    sentence = (
        f"With epsilon = {max(hidden, default=0):g} or less the budget cannot carry {clusters} clusters of "
        f"{rows} records:\nsome would be noise. Use more records, a larger epsilon, or fewer clusters."
    )
    return [sentence] if hidden else []


def _share(share: float) -> str:
    return f"{share:.1%}" if share <= 1 else "> 100%"
