"""Records that are read anew in every pass, a batch at a time."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dpmorse._progress import counter, one_pass
from dpmorse.engine import Engine, StreamedEngine
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, refuse_none
from dpmorse.records.in_memory import Table, numbers_of, open_table
from dpmorse.typing import FloatArray

Mask = npt.NDArray[np.bool_]

_KEPT_BYTES = 16 << 20  # a batch of a file, which is in memory in any case


@dataclass(frozen=True)
class Stream:
    """Checked records in batches, for ``StreamedEngine``.

    Every pass must yield the same records: were they others, the promise would hold for none of them.
    Their number is compared.

    Attributes
    ----------
    start : callable
        Begins a pass: returns an iterator of arrays.
    n_rows : int
        Rows of a pass.
    kept : ndarray of bool or None
        Which rows are used; None for all.
    """

    start: Callable[[], Iterator[FloatArray]]
    n_rows: int
    kept: Mask | None = None

    def __len__(self) -> int:
        return self.n_rows if self.kept is None else int(self.kept.sum())

    def __iter__(self) -> Iterator[FloatArray]:
        n_read = 0
        for batch in self.start():
            n_read += len(batch)
            yield batch if self.kept is None else batch[self.kept[n_read - len(batch) : n_read]]
        if n_read != self.n_rows:
            raise InvalidParameterError("X changed between two passes: it must have the same rows each time.")

    def __getitem__(self, kept: Mask) -> "Stream":
        """Return these records without those that are not kept."""
        return Stream(self.start, self.n_rows, kept)


def read_ahead(arrays: Iterator[FloatArray]) -> Iterator[FloatArray]:
    """Read the next batch, in a thread, while one is worked on."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, arrays, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, arrays, None)
            yield batch


class StreamedRecords:
    """Base of records in batches: subclasses say how a pass begins."""

    columns: Columns
    drops_rows: bool = False
    owns_arrays: bool = False  # memory of a caller's batches may be used again for the next

    def arrays(self) -> Iterator[FloatArray]:
        """Yield checked batches, from the first on."""
        raise NotImplementedError

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that takes one batch after the other."""
        return StreamedEngine() if given is None else StreamedEngine(given)

    def read(self, estimator: Any) -> Stream:
        """Go through all batches once, to check and to count them; few records are then in memory."""
        kept: list[FloatArray] | None = [] if self.owns_arrays else None
        with one_pass("checking the records"):
            done, n_rows = counter(), 0
            for batch in self.arrays():
                n_rows += len(batch)
                kept = _kept_while_few(kept, batch)
                done(len(batch))
        refuse_none(n_rows, estimator)
        return Stream(self.arrays if kept is None else partial(iter, kept), n_rows)

    def matching(self, estimator: Any) -> Self:
        """Refuse columns that are not those of the fit."""
        self.columns.check_those_of(estimator)
        return self

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of all records as one array; only one batch is in memory at a time."""
        return np.concatenate([function(batch) for batch in self.arrays() if len(batch)])


def _kept_while_few(kept: list[FloatArray] | None, batch: FloatArray) -> list[FloatArray] | None:
    """Return the batches so far, with this one; None once they take too much memory."""
    if kept is None or sum(array.nbytes for array in [*kept, batch]) > _KEPT_BYTES:
        return None
    return [*kept, batch]


class TableStream(StreamedRecords):
    """A re-iterable of arrays or frames."""

    def __init__(self, X: Any) -> None:
        if iter(X) is X:
            raise InvalidTypeError(
                "X is an iterator, which can be gone through only once. Give an object that begins anew each "
                "time it is iterated over, such as an instance of a class with a method __iter__."
            )
        self._tables = X
        first = next(iter(X), None)
        if first is None:
            raise InvalidParameterError("X has no batches.")
        self.columns = Table(first).columns

    def arrays(self) -> Iterator[FloatArray]:
        """Yield the batches as arrays; all must have the columns of the first."""
        for batch in self._tables:
            if not Table(batch).columns.same_as(self.columns):
                raise InvalidParameterError("X has batches with other columns than those of the first.")
            yield numbers_of(open_table(batch), least=0)
