"""Every estimator, fitted as users fit it: on frames, batches, files and Dask collections, with persons.

A neighbour that is given the same answers must ask the same questions and end in the same model. The changes
of its exact answers are compared with what was paid for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from audits.attacks.bases import BASES
from audits.attacks.replayed_fits import Replay
from audits.attacks.tables import TABLES
from dpmorse import DPMoG, DPMoGHard, DPMorse, MorseClustering

Rng = np.random.Generator

UNITS = (("row", "add-remove"), ("row", "replace-one"), ("person", "add-remove"))
"""Units of privacy, and the relations that go with them."""

_WITH_ROWS = ("numbers, categories, missing values", "categories", "numbers with missing values")
"""Tables whose records ``_rows_of_table`` can draw."""

_MOST_ROWS = 3
"""Rows of a person that are used."""

_FAR_ROWS = 17
"""Rows of the person that is added: most of them are not used."""


@dataclass(frozen=True)
class Fit:
    """An estimator, and the table that it is fitted to: ``n_numbers`` numbers, or one with other columns."""

    name: str
    make: Callable[..., Any]
    n_numbers: int = 3
    columns: dict[str, Any] | None = None

    def estimator(self, unit: str, relation: str) -> Any:
        """Return the estimator for a unit; its noise is seeded, so that both fits begin alike."""
        rows = {"max_rows_per_group": _MOST_ROWS} if unit == "person" else {"neighboring": relation}
        of_table = {"bounds": (-1, 1)} if self.columns is None else {"columns": self.columns}
        return self.make(epsilon=2.0, random_state=0, **rows, **of_table)

    def frames(self, unit: str, relation: str, rng: Rng) -> tuple[Any, Any]:
        """Return a table, and one that differs in a record, or in a person with many."""
        near, far = self._rows(260, rng, far=False), self._rows(_FAR_ROWS, rng, far=True)
        near["id"], far["id"] = rng.integers(0, 60, size=260), 1000
        if unit == "person":
            return near, pd.concat([near, far], ignore_index=True)
        kept = near.iloc[1:] if relation == "replace-one" else near
        return near, pd.concat([kept, far.iloc[:1]], ignore_index=True)

    def _rows(self, n: int, rng: Rng, *, far: bool) -> Any:
        if self.columns is not None:
            return _rows_of_table(self.columns, n, rng, far=far)
        size = (n, self.n_numbers)
        X = rng.choice([-1.0, 1.0], size=size) if far else np.clip(rng.normal(size=size) * 0.4, -1, 1)
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(self.n_numbers)])


def _rows_of_table(columns: dict[str, Any], n: int, rng: Rng, *, far: bool) -> Any:
    """Return records of a table with missing values; far ones are at bounds, with values nobody else has."""
    days = ["2000-01-01", "2030-01-01"] if far else ["2008-03-01", "2011-09-01", "2014-05-01"]
    frame = pd.DataFrame(
        {
            "age": rng.choice([0.0, 120.0, 1e9], n) if far else rng.normal(50, 15, n),
            "ward": rng.choice(["north", "cellar"] if far else ["north", "south", "east"], n),
            "smoker": rng.choice([True, False], n).astype(object),
            "income": rng.choice([0.0, 1e5], n) if far else rng.lognormal(9, 1, n),
            "grade": rng.choice(["low", "high"] if far else ["low", "mid", "high"], n),
            "joined": pd.to_datetime(rng.choice(days, n)),
        }
    )
    for name in ("age", "ward", "smoker", "income", "joined"):
        gone = rng.random(n) < (0.5 if far else 0.2)
        gone[0] = False  # of the records that are added, the first has a value in every column
        frame.loc[gone, name] = None
    return frame[list(columns)]


class Batches:
    """Frames in another order in every pass."""

    def __init__(self, frame: Any, rng: Rng) -> None:
        self.frame, self.rng = frame, rng

    def __iter__(self) -> Iterator[Any]:
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))]
        return (frame.iloc[start : start + 70] for start in range(0, len(frame), 70))


def _in_parquet(frame: Any, folder: Path, rng: Rng) -> str:
    path = folder / f"{rng.integers(1 << 60)}.parquet"
    frame.to_parquet(path, index=False)
    return str(path)


STORAGES: dict[str, Callable[[Any, Path, Rng], Any]] = {
    "frames": lambda frame, *_: frame,
    "batches": lambda frame, _, rng: Batches(frame, rng),
    "Parquet files": _in_parquet,
    "Dask collections": lambda frame, *_: dd.from_pandas(frame, npartitions=3, sort=False),
}
"""Ways to store a table."""


def fits() -> list[Fit]:
    """Return every estimator, in columns in which it works differently."""
    of_bases = [Fit(kind.__name__, _with_few_rounds(kind)) for kind in BASES]
    on_top = Fit("MorseClustering", lambda **options: MorseClustering(DPMoGHard(4, n_iter=2, **options), 2))
    names = {1: "1 column", 2: "2 columns", 36: "36 columns"}
    in_columns = [Fit(f"DPMorse, {name}", _morse, n) for n, name in names.items()]
    in_tables = [Fit(f"DPMorse, {name}", _morse, columns=TABLES[name]) for name in _WITH_ROWS]
    return [*of_bases, on_top, *in_columns, *in_tables]


def _with_few_rounds(kind: Any) -> Callable[..., Any]:
    few = {"n_iter": 3} if kind in {DPMoGHard, DPMoG} else {}
    return lambda **options: kind(3, **few, **options)


def _morse(**options: Any) -> DPMorse:
    return DPMorse(2, **options)


def replayed(fit: Fit, storage: str, unit: str, relation: str, folder: Path) -> list[tuple[str, float]]:
    """Return the change of the answer to each question of a fit on a stored table."""
    rng = np.random.default_rng(7)

    def fitted(frame: Any) -> Any:
        names = [name for name in frame.columns if name != "id" or unit == "person"]
        shuffled = frame[names].iloc[rng.permutation(len(frame))].reset_index(drop=True)
        groups = {"groups": "id"} if unit == "person" else {}
        return fit.estimator(unit, relation).fit(STORAGES[storage](shuffled, folder, rng), **groups)

    one, other = fit.frames(unit, relation, rng)
    models: list[Any] = []
    with pytest.MonkeyPatch.context() as patches:
        moved = Replay(patches).distances(
            lambda: models.append(fitted(one)), lambda: models.append(fitted(other))
        )
    assert models[0].mixture_ == models[1].mixture_, "the model depends on more than its answers"
    return moved
