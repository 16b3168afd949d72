"""Ways to write that are wrong, so that tests can see that a kill finds them out."""

from pathlib import Path
from typing import Any

from dpmorse import _atomic
from dpmorse.privacy import ledger_file, ledger_lines


def nothing() -> None:
    """Leave everything as it is."""


def plain_write() -> None:
    """Write files in place, as ``open(path, "wb")`` does."""

    def write(path: Any, data: bytes, *, overwrite: bool = True) -> None:  # noqa: ARG001 - as the real one
        from audits.kills.server import Pieces

        with Pieces(path, "w") as file:
            file.write(data)

    _atomic.write_bytes = write


def write_behind() -> None:
    """Write a cost to the budget file when the fit has ended, not before it begins."""
    append = ledger_file._append  # noqa: SLF001 - sabotage
    waiting: list[tuple[Any, ...]] = []

    def late(file: Any, account: Any, kind: str, identity: str, events: Any) -> None:
        if kind == "reserved":
            waiting.append((kind, identity, events))
            return
        append(file, account, *waiting.pop())
        append(file, ledger_lines.read_account(Path(file.name).read_bytes(), "b"), kind, identity, events)

    ledger_file._append = late  # noqa: SLF001
