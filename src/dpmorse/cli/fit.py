"""``dpmorse fit``: the one command that spends privacy."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from dpmorse._validate import did_you_mean
from dpmorse.cli.bounds_file import Bounds, read_bounds
from dpmorse.cli.budget_file import budget_in_words, budget_to_dict, open_budget
from dpmorse.cli.clusters import model_to_dict, say_clusters, tell_cautions
from dpmorse.cli.data_source import inputs, open_data, tell_left_out, tell_reading
from dpmorse.cli.fit_request import NO_EPSILON, FitRequest, parse_clusters
from dpmorse.cli.messages import NOISE, fail, note, reports_mistakes, say, say_json, warn, warnings_told
from dpmorse.cli.models import Model, rehearse
from dpmorse.cli.noise import check_strict, log_fit, tell_needed, what_is_noise
from dpmorse.cli.options import (
    BaseOption,
    ClustersOption,
    ColumnsOption,
    ComponentsOption,
    DatabaseOption,
    DeltaOption,
    ExcludeOption,
    FileArgument,
    ForceOption,
    JsonOption,
    NeighboringOption,
    OutputOption,
    QuietOption,
    SqlOption,
)
from dpmorse.cli.outputs import check_output
from dpmorse.cli.progress import Bar, progress_bar
from dpmorse.cli.reading_options import takes_reading
from dpmorse.clustering import MOST_REHEARSALS, MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import DEFAULT_DELTA, FileLedger
from dpmorse.records import DataFiles, Reading, check_columns, choose_columns, refuse_text, split_names

Rules = str | dict[str, str]
"""What happens to missing values: in all columns, or in each."""

_MISSING = ("refuse", "drop")
"""The values of --missing."""

_INTERRUPTED = (
    "Interrupted in its rehearsals: the model is complete in {!r}, and the budget is spent. It is not known "
    "yet which of its clusters would be found again; `dpmorse show` rehearses anew."
)
"""What is said where rehearsals are interrupted."""

_SEED = (
    "--seed makes the noise reproducible, so that whoever knows the seed can remove it. The model is marked "
    "as NOT SECURE: for tests only."
)
"""The warning about --seed."""


@reports_mistakes
@takes_reading
def fit(
    file: FileArgument = None,
    *,
    reading: Reading,
    output: OutputOption,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="Privacy budget of this fit. Required; smaller is stricter."),
    ] = None,
    delta: DeltaOption = DEFAULT_DELTA,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds",
            metavar="LO,HI|TOML",
            help="Public bounds: one pair for all columns, or a file made with `dpmorse bounds`, which may "
            "also describe categories, dates and missing values.",
        ),
    ] = None,
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Spend a part of the budget on finding bounds.")
    ] = False,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    clusters: ClustersOption = "auto",
    components: ComponentsOption = None,
    base: BaseOption = None,
    neighboring: NeighboringOption = "add-remove",
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit", metavar="COLUMN", help="Whose record a row is: protects all rows of one person."
        ),
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option("--max-rows", metavar="M", min=1, help="With --unit: rows of a person that are used."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="refuse|drop",
            help="What to do with rows that have missing values; a bounds file may say it per column.",
        ),
    ] = "refuse",
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="FILE", help="A total over many fits, kept in this file."),
    ] = None,
    budget_epsilon: Annotated[
        float | None,
        typer.Option(
            "--budget-epsilon",
            metavar="E",
            help="Begins the file of --budget with this total, on its first use.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="For tests: reproducible, and therefore NOT SECURE.")
    ] = None,
    rehearsals: Annotated[
        int,
        typer.Option(
            "--rehearsals",
            metavar="B",
            min=0,
            max=MOST_REHEARSALS,
            help="Fits of synthetic records that say which clusters would be found again; 0 for none. They "
            "cost time, and no budget.",
        ),
    ] = 5,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 5 if clusters that were asked for may be noise.")
    ] = False,
    sql: SqlOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Cluster a table under differential privacy and write the model.

    The model holds released values and public parameters only and may be published. Everything is checked
    before any budget is spent. Values outside the bounds are clipped.
    """
    if epsilon is None:
        raise typer.BadParameter(NO_EPSILON)
    check_output(output, force=force, inputs=inputs(file, database, budget))
    _check_options(bounds, unit, max_rows, missing, neighboring, private_bounds=private_bounds)
    given = Bounds() if bounds is None else read_bounds(bounds)
    _check_missing(given, missing)
    tables = open_data(file, sql, database, reading.or_else(given.reading))
    source = _source(tables, given, columns or [], exclude or [], unit=unit, missing=missing)
    if not quiet:
        tell_reading(tables[0])
    if not (quiet or columns or given.names):
        tell_left_out(tables[0], [*source.names, unit, *split_names(exclude or [], tables[0].names)])
    request = FitRequest(
        epsilon=epsilon,
        delta=delta,
        bounds="private" if private_bounds else given.of(source.names),
        columns=given.schema_of(source.names),
        clusters=parse_clusters(clusters),
        components=components,
        base=base,
        neighboring=neighboring,
        max_rows=max_rows,
        seed=seed,
        rehearsals=rehearsals,
    )
    ledger = _checked_ledger(request, source, budget, budget_epsilon, strict=strict)
    if seed is not None:
        warn(_SEED)
    with progress_bar(shown=not quiet) as bar:
        model = _fitted(source, request, ledger, bar)
    _save(model, output)
    noise = what_is_noise(model, request.clusters) if strict else None
    log_fit(model, output, ledger)
    with progress_bar(shown=not quiet) as bar:
        _rehearse(model, output, bar)
    rules = {name: column.missing for name, column in (request.columns or {}).items()}
    _tell(model, output, rules or missing, ledger, noise, json=json, quiet=quiet)
    if noise is not None:
        fail(
            f"{noise}, which --strict forbids. The budget is spent, and the model is in {output!r}: `dpmorse "
            "cut` makes fewer clusters of it at no cost; another fit needs more records or more --epsilon.",
            NOISE,
        )


