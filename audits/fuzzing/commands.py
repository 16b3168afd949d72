"""The command line as a reader of hostile files and arguments.

One sentence and an exit code for every mistake: no traceback, no fault, nothing that a terminal obeys, and
nothing written where something went wrong.
"""

import gzip
import os
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from audits.fuzzing.corpus import COLUMNS, Corpus
from audits.fuzzing.damage import CODE, ESCAPES, mutate_bytes, mutate_text
from dpmorse.cli.application import app

TABLES = ("data.csv", "data.csv.gz", "data.parquet", "data.feather", "data.arrow")
_FAST = ["--epsilon", "9", "--base", "DPMoGHard", "--components", "2", "--columns", ",".join(COLUMNS)]
_DOCUMENTED = {0, 1, 2, 3}


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process, check its answer, and return its exit code and its output."""
    with warnings.catch_warnings():
        result = CliRunner().invoke(app, arguments, prog_name="dpmorse", color=True)  # as on a terminal
    said = result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in _DOCUMENTED, f"exit code {result.exit_code}: {said[-300:]}"
    assert "Traceback" not in said or "--debug" in arguments  # which asks for one
    assert len(said) < 20_000, "an output that a file can make arbitrarily long"
    odd = {character for character in said if not character.isprintable() and character != "\n"}
    assert not odd, f"a terminal would obey {odd}"
    return int(result.exit_code), said


@dataclass(frozen=True)
class FileCase:
    """A file that is given to a command."""

    content: bytes
    arguments: list[str]
    name: str


def _answer(code: int, output: Path) -> str:
    written = output.exists()
    output.unlink(missing_ok=True)
    assert not (code and written), "a command that failed has written a file"
    return "refused" if code else "accepted"


@dataclass(frozen=True)
class DataFiles:
    """``dpmorse bounds | predict | fit`` on a table that is damaged."""

    corpus: Corpus
    name: str = "data.csv"

    @cached_property
    def _data(self) -> bytes:
        return self.corpus.path(self.name).read_bytes()

    def make(self, rng: np.random.Generator) -> FileCase:
        """Damage the file, also inside its packing, and choose a command."""
        return FileCase(self._damaged(rng), self._command(rng), self.name)

    def _damaged(self, rng: np.random.Generator) -> bytes:
        if self.name.endswith(".gz") and rng.random() < 0.5:
            return gzip.compress(mutate_bytes(gzip.decompress(self._data), rng), mtime=0)
        if self.name.endswith(".csv") and rng.random() < 0.6:
            return mutate_text(self._data.decode(), rng).encode("utf-8", "surrogatepass")
        return mutate_bytes(self._data, rng)

    def _command(self, rng: np.random.Generator) -> list[str]:
        model = os.fspath(self.corpus.path("model-hard.json"))
        commands = [
            ["bounds", "FILE"],
            ["inspect", "FILE"],
            ["predict", "FILE", "--model", model, "-o", "OUT.csv"],
            ["predict", "FILE", "--model", model, "-o", "OUT.csv", "--keep", "who", "--missing", "blank"],
            ["fit", "FILE", *_FAST, "--bounds", "0,300", "-o", "OUT.csv", "--quiet"],
            ["fit", "FILE", *_FAST, "--bounds", "0,300", "-o", "OUT.csv", "--unit", "who", "--max-rows", "2"],
        ]
        return commands[rng.choice(len(commands), p=[0.2, 0.1, 0.3, 0.2, 0.1, 0.1])]

    def check(self, case: FileCase, path: Path) -> str:
        """Run the command on the file."""
        output = path.with_name("OUT.csv")
        names = {"FILE": os.fspath(path), "OUT.csv": os.fspath(output)}
        return _answer(run_command([names.get(part, part) for part in case.arguments])[0], output)


@dataclass(frozen=True)
class Tables:
    """Tables of all kinds, in turns."""

    corpus: Corpus

    def make(self, rng: np.random.Generator) -> FileCase:
        """Choose a kind of file, and damage one."""
        return DataFiles(self.corpus, TABLES[rng.integers(len(TABLES))]).make(rng)

    def check(self, case: FileCase, path: Path) -> str:
        """Run the command on the file."""
        return DataFiles(self.corpus, case.name).check(case, path)


@dataclass(frozen=True)
class BoundsFiles:
    """``dpmorse fit --bounds FILE``: bounds are read, checked against a table, and no more."""

    corpus: Corpus

    def make(self, rng: np.random.Generator) -> FileCase:
        """Edit the words of a bounds file, or damage its bytes."""
        text = self.corpus.path("bounds.toml").read_text()
        data = mutate_text(text, rng).encode() if rng.random() < 0.7 else mutate_bytes(text.encode(), rng)
        return FileCase(data, [], "bounds.toml")

    def check(self, case: FileCase, path: Path) -> str:
        """Plan a fit with these bounds; the table has no rows, so that none is made."""
        output = path.with_name("OUT.json")
        table = os.fspath(self.corpus.path("empty.csv"))
        arguments = ["fit", table, *_FAST, "--bounds", os.fspath(path), "-o", os.fspath(output)]
        code, said = run_command(arguments)
        assert code, "a fit of no rows"
        return "accepted" if "no rows" in said else _answer(code, output)


_FLAGS = [
    "--force",
    "--json",
    "--quiet",
    "--private-bounds",
    "--debug",
    "--version",
    "--help",
    "--",
    "-",
    "-x",
]
_OPTIONS = [
    "--epsilon", "--delta", "--bounds", "--columns", "--clusters", "--components", "--base",
    "--neighboring", "--unit", "--max-rows", "--missing", "--budget", "--budget-epsilon", "--seed",
    "--separator", "--decimal", "--encoding", "--na", "--dates", "--exclude",
    "--model", "--keep", "-o", "--rows", f"--{ESCAPES}",
]  # fmt: skip
_VALUES = [
    "", "0", "1", "-1", "2", "3.5", "nan", "inf", "-inf", "1e-300", "1e308", "1e400", "9" * 400, "0,1",
    "0,300", "1,0", "nan,1", "0,1,2", "auto", "age", "pressure", "who", "age,age", "drop", "refuse",
    "blank", "replace-one", "add-remove", "DPMoGHard", "DPTree", "tab", ";", "é", "\udcff", ESCAPES, CODE,
    "$(touch x)", "`touch x`", "; touch x", "%s%n", "{0}", "\x00", ".", "..", "none.csv", "EMPTY",
    "MODEL", "BUDGET", "BOUNDS", "OUT.csv", "OUT.json", "-", "--", "--force",
]  # fmt: skip
_COMMANDS = [
    "fit",
    "fit",
    "predict",
    "cut",
    "sample",
    "report",
    "show",
    "bounds",
    "inspect",
    "plan",
    "none",
    ESCAPES,
]


@dataclass(frozen=True)
class CommandLines:
    """Arguments that people, scripts and file names could produce."""

    corpus: Corpus

    def make(self, rng: np.random.Generator) -> FileCase:
        """Begin with a command that works, then add, drop and replace arguments."""
        arguments = list(_WORKING[rng.integers(len(_WORKING))])
        for _ in range(rng.integers(1, 5)):
            at = int(rng.integers(len(arguments) + 1))
            arguments[at : at + int(rng.integers(0, 3))] = _addition(rng)
        return FileCase(b"", arguments, "unused")

    def check(self, case: FileCase, path: Path) -> str:
        """Run the command in a folder of its own."""
        names = {name: os.fspath(self.corpus.path(file)) for name, file in _NAMED.items()}
        output = path.with_name("OUT.json")
        return _answer(run_command([names.get(part, part) for part in case.arguments])[0], output)


_NAMED = {
    "EMPTY": "empty.csv",
    "MODEL": "model-hard.json",
    "BUDGET": "team.budget",
    "BOUNDS": "bounds.toml",
}
_WORKING = [
    ["fit", "EMPTY", *_FAST, "--bounds", "BOUNDS", "-o", "OUT.json"],
    ["predict", "EMPTY", "--model", "MODEL", "-o", "OUT.csv", "--force"],
    ["cut", "--model", "MODEL", "--clusters", "2", "-o", "OUT.json"],
    ["sample", "--model", "MODEL", "--rows", "3", "-o", "OUT.csv", "--force"],
    ["report", "--model", "MODEL", "-o", "OUT.html", "--force"],
    ["show", "--model", "MODEL"],
    ["show", "--budget", "BUDGET"],
    ["bounds", "EMPTY"],
]


def _addition(rng: np.random.Generator) -> list[str]:
    kind = rng.integers(5)
    if kind == 0:
        return [_FLAGS[rng.integers(len(_FLAGS))]]
    if kind == 1:
        return [_COMMANDS[rng.integers(len(_COMMANDS))]]
    value = _VALUES[rng.integers(len(_VALUES))]
    return [value] if kind == 2 else [_OPTIONS[rng.integers(len(_OPTIONS))], value]


COMMAND_TARGETS: dict[str, Any] = {
    **{name: partial(DataFiles, name=name) for name in TABLES},
    "tables": Tables,
    "bounds": BoundsFiles,
    "arguments": CommandLines,
}
