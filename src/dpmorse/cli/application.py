"""The application ``dpmorse``: its commands and their common options."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dpmorse
from dpmorse.cli.commands import list_commands, loaded
from dpmorse.cli.messages import DEBUG, printable
from dpmorse.cli.options import examples

_ABOUT = """Differentially private clustering.

A fit spends a privacy budget once and writes a model that may be published. Everything else works on that
model alone and is free: other numbers of clusters, synthetic records, reports."""

_EXIT_CODES = (
    "\n\n\b\nExit codes: 0 done; 1 a mistake in the input; 2 a mistake in the command; 3 budget exceeded; "
    "4 internal error; 5 noise where --strict forbids it."
)


class _Commands(TyperGroup):
    """Commands whose errors about arguments contain no control characters.

    Arguments are often names of files that a shell has expanded, and that somebody else may have chosen.
    """

    def make_context(self, info_name: Any, args: Any, *more: Any, **options: Any) -> Any:
        """Read the arguments before the command; without any, the answer is the help, in lines."""
        with _complaints_printable() if args else nullcontext():
            return super().make_context(info_name, args, *more, **options)

    def invoke(self, *args: Any, **options: Any) -> Any:
        """Read the arguments of the command and run it."""
        with _complaints_printable():
            return super().invoke(*args, **options)

    def resolve_command(self, *args: Any, **options: Any) -> Any:
        """Find the command that is called, and load it."""
        name, _, rest = super().resolve_command(*args, **options)
        return name, None if name is None else loaded(name), rest


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
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Before a command: show where an error is. It may quote your data."),
    ] = False,
) -> None:
    """Take the options that come before a command; typer shows the text above instead."""
    DEBUG.set(debug)


list_commands(app)
