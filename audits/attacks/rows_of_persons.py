"""The rows that are used of each person: random tables in every container that a fit can read.

The first column of a table is the person's number, so that a row that is used tells whose it is. Ids come in
every type that can hold them, another one in every file, batch or partition.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from dpmorse.engine import Reads
from dpmorse.exceptions import DPMorseError
from dpmorse.records import open_records
from dpmorse.typing import FloatArray

try:
    import torch
except ImportError:
    torch = None

Rng = np.random.Generator
Rows = Counter[tuple[float, ...]]

NUMBERS = ["person", "a", "b"]
TYPES = ("int64", "float64", "text", "object", "mixed", "decimal")


@dataclass(frozen=True)
class Persons:
    """Rows, their persons, and the largest number of rows of a person that may be used."""

    X: FloatArray
    ids: list[Any]
    most: int

    @property
    def are_numbers(self) -> bool:
        """Whether all ids are integers."""
        return all(isinstance(one, int) for one in self.ids)

    def take(self, rows: Any) -> "Persons":
        """Return some of the rows."""
        return Persons(self.X[rows], [self.ids[i] for i in rows], self.most)

    def in_parts(self, rng: Rng, n_parts: int) -> "list[Persons]":
        """Cut the rows, in a random order, into parts."""
        order = rng.permutation(len(self.X))
        cuts = np.sort(rng.integers(0, len(order) + 1, size=n_parts - 1))
        return [self.take(rows) for rows in np.split(order, cuts)]

    def frame(self, rng: Rng, kinds: Sequence[str] = TYPES) -> Any:
        """Return a pandas frame whose ids have a random type."""
        return pd.DataFrame(self.X, columns=NUMBERS).assign(id=spelled(self.ids, rng.choice(kinds), rng))


def random_persons(rng: Rng) -> Persons:
    """Return a few persons with a few rows each, many of them equal, and one with far too many."""
    n_persons, most = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    owner = rng.integers(0, n_persons, size=int(rng.integers(1, 60)))
    owner[rng.random(len(owner)) < rng.choice([0.0, 0.5])] = 0
    names = random_ids(n_persons, rng)
    size = (len(owner), 2)
    values = rng.integers(0, 2, size=size) if rng.random() < 0.5 else rng.normal(size=size)
    X = np.column_stack([owner, values]).astype(np.float32).astype(float)  # the same in both precisions
    return Persons(X, [names[i] for i in owner], most)


def random_ids(n: int, rng: Rng) -> list[Any]:
    """Return distinct ids of one style."""
    style = rng.integers(5)
    numbers = rng.choice(10_000, size=n, replace=False)
    if style == 0:
        return [int(number) - 5000 for number in numbers]
    if style == 1:
        return [40_000_000_000 + int(number) for number in numbers]  # pandas writes such doubles as 4e+10
    if style == 2:  # at both ends of 64 bits
        ends = [(2**64 - 1 - int(number), -(2**63) + int(number)) for number in numbers]
        return [pair[i % 2 == 0] for i, pair in enumerate(ends)]
    if style == 3:
        return [f"patient-{number}" for number in numbers]
    return [f"{'äöΩ日'[int(number) % 4]} {number:05}" for number in numbers]


def spelled(ids: Sequence[Any], kind: str, rng: Rng) -> Any:
    """Return the same ids in another type, if it can hold them."""
    if not all(isinstance(one, int) for one in ids):
        if kind == "object":
            return np.array(ids, dtype=object)
        return pd.Series(ids, dtype="category" if kind == "mixed" else "str").array
    if kind == "int64" and all(-(2**63) <= one < 2**63 for one in ids):
        return np.array(ids, dtype=np.int64)
    if kind == "float64" and all(abs(one) < 2**53 for one in ids):
        return np.array(ids, dtype=float)
    if kind in {"text", "int64", "float64"}:
        return pd.Series([str(one) for one in ids], dtype="str").array
    array = np.empty(len(ids), dtype=object)
    array[:] = [
        Decimal(one) if kind == "decimal" else (str(one) if kind == "mixed" and rng.random() < 0.5 else one)
        for one in ids
    ]
    return array


class Batches:
    """A re-iterable that yields other batches, in another order, with ids of other types, in every pass."""

    def __init__(self, persons: Persons, rng: Rng) -> None:
        self.persons, self.rng = persons, rng

    def __iter__(self) -> Iterator[Any]:
        for part in self.persons.in_parts(self.rng, 3):
            yield part.frame(self.rng)


def lazily(persons: Persons, n_parts: int, part: int) -> Any:
    """Return one partition of a collection that is computed anew, in another order, each time."""
    rng = np.random.default_rng()
    rows = np.array_split(np.arange(len(persons.X)), n_parts)[part]
    return persons.take(rows[rng.permutation(len(rows))]).frame(rng, ("object", "mixed"))


def in_dask(persons: Persons, rng: Rng) -> tuple[Any, str]:
    """Return a Dask frame whose partitions change their order in every pass."""
    n_parts = int(rng.integers(1, 5))
    meta = persons.frame(rng, ("object",)).iloc[:0]
    parts = [dask.delayed(lazily, pure=False)(persons, n_parts, i) for i in range(n_parts)]
    return dd.from_delayed(parts, meta=meta, verify_meta=False), "id"


def in_files(persons: Persons, rng: Rng, folder: Path, ending: str) -> tuple[str, str]:
    """Return several files, in each of which ids have another type."""
    write = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}[ending]
    for i, part in enumerate(persons.in_parts(rng, 2)):
        kinds = ("int64", "float64", "text") if persons.are_numbers else ("text",)
        table = pa.Table.from_pandas(part.frame(rng, kinds), preserve_index=False)
        if table["id"].type == pa.null():
            table = table.set_column(3, "id", pa.array([], pa.string()))
        write(table, str(folder / f"{i}.{ending}"))
    return str(folder / f"*.{ending}"), "id"


def in_csv(persons: Persons, rng: Rng, folder: Path) -> tuple[str, str]:
    """Return one file of text."""
    kinds = ("int64", "text") if persons.are_numbers else ("text",)
    persons.frame(rng, kinds).to_csv(folder / "x.csv", index=False)
    return str(folder / "x.csv"), "id"


def containers(persons: Persons, rng: Rng, folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each container, X and groups."""
    X, frame = persons.X, persons.frame(rng)
    order = rng.permutation(len(X))
    shuffled = persons.frame(rng).iloc[order]
    typed = persons.frame(rng, ("int64", "text"))
    typed = typed.astype({"id": "str"}) if typed["id"].dtype == object else typed
    ids_in_order = [persons.ids[i] for i in order]
    yield "array", X, spelled(persons.ids, rng.choice(TYPES), rng)
    yield "lists", X[order].tolist(), ids_in_order
    yield "single precision", X.astype(np.float32), persons.ids
    yield "pandas", shuffled, "id"
    yield "pandas and a series", frame[NUMBERS], frame["id"]
    yield "polars", pl.from_pandas(typed), "id"
    yield "pyarrow", pa.Table.from_pandas(persons.frame(rng, ("text",)), preserve_index=False), "id"
    yield "batches", Batches(persons, rng), "id"
    yield "parquet", *in_files(persons, rng, folder, "parquet")
    yield "feather", *in_files(persons, rng, folder, "feather")
    yield "csv", *in_csv(persons, rng, folder)
    yield "Dask frame", *in_dask(persons, rng)
    yield "Dask array", da.from_array(X[order], chunks=(7, 3)), ids_in_order
    if torch is not None:
        yield "tensor", torch.from_numpy(X[order]), ids_in_order


