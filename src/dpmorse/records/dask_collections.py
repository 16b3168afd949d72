"""Records in Dask collections: arrays and data frames, in partitions that may be on many machines."""

from typing import Any

import dask
import dask.array
import numpy as np

from dpmorse.engine import Engine
from dpmorse.engine.dask_partitions import DaskEngine, Partitions
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, refuse_none
from dpmorse.records.in_memory import Table, numbers_of, open_table
from dpmorse.typing import FloatArray


class DaskRecords:
    """A Dask array or data frame; rows are in the order of the partitions."""

    def __init__(self, X: Any) -> None:
        if isinstance(X, dask.array.Array):
            whole = _whole_rows(X)
            self.columns = Columns.of(X.shape[1])
            self._parts, self._lengths = list(whole.to_delayed().ravel()), whole.chunks[0]
        elif hasattr(X, "_meta") and hasattr(X, "to_delayed"):
            self.columns = Table(X._meta).columns  # noqa: SLF001 - an empty frame, documented for extensions
            self._parts, self._lengths = list(X.to_delayed()), (np.nan,) * X.npartitions
        else:
            raise InvalidTypeError(
                f"X must be a dask.array.Array or a dask.dataframe.DataFrame, got {type(X).__name__}."
            )

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that adds up partitions where they are."""
        return DaskEngine() if given is None else DaskEngine(given)

    def read(self, estimator: Any) -> Partitions:
        """Go through all partitions once, to check and to count them."""
        arrays = [dask.delayed(_numbers)(part) for part in self._parts]
        lengths = dask.compute(*(dask.delayed(len)(array) for array in arrays))
        refuse_none(sum(lengths), estimator)
        return Partitions(arrays, lengths)

    def matching(self, estimator: Any) -> "DaskRecords":
        """Refuse columns that are not those of the fit."""
        self.columns.check_those_of(estimator)
        return self

    def each(self, estimator: Any, function: Function) -> Any:
        """Return a lazy array with the function of every record, in as many blocks as X has."""
        example = function(np.zeros((1, self.columns.n_features_in_)))
        tail, kind = example.shape[1:], example.dtype
        blocks = [
            dask.array.from_delayed(
                dask.delayed(_applied)(function, part, tail, kind), (n, *tail), dtype=kind
            )
            for n, part in zip(self._lengths, self._parts, strict=True)
        ]
        return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


def _whole_rows(X: Any) -> Any:
    """Return an array whose blocks hold whole rows."""
    if X.ndim != 2 or X.shape[1] != X.shape[1]:
        raise InvalidParameterError(f"X must have shape (n_samples, n_features), got {X.shape}.")
    return X.rechunk({1: -1})


def _numbers(part: Any) -> FloatArray:
    return numbers_of(open_table(part), least=0)


def _applied(function: Function, part: Any, tail: tuple[int, ...], kind: Any) -> Any:
    array = _numbers(part)
    return function(array) if len(array) else np.empty((0, *tail), kind)
