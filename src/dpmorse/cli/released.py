"""Commands that work on a model alone: ``cut``, ``sample``, ``report`` and ``show``. They spend no budget."""

import os
import shlex
from typing import Annotated

import typer

from dpmorse.cli.budget_file import budget_in_words, budget_to_dict
from dpmorse.cli.clusters import model_to_dict, say_clusters, tell_cautions
from dpmorse.cli.messages import note, reports_mistakes, say, say_json, warn
from dpmorse.cli.models import label_name, load_model, load_tree, rehearse, sampled_columns
from dpmorse.cli.options import (
    ForceOption,
    JsonOption,
    ModelArgument,
    ModelOption,
    OutputOption,
    QuietOption,
    the_model,
)
from dpmorse.cli.outputs import check_ending, check_output, write_columns
from dpmorse.cli.printed_clusters import wrapped
from dpmorse.cli.progress import progress_bar
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import FileLedger


@reports_mistakes
def cut(
    model_file: ModelArgument = None,
    *,
    model: ModelOption = None,
    clusters: Annotated[int, typer.Option("--clusters", metavar="K", min=1, help="Number of clusters.")],
    output: OutputOption,
    json: JsonOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the same model with another number of clusters. Touches no data and costs no budget."""
    path = the_model(model_file, model)
    check_output(output, force=force)
    other = load_tree(path).cut(clusters)
    with progress_bar(shown=not quiet) as bar:
        rehearse(other, bar)
    other.save(output)
    if json:
        say_json(model_to_dict(other, output))
    if json or quiet:
        tell_cautions(other)
    else:
        say_clusters(other)


@reports_mistakes
def sample(
    model_file: ModelArgument = None,
    *,
    model: ModelOption = None,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="How many records to draw.")],
    output: OutputOption,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same records each time; harmless here.")
    ] = None,
    missing: Annotated[
        bool,
        typer.Option("--missing", help="Leave values of a table out as often as they were missing."),
    ] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw synthetic records, with the cluster of each, from a model. Costs no budget."""
    path = the_model(model_file, model)
    check_ending(output)
    check_output(output, force=force, inputs=(path,))
    released = load_model(path)
    columns, labels = sampled_columns(released, rows, seed, missing=missing)
    write_columns(output, {**columns, label_name(list(columns), released): labels.tolist()})
    if not released.privacy_.secure:
        warn("the model was made with a seed and is NOT SECURE; neither are records drawn from it.")
    if not quiet:
        note(f"Synthetic records are in {output!r}; they may be published like the model.")


@reports_mistakes
def report(
    model_file: ModelArgument = None,
    *,
    model: ModelOption = None,
    output: OutputOption,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="Name of the data, which the page then states."),
    ] = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a page about a model: one HTML file that needs no network."""
    from dpmorse.report import write_report  # noqa: PLC0415 - a page is not needed for anything else

    path = the_model(model_file, model)
    check_output(output, force=force, inputs=(path,))
    released = load_model(path)
    with progress_bar(shown=not quiet) as bar:
        rehearse(released, bar)
    write_report(released, output, force=force, title=title, dataset=dataset)
    if not quiet:
        note(f"The page is in {output!r}; it may be published like the model.")


@reports_mistakes
def show(
    model_file: ModelArgument = None,
    *,
    model: ModelOption = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="FILE", help="A budget file instead: what is spent.")
    ] = None,
    population: Annotated[
        bool,
        typer.Option("--population", help="Intervals about the population that the records are a sample of."),
    ] = False,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Also the privacy statement in full, and every release.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the clusters of a model in sentences and as a table; or what a budget file says."""
    if (model_file is None and model is None) == (budget is None):
        raise typer.BadParameter("give either a model or --budget.")
    if (population or ledger) and budget is not None:
        raise typer.BadParameter("--population and --ledger go with a model.")
    if budget is not None:
        _show_budget(budget, json=json)
        return
    path = the_model(model_file, model)
    released = load_model(path)
    with progress_bar(shown=True) as bar:
        rehearse(released, bar)
    if json:
        say_json(model_to_dict(released, path, population=population))
        tell_cautions(released)
        return
    say_clusters(released, population=population)
    if ledger:
        say(f"\n{wrapped(released.privacy_.statement)}\n\n{released.privacy_.table}")
    say(f"\n{_NEXT.format(shlex.quote(path))}")


_NEXT = "All of it as a page:\n  dpmorse report {} -o report.html"


def _show_budget(path: str, *, json: bool) -> None:
    if not os.path.exists(path):
        raise InvalidParameterError(f"there is no budget file {path!r}.")
    ledger = FileLedger(path)
    account, content = ledger.account(), budget_to_dict(ledger)
    n_fits, n_unfinished = len(account.fits), len(account.unfinished)
    if json:
        say_json({"budget": ledger.path, **content, "fits": n_fits, "unfinished": n_unfinished})
        return
    say(f"{budget_in_words(content)}\nIt was spent by {n_fits} fit{'' if n_fits == 1 else 's'}.")
    if n_unfinished:
        say(f"{n_unfinished} of them run or were interrupted; what they reserved counts as spent.")
