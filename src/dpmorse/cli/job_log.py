"""The log of ``--log``: what a command did and when, as one JSON object a line, for jobs that nobody watches.

It says what the command says, with times: nothing is read off the records but what was released. How long a
fit took may tell how many records there are, so that a log stays with whoever holds them.
"""

import json
import os
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import dpmorse
from dpmorse.exceptions import InvalidParameterError

_LOG: ContextVar[str | None] = ContextVar("_LOG", default=None)
"""The file of the running command; None if it keeps no log."""


def begin_log(path: str | None, command: str, output: str | None) -> None:
    """Begin the log of a command, or add to one; ``output`` is the file that the command writes."""
    _LOG.set(None)
    if path is None:
        return
    if output is not None and os.path.abspath(path) == os.path.abspath(output):
        raise InvalidParameterError(f"--log must not be the file of -o, got {path!r} for both.")
    _check(path)
    _write(path, "started", command=command, dpmorse=dpmorse.__version__)
    _LOG.set(path)


def log_event(event: str, **facts: Any) -> None:
    """Add a line, if the command keeps a log."""
    path = _LOG.get()
    if path is not None:
        with suppress(OSError):  # a disk that is full now must not cost a fit that is paid for
            _write(path, event, **facts)


def _write(path: str, event: str, **facts: Any) -> None:
    """Write a line at once, so that those of jobs that run at the same time do not mix."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": now, "event": event, **facts}, allow_nan=False)
    with open(path, "ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


def end_log() -> None:
    """Keep no log of what comes next in this process."""
    _LOG.set(None)


def _check(path: str) -> None:
    """Refuse a file that is no log, before anything is done: lines are added to what is there."""
    if not os.path.exists(path):
        return
    if os.path.isdir(path):
        raise InvalidParameterError(f"--log must name a file, got the folder {path!r}.")
    with open(path, "rb") as file:
        first = file.readline(1 << 16)
    try:
        is_log = not first or "event" in json.loads(first)
    except (ValueError, TypeError):
        is_log = False
    if not is_log:
        raise InvalidParameterError(
            f"--log must name a new file, or a log that lines are added to; {path!r} is neither."
        )
