"""The options that say how a file is written, the same for every command that reads one."""

import functools
import inspect
import shlex
from collections.abc import Callable
from typing import Annotated, Any

import typer

from dpmorse.records import MARK_NAMES, Reading

_OPTIONS: dict[str, Any] = {
    "sheet": Annotated[
        str | None,
        typer.Option("--sheet", metavar="NAME", help="Of a workbook, where several sheets hold something."),
    ],
    "skip": Annotated[
        int | None,
        typer.Option(
            "--skip", metavar="N", min=0, help="Lines above the names of the columns, such as titles."
        ),
    ],
    "skip_below": Annotated[
        int | None,
        typer.Option(
            "--skip-below", metavar="N", min=0, help="Lines between names and records, such as units."
        ),
    ],
    "separator": Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHAR",
            help="Between the values of CSV, for instance ';' or 'tab'. Default: found in the first line.",
        ),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option("--decimal", metavar="CHAR", help="The sign before decimals in CSV: . (default) or ,"),
    ],
    "thousands": Annotated[
        str | None,
        typer.Option(
            "--thousands", metavar="CHAR", help="The mark between thousands in CSV, such as , in 1,234."
        ),
    ],
    "remove": Annotated[
        list[str] | None,
        typer.Option(
            "--remove", metavar="TEXT", help="Text beside numbers in CSV, such as kg or %; may be repeated."
        ),
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Of CSV, such as cp1252. Default: UTF-8, or what its first bytes say.",
        ),
    ],
    "na": Annotated[
        list[str] | None,
        typer.Option(
            "--na", metavar="CODE", help="A code for missing values, such as -999; may be repeated."
        ),
    ],
    "dates": Annotated[
        str | None,
        typer.Option(
            "--dates",
            metavar="ORDER",
            help="Dates in text such as 31.05.2024: day-first; 05/31/2024: month-first.",
        ),
    ],
}


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; it gets what they say as its parameter ``reading``."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.name != "reading"]
    kind = inspect.Parameter.KEYWORD_ONLY
    ours = [inspect.Parameter(name, kind, default=None, annotation=of) for name, of in _OPTIONS.items()]

    @functools.wraps(command)
    def with_reading(*args: Any, **kwargs: Any) -> None:
        told = {name: kwargs.pop(name, None) for name in _OPTIONS}
        command(*args, reading=Reading.of(**told), **kwargs)

    with_reading.__signature__ = signature.replace(parameters=[*own, *ours])  # type: ignore[attr-defined]
    with_reading.__annotations__ = {one.name: one.annotation for one in (*own, *ours)}
    return with_reading


def in_options(reading: Reading) -> str:
    """Return the options that say how a file is written, to be pasted into a command."""
    told = {name: value for name, value in reading.told.items() if name in _OPTIONS}
    every = {name: value if isinstance(value, tuple) else (value,) for name, value in told.items()}
    every |= {
        name: (MARK_NAMES.get(told[name], told[name]),) for name in ("separator", "thousands") if name in told
    }
    return " ".join(
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, values in every.items()
        for value in values
    )