def rows_used(X: Any, groups: Any, most: int) -> Rows:
    """Return the records that a fit would use, with their numbers; none if it is refused, which is wrong."""
    try:
        parts = parts_used(open_records(X, groups), most)
    except DPMorseError:
        return Counter()
    return Counter(map(tuple, np.concatenate([np.asarray(part) for part in parts])))


def parts_used(records: Any, most: int) -> list[Any]:
    """Return the rows of opened records that a fit would add up, part by part."""
    data: Any = records.read(None, most)
    if hasattr(data, "shape"):
        return [data]
    parts = data.parts
    found = (
        parts.each(lambda part: part) if isinstance(parts, Reads) else dask.compute(*parts, scheduler="sync")
    )
    return [*(part.value for part in found), *data.others()]


def holds(persons: Persons, used: Rows) -> bool:
    """Say whether each person has the number of rows that the cap allows, and all of them exist."""
    there, of_each = Counter(map(tuple, persons.X)), Counter(persons.X[:, 0])
    used_of_each: Counter[float] = Counter()
    for row, copies in used.items():
        used_of_each[row[0]] += copies
    return not used - there and all(used_of_each[one] == min(n, persons.most) for one, n in of_each.items())


def audit(n_tables: int, seed: int, folder: Path) -> dict[str, list[int]]:
    """Count, for each container, tables, those in which the cap does not hold, and those with other rows.

    Other rows are those that are not used where the table is an array.
    """
    rng, found = np.random.default_rng(seed), dict[str, list[int]]()
    for _ in range(n_tables):
        persons, expected = random_persons(rng), None
        with dask.config.set(scheduler="sync"):
            for name, X, groups in containers(persons, rng, folder):
                used = rows_used(X, groups, persons.most)
                expected = used if expected is None else expected
                counts = found.setdefault(name, [0, 0, 0])
                for i, more in enumerate((True, not holds(persons, used), used != expected)):
                    counts[i] += more
    return found
