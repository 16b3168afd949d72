"""Output of the command line: what it prints, where, and with which exit code.

Results go to stdout, everything else to stderr. All text passes through ``printable``, so that the
name of a column or a file cannot send control sequences to a terminal.
"""

import functools
import inspect
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Annotated, Any, NoReturn

import typer

from dpmorse.cli.job_log import begin_log, end_log, log_event
from dpmorse.exceptions import BudgetExceededError, DPMorseError

MISTAKE = 1
"""Exit code for a mistake in the input. Typer uses 2 for a mistake in the command."""

REFUSED = 3
"""Exit code where a fit would exceed the budget."""

FAULT = 4
"""Exit code for an internal error, and for a claim that an audit refutes."""

NOISE = 5
"""Exit code of --strict where clusters that were asked for may be noise."""

DEBUG: ContextVar[bool] = ContextVar("DEBUG", default=False)
"""Whether tracebacks are shown, which may quote records."""

_TOLD: ContextVar[list[str] | None] = ContextVar("_TOLD", default=None)
"""The warnings of the running command, for its JSON output."""

_FAULT = (
    "Something in dpmorse went wrong ({error}). No file was left half-written. `dpmorse --debug ...` shows "
    "where; what it shows may quote your data."
)

_LOG_OPTION = Annotated[
    str | None,
    typer.Option("--log", metavar="FILE", help="Add lines of JSON to this file: what was done, and when."),
]


def printable(text: str) -> str:
    """Return a text with every character that is not printable written as an escape."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def shortened(text: str, longest: int) -> str:
    """Return a text with escapes, which is cut where it is too long for a table."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def say(text: str) -> None:
    """Print a result."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _print(_in_lines(text).encode(encoding, "backslashreplace").decode(encoding) + "\n", sys.stdout)


def say_json(content: Mapping[str, Any]) -> None:
    """Print a result as one JSON object, in ASCII."""
    _print(json.dumps(content, indent=2, allow_nan=False) + "\n", sys.stdout)


def say_bytes(content: bytes) -> None:
    """Print a result as it is."""
    _print(content, sys.stdout)


def note(text: str) -> None:
    """Print a remark that is not a result to stderr."""
    _to_stderr(text, dim=True)


def warn(text: str) -> None:
    """Print a warning to stderr, in colour if the terminal has colours."""
    told = _TOLD.get()
    if told is not None:
        told.append(printable(text))
    log_event("warning", text=printable(text))
    _to_stderr(f"Warning: {text}", fg="yellow", bold=True)


def warnings_told() -> list[str]:
    """Return the warnings of this command so far."""
    return list(_TOLD.get() or [])


def reports_mistakes(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--log``, and errors that are one sentence and an exit code, without a traceback."""
    signature = inspect.signature(command, eval_str=True)
    log = inspect.Parameter("log", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_LOG_OPTION)
    parameters = [*signature.parameters.values(), log]

    @functools.wraps(command)
    def guarded(*args: Any, log: str | None = None, **kwargs: Any) -> None:
        _TOLD.set([])
        with warnings.catch_warnings(), _logged(), _mistakes_told():
            warnings.simplefilter("ignore")  # those of other libraries, which are not for users
            warnings.filterwarnings("always", module=r"dpmorse\.")
            warnings.showwarning = lambda message, *_: warn(str(message))
            begin_log(log, command.__name__, kwargs.get("output"))
            command(*args, **kwargs)

    guarded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    guarded.__annotations__ = {one.name: one.annotation for one in parameters}
    return guarded


@contextmanager
def _logged() -> Iterator[None]:
    """Write the end of a command into its log, with its exit code."""
    code = None  # where something else than the command ends it
    try:
        yield
        code = 0
    except typer.Exit as end:
        code = end.exit_code
        raise
    except typer.BadParameter as error:
        code = error.exit_code
        log_event("error", text=printable(error.message))
        raise
    finally:
        log_event("finished", exit_code=code)
        end_log()


@contextmanager
def _mistakes_told() -> Iterator[None]:
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise  # typer answers these itself
    except BudgetExceededError as error:
        fail(str(error), REFUSED)
    except DPMorseError as error:
        fail(str(error), MISTAKE)
    except OSError as error:
        what = error.strerror or type(error).__name__
        fail(f"{error.filename}: {what}." if isinstance(error.filename, str) else f"{what}.", MISTAKE)
    except MemoryError:
        fail("There is not enough memory for this. Choose fewer columns with --columns.", MISTAKE)
    except Exception as error:
        if getattr(error, "name", None) == "pyarrow":
            raise  # it is not installed: the program says how to get it
        fail(_FAULT.format(error=type(error).__name__), FAULT)  # what the error says may quote a record


def fail(message: str, code: int) -> NoReturn:
    """End the command with an error and this exit code."""
    if DEBUG.get() and sys.exc_info()[0] is not None:
        _to_stderr(traceback.format_exc(), dim=True)
    log_event("error", text=printable(message))
    _to_stderr(f"Error: {message}", fg="red", bold=True)
    raise typer.Exit(code) from None


def _to_stderr(text: str, **style: Any) -> None:
    lines = _in_lines(text)
    plain = os.environ.get("NO_COLOR") or not sys.stderr.isatty()
    _print((lines if plain else typer.style(lines, **style)) + "\n", sys.stderr)


def _print(text: str | bytes, stream: IO[str]) -> None:
    """Print to a stream. Who closes a pipe early, as ``head`` does, has read enough: the command goes on."""
    try:
        typer.echo(text, file=stream, nl=False)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _in_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
