"""Records that are read anew in every pass, a batch at a time."""

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpmorse._progress import counter, one_pass
from dpmorse.engine import Checked, Engine, Partitions, Reads, StreamedEngine, add_up, add_up_checked
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Function, GivenRecords, Records, refuse_none
from dpmorse.records.memory.table import Table
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch, Owners, check_length
from dpmorse.records.persons.row_choice import survey
from dpmorse.schema import Schema

Read = Callable[[], Batch]
"""A batch that was read, and is checked when it is called."""

_KEPT_BYTES = 16 << 20
"""Most bytes of records that are kept in memory between passes: about as much as the batches of a file that
are in memory in any case. Larger files are read again in every pass."""


class StreamedRecords(Records):
    """Base of records in batches: subclasses say how a pass begins."""

    # False where a caller may reuse the memory of a batch for the next one: such batches are not kept, and
    # added up before the next one is read.
    owns_arrays: bool = False

    @abstractmethod
    def reads(self) -> Iterator[Read]:
        """Yield batches as they are read, from the first on; each is checked when it is called."""

    def batches(self) -> Iterator[Batch]:
        """Yield checked batches, from the first on."""
        return (read() for read in self.reads())

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that takes one batch after the other."""
        return StreamedEngine() if given is None else StreamedEngine(given)

    def read(self, estimator: Any, most: int | None = None) -> Partitions:
        """Read all batches once, to check them and to choose rows; small data are then kept in memory."""
        few = _Few(wanted=self.owns_arrays)
        reads = Reads(self.reads, operator.call, lasting=self.owns_arrays)

        def surveys() -> Iterator[Checked[Any]]:
            done = counter()
            for batch, found in reads.each(lambda batch: (batch, survey(batch, most))):
                few.add(batch)
                done(len(batch))
                yield found

        with one_pass("checking the records"):
            found = add_up_checked(surveys())
        if few.batches is not None:
            reads = Reads(partial(iter, few.batches), _itself)
        return self._used_parts(found, lambda function: add_up(reads.each(function)), reads.then, estimator)

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of all records as one array; only one batch is in memory at a time."""
        parts = [function(batch.array) for batch in self.batches() if len(batch)]
        refuse_none(len(parts), estimator)
        return np.concatenate(parts)


class _Few:
    """Batches in their order, while they are small enough to be kept in memory; None afterwards."""

    def __init__(self, *, wanted: bool) -> None:
        self.batches: list[Batch] | None = [] if wanted else None
        self._n_bytes = 0

    def add(self, batch: Batch) -> None:
        """Keep one more batch, or none at all."""
        self._n_bytes += batch.array.nbytes + (0 if batch.owners is None else batch.owners.n_bytes)
        if self._n_bytes > _KEPT_BYTES:
            self.batches = None
        elif self.batches is not None:
            self.batches.append(batch)


def _itself(batch: Batch) -> Batch:
    return batch


class TableStream(GivenRecords, StreamedRecords):
    """A re-iterable of arrays or frames."""

    def __init__(self, X: Any, groups: Any = None, schema: Schema | None = None) -> None:
        if iter(X) is X:
            raise InvalidTypeError(
                "X is an iterator, which can be gone through only once. Give an object that begins anew each "
                "time it is iterated over, such as an instance of a class with a method __iter__."
            )
        super().__init__(X, groups, schema)
        first = next(iter(X), None)
        if first is None:
            raise InvalidParameterError("X has no batches.")
        self._columns = self._opened(first).columns

    def reads(self) -> Iterator[Read]:
        """Yield the batches as arrays; all must have the columns of the first."""
        owners, n_read = self._owners_beside, 0
        for batch in self._given:
            table = self._opened(batch)
            if not table.columns.same_as(self.columns):
                raise InvalidParameterError("X has batches with other columns than those of the first.")
            array = table.numbers(least=0)
            rows = slice(n_read, n_read + len(array))
            n_read += len(array)
            if owners is not None:
                table.check_index_of(self._groups, rows)
            yield partial(_itself, Batch(array, table.owners() if owners is None else owners[rows]))
        if owners is not None:
            check_length(owners, n_read)

    def _opened(self, batch: Any) -> Table:
        return Table(batch, self._groups if isinstance(self._groups, str) else None, self._schema)

    @cached_property
    def _owners_beside(self) -> Owners | None:
        """Return the owners of all rows where they are given beside the batches."""
        beside = self._groups is not None and not isinstance(self._groups, str)
        return owners_of(self._groups) if beside else None
