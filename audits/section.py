"""The sections of docs/audit.md, and how to add one.

A section is a module of ``audits.sections`` with two things in it::

    NAME, TITLE = "kills", "Kills survived"

    def run(effort: Effort) -> Findings:
        n = effort.pick(quick=5, full=500)
        ...
        effort.say(f"{i} of {n} kills")
        return Findings(
            "One paragraph: what was attacked, how, and what would have been a failure.",
            Table(("kills", "unreadable files"), [(n, n_unreadable)]),
            passed=n_unreadable == 0,
        )

and its name in ``SECTIONS`` of ``__main__.py``. Rules: every figure comes from the run that is being
reported; the run fails (``passed=False``) when a claim of the library does; a full run takes minutes, a quick
one seconds; what is attacked and how is in ``audits.attacks`` (or ``kills``, ``fuzzing``, ``mutants``), where
tests use it too; cells of tables are text or numbers, floats are shown with three digits.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

Cell = str | int | float


@dataclass(frozen=True)
class Table:
    """Rows under a header, as Markdown."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __str__(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(_shown(cell) for cell in line) + " |" for line in lines)


@dataclass(frozen=True)
class Findings:
    """The result of a section.

    Parameters
    ----------
    text : str
        Markdown before the tables: what was attacked, and how.
    tables : Table
        Figures of this run.
    passed : bool
        Whether every claim held.
    """

    text: str
    tables: tuple[Table, ...]
    passed: bool

    def __init__(self, text: str, *tables: Table, passed: bool) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "passed", passed)

    def __str__(self) -> str:
        return "\n\n".join([self.text, *map(str, self.tables)])


@dataclass(frozen=True)
class Effort:
    """The size of a run, and its progress."""

    quick: bool = False
    started: float = field(default_factory=time.monotonic)

    def pick(self, *, quick: int, full: int) -> int:
        """Return the number of runs to make."""
        return quick if self.quick else full

    def say(self, text: str) -> None:
        """Report progress on stderr, with the minutes since the section began."""
        minutes = (time.monotonic() - self.started) / 60
        sys.stderr.write(f"  {minutes:5.1f} min  {text}\n")
        sys.stderr.flush()


class Section(Protocol):
    """A module of ``audits.sections``."""

    NAME: str
    TITLE: str

    def run(self, effort: Effort) -> Findings:
        """Make the section's runs."""
        ...


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 1e-2 or abs(cell) >= 1e4 else f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")
