"""Output of the command line: what it prints, where, and with which exit code.

Results go to stdout, everything else to stderr. All text passes through ``printable``, so that the
name of a column or a file cannot send control sequences to a terminal.
"""

import functools
import json
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, ParamSpec

import typer

from dpmorse.exceptions import BudgetExceededError, DPMorseError

MISTAKE = 1
"""Exit code for a mistake in the input. Typer uses 2 for a mistake in the command."""

REFUSED = 3
"""Exit code where a fit would exceed the budget."""

FAULT = 4
"""Exit code for an internal error, and for a claim that an audit refutes."""

DEBUG: ContextVar[bool] = ContextVar("DEBUG", default=False)
"""Whether tracebacks are shown, which may quote records."""

_TOLD: ContextVar[list[str] | None] = ContextVar("_TOLD", default=None)
"""The warnings of the running command, for its JSON output."""

_FAULT = (
    "Something in dpmorse went wrong ({error}). No file was left half-written. `dpmorse --debug ...` shows "
    "where; what it shows may quote your data."
)

_Parameters = ParamSpec("_Parameters")


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
    typer.echo(_in_lines(text).encode(encoding, "backslashreplace").decode(encoding))


def say_json(content: Mapping[str, Any]) -> None:
    """Print a result as one JSON object, in ASCII."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Print a remark that is not a result to stderr."""
    _to_stderr(text, "dim")


def warn(text: str) -> None:
    """Print a warning to stderr, in colour if the terminal has colours."""
    told = _TOLD.get()
    if told is not None:
        told.append(printable(text))
    _to_stderr(f"Warning: {text}", "bold yellow")


def warnings_told() -> list[str]:
    """Return the warnings of this command so far."""
    return list(_TOLD.get() or [])


def reports_mistakes(command: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Make a command report errors as one sentence and an exit code, without a traceback."""

    @functools.wraps(command)
    def guarded(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        _TOLD.set([])
        with warnings.catch_warnings(), _mistakes_told():
            warnings.simplefilter("ignore")  # those of other libraries, which are not for users
            warnings.filterwarnings("always", module=r"dpmorse\.")
            warnings.showwarning = lambda message, *_: warn(str(message))
            command(*args, **kwargs)

    return guarded


@contextmanager
def _mistakes_told() -> Iterator[None]:
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise  # typer answers these itself
    except BudgetExceededError as error:
        _fail(str(error), REFUSED)
    except DPMorseError as error:
        _fail(str(error), MISTAKE)
    except OSError as error:
        what = error.strerror or type(error).__name__
        _fail(f"{error.filename}: {what}." if isinstance(error.filename, str) else f"{what}.", MISTAKE)
    except MemoryError:
        _fail("There is not enough memory for this. Choose fewer columns with --columns.", MISTAKE)
    except Exception as error:
        if getattr(error, "name", None) == "pyarrow":
            raise  # it is not installed: the program says how to get it
        _fail(_FAULT.format(error=type(error).__name__), FAULT)  # what the error says may quote a record


def _fail(message: str, code: int) -> NoReturn:
    if DEBUG.get():
        _to_stderr(traceback.format_exc(), "dim")
    _to_stderr(f"Error: {message}", "bold red")
    raise typer.Exit(code) from None


def _to_stderr(text: str, style: str) -> None:
    from rich.console import Console  # noqa: PLC0415 - most commands have nothing to say here
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
    console.print(Text(_in_lines(text), style=style))
    sys.stderr.flush()


def _in_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
