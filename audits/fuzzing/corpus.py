"""Valid files of every kind, from which hostile ones are made; the same each time, as seeds need."""

import gzip
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from dpmorse import (
    Boolean,
    Budget,
    Date,
    DPCube,
    DPMoG,
    DPMoGHard,
    DPTree,
    MorseClustering,
    Nominal,
    Numeric,
    Ordinal,
    PrivateGaussianMixture,
)
from dpmorse.privacy import ledger_lines

COLUMNS = ("age", "pressure")
BOUNDS = """# public
[bounds]
age = { lower = 0, upper = 110 }
pressure = { lower = 60.5, upper = 220 }
"""


@dataclass(frozen=True)
class Corpus:
    """A folder with one file of each kind, and several models."""

    folder: Path

    @property
    def models(self) -> list[Path]:
        """Model files: with and without names, pure promises, private bounds, trees by two rules, a table."""
        return sorted(self.folder.glob("model-*.json"))

    def path(self, name: str) -> Path:
        """Return a file by name."""
        return self.folder / name


def make_corpus(folder: Path) -> Corpus:
    """Write the files; a folder that has them is taken as it is."""
    if not (folder / "complete").exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _write_models(folder)
            _write_budget(folder / "team.budget")
        _write_tables(folder)
        (folder / "bounds.toml").write_text(BOUNDS)
        (folder / "empty.csv").write_text(",".join(COLUMNS) + "\n")
        (folder / "complete").touch()
    return Corpus(folder)


def _records() -> Any:
    rng = np.random.default_rng(0)
    centres = np.array([[30.0, 110.0], [70.0, 160.0]])
    points = centres[rng.integers(2, size=300)] + rng.normal(0, 5, size=(300, 2))
    return pa.table(list(points.T), names=list(COLUMNS))


def _write_models(folder: Path) -> None:
    records, wide = _records(), np.random.default_rng(1).uniform(-1, 1, size=(200, 3))
    known: dict[str, Any] = {"epsilon": 5.0, "bounds": ([0, 60], [110, 220]), "random_state": 0}
    models: dict[str, Any] = {
        "hard": DPMoGHard(3, **known, n_iter=2),
        "soft": DPMoG(2, **known, n_iter=2, radius=90.0, neighboring="replace-one"),
        "tree": DPTree(3, **known, delta=0),
        "cube": DPCube(3, **known),
        "bounds": DPMoGHard(2, epsilon=2.0, bounds="private", n_iter=2, random_state=0),
        **{
            rule: MorseClustering(DPMoGHard(4, **known, n_iter=2), 2, merge=rule)
            for rule in ("single", "overlap")
        },
    }
    for name, model in models.items():
        model.fit(records)
        model.save(folder / f"model-{name}.json")
    _write_model_of_a_table(folder / "model-table.json")
    unnamed = DPMoGHard(2, epsilon=5.0, bounds=(-1, 1), n_iter=2, random_state=0).fit(wide)
    unnamed.save(folder / "model-unnamed.json")


def _write_model_of_a_table(path: Path) -> None:
    """Every kind of column, and every way to treat missing values."""
    rng = np.random.default_rng(2)
    columns = {
        "age": Numeric(0, 110, missing="ignore"),
        "visits": Numeric(0, 20, integer=True, missing="level"),
        "ward": Nominal(["north", "south", 5], missing="level"),
        "smoker": Boolean(missing="ignore"),
        "pain": Ordinal(["none", "some", "strong"]),
        "admitted": Date("2010-01-01", "2030-01-01"),
    }
    records = pa.table(
        {
            "age": rng.normal(50, 20, 400),
            "visits": rng.integers(0, 9, 400),
            "ward": rng.choice(["north", "south", "5"], 400),
            "smoker": rng.choice(["yes", "no"], 400),
            "pain": rng.choice(["none", "some", "strong"], 400),
            "admitted": rng.choice(["2012-01-01", "2021-05-31"], 400),
        }
    )
    PrivateGaussianMixture(2, epsilon=5.0, columns=columns, random_state=0).fit(records).save(path)


def _write_budget(path: Path) -> None:
    """Three fits, two that ended and one that was killed, at times and by names that are always the same."""
    budget = Budget(epsilon=3.0, delta=1e-6)
    fitted = DPMoGHard(2, epsilon=0.5, bounds=(-1, 1), n_iter=2, random_state=0).fit(np.zeros((50, 2)))
    data = ledger_lines.first_line(budget)
    for kind, identity in (
        ("reserved", "a"),
        ("finished", "a"),
        ("reserved", "b"),
        ("finished", "b"),
        ("reserved", "c"),
    ):
        account = ledger_lines.read_account(data, path.name)
        data += ledger_lines.next_line(
            account, kind, identity, fitted.privacy_.events, "2026-01-01T00:00:00+00:00"
        )
    path.write_bytes(data)


def _write_tables(folder: Path) -> None:
    records = _records().slice(0, 60)
    table = records.append_column("who", pa.array([f"p{i // 2}" for i in range(60)]))
    pa.csv.write_csv(table, folder / "data.csv")
    pa.parquet.write_table(table, folder / "data.parquet")
    pa.feather.write_feather(table, os.fspath(folder / "data.feather"), compression="lz4")
    pa.feather.write_feather(table, os.fspath(folder / "data.arrow"), compression="uncompressed")
    (folder / "data.csv.gz").write_bytes(gzip.compress((folder / "data.csv").read_bytes(), mtime=0))
