"""The application ``dpmorse``: its commands and their common options."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dpmorse
from dpmorse.cli.audit import audit
from dpmorse.cli.bounds import bounds
from dpmorse.cli.demo import demo
from dpmorse.cli.fit import fit
from dpmorse.cli.inspect import inspect
from dpmorse.cli.messages import DEBUG, printable
from dpmorse.cli.options import examples
from dpmorse.cli.plan import plan
from dpmorse.cli.predict import predict
from dpmorse.cli.released import cut, report, sample, show

_ABOUT = """Differentially private clustering.

A fit spends a privacy budget once and writes a model that may be published. Everything else works on that
model alone and is free: other numbers of clusters, synthetic records, reports."""

_EXIT_CODES = """

\b
Exit codes: 0 done; 1 a mistake in the input; 2 a mistake in the command; 3 the budget refuses; 4 a fault."""


class _Commands(TyperGroup):
    """Commands whose errors about arguments contain no control characters.

    Arguments are often names of files that a shell has expanded, and that somebody else may have chosen.
    """

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the arguments before the command."""
        with _complaints_printable():
            return super().make_context(*args, **options)

    def invoke(self, *args: Any, **options: Any) -> Any:
        """Read the arguments of the command and run it."""
        with _complaints_printable():
            return super().invoke(*args, **options)


@contextmanager
def _complaints_printable() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            error.message = printable(error.message)  # type: ignore[attr-defined]  # those of typer's errors
        raise


app = typer.Typer(
    cls=_Commands,
    help=_ABOUT,
    epilog=examples(
        "dpmorse demo -o demo                              # invented patients, to look around",
        "dpmorse plan --columns 2 --rows 20000             # what noise does a budget buy?",
        "dpmorse inspect demo/patients.csv                 # what is this file like?",
        "dpmorse bounds demo/patients.csv -o bounds.toml   # public bounds, to be filled in",
        "dpmorse fit demo/patients.csv --bounds bounds.toml --epsilon 1 -o model.json",
        "dpmorse report model.json -o report.html",
    )
    + _EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # they show local variables, which may be records
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"dpmorse {dpmorse.__version__}")
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Take the options that come before a command; typer shows the text above instead."""
    DEBUG.set(debug)


app.command(
    epilog=examples(
        "dpmorse plan --columns 8 --rows 50000",
        "dpmorse plan --columns 8 --rows 50000 --epsilon 0.5 --clusters 4",
        "dpmorse plan --columns 2 --rows 1000 --base DPLloyd --json",
    )
)(plan)
app.command(
    epilog=examples("dpmorse inspect export.csv", "dpmorse inspect export.csv -o schema.toml --separator ';'")
)(inspect)
app.command(epilog=examples("dpmorse bounds patients.csv -o bounds.toml", "dpmorse bounds patients.parquet"))(
    bounds
)
app.command(
    epilog=examples(
        "dpmorse fit patients.csv --epsilon 1 --bounds bounds.toml -o model.json",
        "dpmorse fit patients.parquet --epsilon 1 --columns age,pressure --bounds 0,300 -o model.json",
        "dpmorse fit visits.csv.gz --epsilon 1 --bounds 0,300 --unit patient --max-rows 5 -o model.json",
        "dpmorse fit patients.csv --epsilon 0.5 --bounds 0,300 -o a.json --budget team --budget-epsilon 2",
    )
)(fit)
app.command(
    epilog=examples(
        "dpmorse predict patients.csv --model model.json -o labels.csv",
        "dpmorse predict patients.csv --model model.json -o labels.parquet --keep id",
    )
)(predict)
app.command(epilog=examples("dpmorse cut model.json --clusters 3 -o three.json"))(cut)
app.command(epilog=examples("dpmorse sample model.json --rows 1000 -o synthetic.csv"))(sample)
app.command(epilog=examples("dpmorse report model.json -o report.html"))(report)
app.command(
    epilog=examples(
        "dpmorse show model.json",
        "dpmorse show model.json --json",
        "dpmorse show --budget team.budget",
    )
)(show)
app.command(
    epilog=examples(
        "dpmorse audit --epsilon 1",
        "dpmorse audit --epsilon 4 --base DPMoGHard --runs 100000 -o audit.json --plot audit.png",
    )
)(audit)
app.command(epilog=examples("dpmorse demo", "dpmorse demo -o demo --epsilon 0.5"))(demo)
