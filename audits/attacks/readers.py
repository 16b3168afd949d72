"""A campaign against readers: many hostile tables and neighbours for each.

Readers of Spark and of tensors have an environment of their own: there, ``python -m audits.attacks.readers
NAMES RECORDS SEEDS`` makes their part, and prints it.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from audits import ROOT
from audits.attacks.by_itself import UNITS, dependent, moved, neighbours, tables_for
from audits.readers import READERS, Reader, Shelf, shelf

_N_ROWS = 50
"""Rows of a hostile table."""

_ENGINES = ROOT / ".venv-engines" / "bin" / "python"
"""Python with Spark and torch, see the Makefile."""


@dataclass(frozen=True)
class Tried:
    """The attempts on a reader, and their findings."""

    name: str
    n_records: int = 0
    n_dependent: int = 0
    n_pairs: int = 0
    n_above: int = 0
    moved: float = 0.0
    error: str = ""

    @property
    def held(self) -> bool:
        """Whether there were attempts, and every claim held."""
        return self.n_records > 0 and not (self.n_dependent or self.n_above or self.error)


def tried(reader: Reader, n_records: int, n_seeds: int, place: Shelf) -> Tried:
    """Read hostile tables together and row by row, and replay fits on hostile neighbours."""
    n_read = n_dependent = 0
    rng = np.random.default_rng(list(reader.name.encode()))
    while n_read < n_records * reader.effort:
        for table in tables_for(reader, rng, _N_ROWS):
            n_dependent += len(dependent(reader, table, place))
            n_read += len(table.rows)
    far = [
        max(part for _, part in moved(reader, neighbours(reader, rng, *unit, numbers=numbers), place))
        for _ in range(max(1, round(n_seeds * reader.effort)))
        for unit in UNITS
        for numbers in ((False, True) if reader.number_kinds else (False,))
    ]
    n_above = sum(part > 1 + 1e-9 for part in far)
    return Tried(reader.name, n_read, n_dependent, len(far), n_above, max(far))


def all_tried(n_records: int, n_seeds: int, say: Callable[[str], None]) -> list[Tried]:
    """Try every reader, here or in the environment that has what it needs."""
    found, elsewhere = [], []
    with shelf() as place:
        for reader in READERS:
            missing = reader.missing()
            if missing is not None and "is not installed" in missing and _ENGINES.exists():
                elsewhere.append(reader.name)
                continue
            found.append(
                Tried(reader.name, error=missing) if missing else tried(reader, n_records, n_seeds, place)
            )
            say(f"{reader.name}: {found[-1].n_records} records, {found[-1].n_pairs} pairs")
    return found + _tried_elsewhere(elsewhere, n_records, n_seeds)


def _tried_elsewhere(names: Sequence[str], n_records: int, n_seeds: int) -> list[Tried]:
    if not names:
        return []
    command = [str(_ENGINES), "-m", "audits.attacks.readers", json.dumps(names), str(n_records), str(n_seeds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return [Tried(name, error=done.stderr[-300:]) for name in names]
    return [Tried(**one) for one in json.loads(done.stdout.splitlines()[-1])]


def _main(names: str, n_records: str, n_seeds: str) -> None:
    chosen = [reader for reader in READERS if reader.name in json.loads(names)]
    with shelf() as place:
        found = [tried(reader, int(n_records), int(n_seeds), place) for reader in chosen]
    print(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
