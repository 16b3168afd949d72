"""Records in Dask collections: arrays and data frames, in partitions that may be on many machines.

A collection is computed anew in every pass, possibly in another order. Therefore the owner of a row must be
part of its partition: a column of the frame, or a collection with the same partitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import dask
import dask.array
import dask.dataframe
import numpy as np

from dpmorse.engine import (
    DaskEngine,
    Engine,
    Partitions,
    add_up_each,
    each_lazily,
    longest_without_workers,
)
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, GivenRecords
from dpmorse.records.memory.table import OTHER_INDEX, Table
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch, Owners, check_length
from dpmorse.records.persons.row_choice import survey
from dpmorse.schema import Schema

_BESIDE = (
    "groups must be the name of a column of X, or a Dask collection with the partitions of X: a partition is "
    "computed anew in every pass, and whose record a row is must come with it."
)


class DaskRecords(GivenRecords):
    """A Dask array or data frame; rows are in the order of the partitions."""

    def __init__(self, X: Any, groups: Any = None, schema: Schema | None = None) -> None:
        super().__init__(X, groups, schema)
        if isinstance(X, dask.array.Array):
            whole = _whole_rows(X)
            self._columns = Columns.of(X.shape[1]).encoded_by(schema)
            self._parts, self._lengths = list(whole.to_delayed().ravel()), whole.chunks[0]
        elif hasattr(X, "_meta") and hasattr(X, "to_delayed"):
            in_column = groups if isinstance(groups, str) else None
            self._columns = Table(X._meta, in_column, schema).columns  # noqa: SLF001 - empty, for extensions
            named = [groups] if isinstance(groups, str) else []
            self._parts = list(X.drop(columns=named).to_delayed())  # Dask may join some of X.npartitions
            self._lengths = (np.nan,) * len(self._parts)
        else:
            raise InvalidTypeError(
                f"X must be a dask.array.Array or a dask.dataframe.DataFrame, got {type(X).__name__}."
            )

    @cached_property
    def _batches(self) -> list[Any]:
        """Lazy batches, each with the owners of its rows: both are computed in one task."""
        X, groups = self._given, self._groups
        parts: Sequence[Any] = self._parts
        owners: Sequence[Any] = [None] * len(parts)
        if groups is not None and isinstance(X, dask.array.Array):
            owners = _beside(groups, _whole_rows(X))
        elif groups is not None:
            joined, column = (X, groups) if isinstance(groups, str) else _joined(X, groups)
            parts = joined.to_delayed()
            owners = [column] * len(parts)
        batch = dask.delayed(_Expected.batch)
        return [batch(self._expected, part, owner) for part, owner in zip(parts, owners, strict=True)]

    @property
    def _expected(self) -> "_Expected":
        return _Expected(self.columns, self._schema)

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that adds up partitions where they are."""
        longest_without_workers()  # a setting that makes no sense is refused before anything is spent
        return DaskEngine() if given is None else DaskEngine(given)

    def read(self, estimator: Any, most: int | None = None) -> Partitions:
        """Read all partitions once, to check them and to choose the rows that are used."""
        total, then = partial(add_up_each, self._batches), partial(each_lazily, self._batches)
        return self._used_parts(total(partial(survey, most=most)), total, then, estimator)

    def each(self, estimator: Any, function: Function) -> Any:
        """Return a lazy array with the function of every record, in the blocks that are read."""
        expected = self._expected
        example = function(np.zeros((1, self.columns.width)))
        tail, kind = example.shape[1:], example.dtype
        blocks = [
            dask.array.from_delayed(
                dask.delayed(_Expected.applied)(expected, function, part, tail, kind), (n, *tail), dtype=kind
            )
            for n, part in zip(self._lengths, self._parts, strict=True)
        ]
        return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


def _whole_rows(X: Any) -> Any:
    """Return an array whose blocks hold whole rows."""
    if X.ndim != 2 or X.shape[1] != X.shape[1]:
        raise InvalidParameterError(f"X must have shape (n_samples, n_features), got {X.ndim} dimension(s).")
    return X.rechunk({1: -1})


def _beside(groups: Any, X: Any) -> Sequence[Any]:
    """Return the owners of each block of an array."""
    lengths = X.chunks[0]
    if isinstance(groups, dask.array.Array):
        if groups.ndim != 1:
            raise InvalidParameterError(f"groups must have one dimension, got {groups.ndim}.")
        return _in_chunks(groups, X)
    if isinstance(groups, str) or hasattr(groups, "dask") or np.isnan(lengths).any():
        raise InvalidTypeError(_BESIDE)
    owners = owners_of(groups)
    check_length(owners, sum(lengths))
    ends = np.cumsum(lengths)
    return [owners[end - n : end] for n, end in zip(lengths, ends, strict=True)]


def _in_chunks(groups: Any, X: Any) -> Sequence[Any]:
    """Return the blocks of a collection of ids that go with those of an array."""
    lengths = X.chunks[0]
    if np.isnan([*lengths, *groups.chunks[0]]).any():
        blocks = groups.to_delayed()
    else:
        blocks = groups.rechunk((lengths,)).to_delayed() if sum(lengths) == groups.size else ()
    if len(blocks) != len(lengths):
        raise InvalidParameterError("groups must have one value for each row of X; the lengths differ.")
    return list(blocks)


def _joined(X: Any, groups: Any) -> tuple[Any, str]:
    """Return a frame with the owners in one more column, and its name."""
    if not isinstance(groups, dask.dataframe.Series):
        raise InvalidTypeError(_BESIDE)
    if groups.npartitions != X.npartitions:
        raise InvalidParameterError(_BESIDE)
    column = "owner"
    while column in X.columns:
        column += "_"
    meta = X._meta.assign(**{column: groups._meta})  # noqa: SLF001 - empty, documented for extensions
    return dask.dataframe.map_partitions(_with_owners, X, groups, column, meta=meta), column


def _with_owners(part: Any, groups: Any, column: str) -> Any:
    if not part.index.equals(groups.index):
        raise InvalidParameterError(OTHER_INDEX)
    return part.assign(**{column: groups})


@dataclass(frozen=True)
class _Expected:
    """What every partition must be like; it travels to where the partitions are."""

    columns: Columns
    schema: Schema | None

    def table(self, part: Any, groups: str | None = None) -> Table:
        """Refuse a partition with other columns than the collection's: passes rely on their number."""
        table = Table(part, groups, self.schema)
        if not table.columns.same_as(self.columns):
            raise InvalidParameterError("X has partitions with other columns than it says.")
        return table

    def batch(self, part: Any, groups: Any = None) -> Batch:
        """Return a checked partition, with owners in the column of this name, or beside it."""
        if isinstance(groups, str):
            table = self.table(part, groups)
            return Batch(table.numbers(least=0), table.owners())
        owners = groups if groups is None or isinstance(groups, Owners) else owners_of(groups)
        return Batch(self.table(part).numbers(least=0), owners)

    def applied(self, function: Function, part: Any, tail: tuple[int, ...], kind: Any) -> Any:
        """Return a function of the records of a partition, which may have none."""
        array = self.table(part).numbers(least=0)
        return function(array) if len(array) else np.empty((0, *tail), kind)
