"""The rows used of each person, for tables with texts, dates and missing values in every container."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import polars as pl
import pyarrow as pa

from audits.attacks.rows_of_persons import Persons, Rng, Rows, parts_used, random_persons
from dpmorse import Date, Nominal, Numeric, Schema
from dpmorse.exceptions import DPMorseError
from dpmorse.records import open_records

COLUMNS = {
    "person": Numeric(0, 9),
    "a": Numeric(-9, 9, missing="ignore"),
    "ward": Nominal(["north", "south"], missing="level"),
    "seen": Date("2020-01-01", "2021-01-01", missing="ignore"),
}
SCHEMA = Schema.of(COLUMNS)

_WARDS = np.array(["north", "south", "attic", None], dtype=object)
_DAYS = np.array(["2020-02-01", "2020-07-09", "1999-01-01", "NaT"], dtype="datetime64[s]")
"""Listed values, one that is not listed or out of bounds, and none."""


def described(persons: Persons, rng: Rng) -> Any:
    """Return persons' rows with texts, days and missing values as a frame; equal rows stay so, or do not."""
    choice = rng.integers(0, 4, size=(len(persons.X), 2))
    kinds = ("int64", "text") if persons.are_numbers else ("text",)
    frame = persons.frame(rng, kinds)
    gone = rng.random(len(frame)) < 0.2
    columns = {
        "a": np.where(gone, np.nan, persons.X[:, 1]),
        "ward": _WARDS[choice[:, 0]],
        "seen": _DAYS[choice[:, 1]],
    }
    return frame[["person", "id"]].assign(**columns)[[*COLUMNS, "id"]]


class Batches:
    """A re-iterable of frames, in another order in every pass."""

    def __init__(self, frame: Any, rng: Rng) -> None:
        self.frame, self.rng = frame, rng

    def __iter__(self) -> Iterator[Any]:
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))]
        return (frame.iloc[start : start + 20] for start in range(0, len(frame), 20))


def containers(frame: Any, rng: Rng, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name of each container, and the table in it."""
    shuffled = frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)
    shuffled.to_csv(folder / "described.csv", index=False)
    shuffled.to_parquet(folder / "described.parquet", index=False)
    yield "table, pandas", frame
    yield "table, pandas, categories", shuffled.astype({"ward": "category"})
    yield "table, polars", pl.from_pandas(shuffled)
    yield "table, pyarrow", pa.Table.from_pandas(shuffled, preserve_index=False)
    yield "table, batches", Batches(frame, rng)
    yield "table, csv", str(folder / "described.csv")
    yield "table, parquet", str(folder / "described.parquet")
    yield "table, Dask", dd.from_pandas(shuffled, npartitions=2, sort=False)


def rows_used(X: Any, most: int) -> Rows:
    """Return the encoded records that a fit would use; none where it is refused, which is wrong."""
    try:
        parts = parts_used(open_records(X, "id", SCHEMA), most)
    except DPMorseError:
        return Counter()
    return Counter(map(tuple, np.concatenate([np.asarray(part) for part in parts])))


def holds(frame: Any, used: Rows, most: int) -> bool:
    """Say whether each person has the number of rows that the cap allows, and all of them exist."""
    encoded = open_records(frame[list(COLUMNS)], None, SCHEMA).read(None)
    there, person = Counter(map(tuple, encoded)), SCHEMA.layout.number_part.start
    of_each, used_of_each = Counter(encoded[:, person]), Counter[float]()
    for row, copies in used.items():
        used_of_each[row[person]] += copies
    return not used - there and all(used_of_each[one] == min(n, most) for one, n in of_each.items())


def audit(n_tables: int, seed: int, folder: Path) -> dict[str, list[int]]:
    """Count, for each container, tables, those in which the cap does not hold, and those with other rows."""
    rng, found = np.random.default_rng(seed), dict[str, list[int]]()
    for _ in range(n_tables):
        persons = random_persons(rng)
        frame, expected = described(persons, rng), None
        with dask.config.set(scheduler="sync"):
            for name, X in containers(frame, rng, folder):
                used = rows_used(X, persons.most)
                expected = used if expected is None else expected
                counts = found.setdefault(name, [0, 0, 0])
                for i, more in enumerate((True, not holds(frame, used, persons.most), used != expected)):
                    counts[i] += more
    return found
