"""The commands, each with a line for the list of commands and its examples.

The file of a command, and the libraries that it needs, are loaded when the command is called: who asks
for help or for the version waits for typer only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from dpmorse.cli.options import examples


@dataclass(frozen=True)
class Command:
    """A command that is not loaded yet: where it is, its line in the list, its examples."""

    module: str
    summary: str
    examples: tuple[str, ...]


COMMANDS = {
    "plan": Command(
        "plan",
        "Say what noise a budget buys, without data.",
        (
            "dpmorse plan --columns 8 --rows 50000",
            "dpmorse plan --columns 8 --rows 50000 --epsilon 0.5 --clusters 4",
            "dpmorse plan --columns 2 --rows 1000 --base DPLloyd --json",
        ),
    ),
    "inspect": Command(
        "inspect",
        "Say what a file is like, and write a schema file to be checked and filled in.",
        ("dpmorse inspect export.csv", "dpmorse inspect export.csv -o schema.toml --separator ';'"),
    ),
    "bounds": Command(
        "bounds",
        "Write a template for the bounds of the columns, to be filled in by hand.",
        ("dpmorse bounds patients.csv -o bounds.toml", "dpmorse bounds patients.parquet"),
    ),
    "fit": Command(
        "fit",
        "Cluster a table under differential privacy and write the model.",
        (
            "dpmorse fit patients.csv --epsilon 1 --bounds bounds.toml -o model.json",
            "dpmorse fit patients.parquet --epsilon 1 --columns age,pressure --bounds 0,300 -o model.json",
            "dpmorse fit visits.csv.gz --epsilon 1 --bounds 0,300 --unit patient --max-rows 5 -o model.json",
            "dpmorse fit visits.csv --epsilon 0.5 --bounds 0,300 -o a.json --budget team --budget-epsilon 2",
            "dpmorse fit --sql 'select age from t' --database t.duckdb --epsilon 1 --bounds 0,110 -o m.json",
        ),
    ),
    "predict": Command(
        "predict",
        "Write the cluster of each record, in the order of the file or files, to .csv or .parquet.",
        (
            "dpmorse predict patients.csv --model model.json -o labels.csv",
            "dpmorse predict export.csv --bounds schema.toml --model model.json -o labels.csv",
            "dpmorse predict visits --model model.json -o labels.parquet --keep id",
        ),
    ),
    "cut": Command(
        "released",
        "Write the same model with another number of clusters.",
        ("dpmorse cut model.json --clusters 3 -o three.json",),
    ),
    "sample": Command(
        "released",
        "Draw synthetic records, with the cluster of each, from a model.",
        ("dpmorse sample model.json --rows 1000 -o synthetic.csv",),
    ),
    "report": Command(
        "released",
        "Write a page about a model: one HTML file that needs no network.",
        ("dpmorse report model.json -o report.html",),
    ),
    "show": Command(
        "released",
        "Show the clusters of a model in sentences and as a table; or what a budget file says.",
        (
            "dpmorse show model.json",
            "dpmorse show model.json --json",
            "dpmorse show --budget team.budget",
        ),
    ),
    "registry": Command(
        "registry",
        "Write an entry for the registry of deployments, with what the model knows. Costs no budget.",
        ("dpmorse registry model.json -o entry.yaml", "dpmorse registry model.json"),
    ),
    "audit": Command(
        "audit",
        "Attack a fit of invented records; say how much of the claim the attacks certify.",
        (
            "dpmorse audit --epsilon 1",
            "dpmorse audit --epsilon 4 --base DPMoGHard --runs 100000 -o audit.json --plot audit.png",
        ),
    ),
    "demo": Command(
        "demo",
        "Cluster invented patients and write everything that can be made of the model.",
        ("dpmorse demo", "dpmorse demo -o demo --epsilon 0.5"),
    ),
}


def list_commands(app: typer.Typer) -> None:
    """Show typer the names and lines of the commands, for lists and for suggestions."""
    for name, command in COMMANDS.items():
        app.command(name, short_help=command.summary)(lambda: None)


def loaded(name: str) -> Any:
    """Load the file of a command; return what typer makes of it."""
    command = COMMANDS[name]
    function: Callable[..., None] = getattr(import_module(f"dpmorse.cli.{command.module}"), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, epilog=examples(*command.examples))(function)
    return get_command(alone)