def _check_missing(given: Bounds, missing: str) -> None:
    """Refuse to drop rows where the bounds file says column by column what happens."""
    if given.described is not None and missing == "drop":
        raise InvalidParameterError(
            "--missing drop does not go with a bounds file that says what the columns are: missing is stated "
            'per column there, such as age = { lower = 0, upper = 120, missing = "ignore" }. Leave --missing '
            "out."
        )


def _tell(
    model: Model,
    output: str,
    missing: Rules,
    ledger: FileLedger | None,
    noise: str | None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    if json:
        known = model_to_dict(model, output)
        budget = None if ledger is None else {"file": ledger.path, **budget_to_dict(ledger)}
        told = [*warnings_told(), *known["warnings"]]
        say_json({**known, "missing": missing, "budget": budget, "warnings": told})
    if json or quiet:
        tell_cautions(model)
        return
    say_clusters(model)
    say(f"\n{model.privacy_.statement}")
    if missing == "drop":
        say("Rows with missing values were left out, row by row.")  # not how many: that is not private
    if ledger is not None:
        say(f"{os.path.basename(ledger.path)!r}: {budget_in_words(budget_to_dict(ledger))}")
    say(f"\nThe model is in {output!r}; {noise or 'it may be published'}.")


def _check_options(
    bounds: str | None,
    unit: str | None,
    max_rows: int | None,
    missing: str,
    neighboring: str,
    *,
    private_bounds: bool,
) -> None:
    if (bounds is None) != private_bounds:
        raise typer.BadParameter(
            "give either --bounds (public knowledge; `dpmorse bounds FILE` writes a template) or "
            "--private-bounds (found with a part of the budget)."
        )
    if (unit is None) != (max_rows is None):
        raise typer.BadParameter(
            "--unit and --max-rows go together: whose row it is, and how many of each are used."
        )
    if missing not in _MISSING:
        raise typer.BadParameter(
            f"--missing must be {' or '.join(_MISSING)}, got {missing!r}.{did_you_mean(missing, _MISSING)}"
        )
    if missing == "drop" and neighboring == "replace-one":
        raise InvalidParameterError(
            "--missing drop does not go with --neighboring replace-one: the number of rows that are left "
            "would tell who has missing values. Use add-remove, or fill them in, each row by itself."
        )


def _source(
    tables: Sequence[Any],
    given: Bounds,
    columns: Sequence[str],
    exclude: Sequence[str],
    *,
    unit: str | None,
    missing: str,
) -> DataFiles:
    """Choose the columns: those that are named, those with bounds of their own, or all that may be data."""
    table, *_ = tables
    besides = [] if unit is None else [unit]
    check_columns(table, given.names, "does not have these columns of the bounds file:")
    excluded = split_names(exclude, table.names)
    wanted = columns or [name for name in given.names if name not in (*besides, *excluded)]
    chosen = choose_columns(table, wanted, besides, exclude, described=given.described is not None)
    described = given.schema_of(chosen) or {}
    refuse_text(table, [name for name, column in described.items() if column.stored_as == "number"])
    return DataFiles(tables, columns=chosen, unit=unit, missing=missing)


def _checked_ledger(
    request: FitRequest, source: DataFiles, path: str | None, total: float | None, *, strict: bool
) -> FileLedger | None:
    """Check all parameters, and that the budget file can pay; data is read only after that."""
    base, plan = request.plan(len(source.names), source.names)
    if strict:
        check_strict(base)
    tell_needed(base, len(source.names), request.clusters)
    budget = replace(plan.settings.budget, unit=source.unit)
    if path is None:
        return None
    ledger = open_budget(path, total, budget)
    ledger.check(plan.events, budget)
    return ledger


def _fitted(source: DataFiles, request: FitRequest, ledger: FileLedger | None, bar: Bar) -> MorseEstimator:
    estimator = request.estimator(len(source.names), ledger)
    with bar.passes():
        return estimator._fit(source)  # what must be said about the numbers stands below the table


def _save(model: Model, output: str) -> None:
    try:
        model.save(output)
    except OSError as error:
        raise InvalidParameterError(
            f"the budget is spent, but the model could not be written to {output!r}: {error.strerror}. "
            "What was there before is untouched."
        ) from None


def _rehearse(model: MorseEstimator, output: str, bar: Bar) -> None:
    """Add rehearsals to a model that is written already: whatever happens here, that file stays."""
    try:
        is_known = rehearse(model, bar)
    except KeyboardInterrupt:
        note(_INTERRUPTED.format(output))
        raise
    if not is_known:
        return
    try:
        model.save(output)
    except OSError as error:
        warn(f"The model is in {output!r}, but its rehearsals could not be added: {error.strerror}.")
