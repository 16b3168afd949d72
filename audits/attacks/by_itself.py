"""Every record by itself: attacks on readers, by records that might change how others are read.

Two claims are attacked. The encoded form of a record does not depend on the other records of its table. And
one hostile record more, or instead of another, or a hostile person more, moves no sum by more than was paid
for.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audits.attacks.replayed_fits import Replay
from audits.readers import Reader, Shelf
from audits.readers.hostile import (
    OWNER,
    SCHEMA,
    HostileTable,
    hostile_rows,
    hostile_table,
    number_rows,
    number_table,
    ordinary_rows,
)
from dpmorse import DPMoGHard, PrivateGaussianMixture

UNITS = (("row", "add-remove"), ("row", "replace-one"), ("person", "add-remove"))
"""Units of privacy, and the relations that go with them."""

_MOST = 3
"""Rows of a person that are used."""

_N_ROWS = 40
"""Rows of the tables of replayed fits."""


def tables_for(reader: Reader, rng: np.random.Generator, n_rows: int) -> list[HostileTable]:
    """Return hostile tables: one that a schema describes and, if the reader takes such, one of numbers."""
    numbers = [number_table(rng, n_rows, reader.number_kinds)] if reader.number_kinds else []
    return [hostile_table(rng, n_rows, reader.kinds), *numbers]


def dependent(reader: Reader, table: HostileTable, shelf: Shelf) -> list[int]:
    """Return the records that are read otherwise together with the others than alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together, alone = reader.encoded(table, shelf), reader.encoded_alone(table, shelf)
    if together.shape != alone.shape:
        raise AssertionError(f"{reader.name}: {together.shape} records together, {alone.shape} alone")
    return [int(i) for i in np.flatnonzero((together != alone).any(axis=1))]


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ in one hostile record, or in all rows of a hostile person."""

    one: HostileTable
    other: HostileTable
    owners: tuple[list[int], list[int]] | None
    relation: str


def neighbours(
    reader: Reader, rng: np.random.Generator, unit: str, relation: str, *, numbers: bool
) -> Neighbours:
    """Return an ordinary table, and its neighbour with hostile values."""
    if numbers:
        types = number_table(rng, 0, reader.number_kinds).types
        rows, hostile = number_rows(rng, types, _N_ROWS), number_rows(rng, types, 3 * _MOST)
    else:
        types = hostile_table(rng, 0, reader.kinds).types
        rows, hostile = ordinary_rows(rng, types, _N_ROWS), hostile_rows(rng, types, 3 * _MOST)
    table = HostileTable(rows, types)
    if unit == "person":
        ids = [int(i) for i in rng.integers(0, 12, size=_N_ROWS)]
        more = [1000] * len(hostile)
        return Neighbours(table, table.with_rows([*hostile, *rows]), (ids, [*more, *ids]), relation)
    kept = rows[1:] if relation == "replace-one" else rows
    return Neighbours(table, table.with_rows([hostile[0], *kept]), None, relation)


def moved(reader: Reader, pair: Neighbours, shelf: Shelf) -> Iterator[tuple[str, float]]:
    """Yield each question of a fit, and how far its answer moves, as a part of what was paid for."""
    ids = (None, None) if pair.owners is None else pair.owners
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from Replay(patch).distances(
            lambda: _fitted(reader, pair.one, ids[0], pair.relation, shelf),
            lambda: _fitted(reader, pair.other, ids[1], pair.relation, shelf),
        )


def _fitted(reader: Reader, table: HostileTable, ids: list[int] | None, relation: str, shelf: Shelf) -> Any:
    estimator = _estimator(table, {"neighboring": relation} if ids is None else {"max_rows_per_group": _MOST})
    if ids is None:
        return estimator.fit(reader.stored(table, shelf))
    if reader.named:
        return estimator.fit(reader.stored(table.owned_by(ids), shelf), groups=OWNER)
    return estimator.fit(reader.stored(table, shelf), groups=ids)


def _estimator(table: HostileTable, unit: dict[str, Any]) -> Any:
    if set(SCHEMA.names) <= set(table.names):
        return PrivateGaussianMixture(2, epsilon=2.0, columns=dict(SCHEMA.columns), random_state=0, **unit)
    return DPMoGHard(2, n_iter=2, epsilon=2.0, bounds=(-10, 130), random_state=0, **unit)
