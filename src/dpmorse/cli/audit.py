"""``dpmorse audit``: attack an estimator on invented records, and say what the attacks prove."""

import json as json_text
from typing import Annotated, Any

import typer

from dpmorse.audit import AuditResult, audit_estimator, audit_releases
from dpmorse.cli.fit_request import DEFAULT, NO_EPSILON, FitRequest
from dpmorse.cli.messages import FAULT, note, reports_mistakes, say, say_json
from dpmorse.cli.options import (
    BaseOption,
    ComponentsOption,
    DeltaOption,
    ForceOption,
    JsonOption,
    NeighboringOption,
)
from dpmorse.cli.outputs import check_output, replacing, write_text
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.privacy import DEFAULT_DELTA


@reports_mistakes
def audit(
    *,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="The budget whose fit is attacked.")
    ] = None,
    delta: DeltaOption = DEFAULT_DELTA,
    base: BaseOption = None,
    components: ComponentsOption = None,
    neighboring: NeighboringOption = "add-remove",
    columns: Annotated[int, typer.Option("--columns", metavar="D", min=1, help="Number of columns.")] = 8,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=100, help="Times that all noise is drawn.")
    ] = 20_000,
    canaries: Annotated[
        int, typer.Option("--canaries", metavar="M", min=20, help="Records that are guessed, in one fit.")
    ] = 1000,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of each bound: a true claim fails with the rest.")
    ] = 0.999,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT", help="A JSON file for the results.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="PNG", help="A picture of how the attackers err.")
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Attack a fit of invented records; say how much of the claim the attacks certify.

    Two attackers: one knows all records but one and sees every release; one guesses from the model alone
    which of many records are in it. A bound above the claim refutes it (exit code 4). No data is read,
    nothing is spent.
    """
    if epsilon is None:
        raise InvalidParameterError(NO_EPSILON)
    for path in (output, plot):
        if path is not None:
            check_output(path, force=force)
    request = FitRequest(epsilon, delta, (-1.0, 1.0), "auto", components, base, neighboring)
    estimator, _ = request.plan(columns)
    results = [
        audit_releases(estimator, n_features=columns, runs=runs, confidence=confidence),
        audit_estimator(estimator, n_canaries=canaries, n_features=columns, confidence=confidence),
    ]
    content = _to_dict(results, request, columns)
    if output is not None:
        write_text(output, json_text.dumps(content, indent=2, allow_nan=False) + "\n")
    if plot is not None:
        _draw(results, plot)
    if json:
        say_json(content)
    else:
        say("\n\n".join(map(str, results)))
    if not content["passed"]:
        note("A claim is refuted: please report this as a security problem (SECURITY.md).")
        raise typer.Exit(FAULT)


def _to_dict(results: list[AuditResult], request: FitRequest, columns: int) -> dict[str, Any]:
    return {
        "base": request.base or DEFAULT,
        "epsilon": request.epsilon,
        "delta": request.delta,
        "neighboring": request.neighboring,
        "columns": columns,
        "passed": all(result.passed for result in results),
        "audits": [result.to_dict() for result in results],
    }


def _draw(results: list[AuditResult], path: str) -> None:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise DPMorseError("--plot needs matplotlib: pip install 'dpmorse[plot]'") from error
    from dpmorse.plots import AuditDisplay  # noqa: PLC0415

    figure = Figure(figsize=(5.5 * len(results), 4.2), layout="constrained")
    for result, ax in zip(results, figure.subplots(1, len(results)), strict=True):
        AuditDisplay.from_result(result).plot(ax=ax)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
