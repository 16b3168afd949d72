"""Records in memory: arrays and data frames of any kind.

Errors here name columns and types, never values, rows or their number: an error message is an output.
"""

from typing import Any, Self

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from sklearn.utils.validation import validate_data

from dpmorse.engine import Engine, InMemoryEngine
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, GivenRecords, refuse_none
from dpmorse.records.encoding import encode
from dpmorse.records.foreign_errors import without_sizes
from dpmorse.records.memory.number_tables import check_kind, numbers_of, to_array
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch, Owners, called
from dpmorse.records.persons.row_choice import used_rows
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

OTHER_INDEX = (
    "X and groups must have the same index, in the same order: their indices differ, so that rows might be "
    "taken for those of somebody else. Take groups from the same frame as X, or give the name of its column."
)
"""The error about a frame and ids whose indices differ."""


class Table(GivenRecords):
    """An array or a frame, and perhaps the owner of each row: values beside it, or one of its columns.

    With a schema, which says what the columns are, its records are encoded.
    """

    def __init__(self, X: Any, groups: Any = None, schema: Schema | None = None) -> None:
        self._whole = open_table(X, described=schema is not None)
        super().__init__(_native(self._whole), groups, schema)
        self.check_index_of(groups, slice(None))
        self._table = _without(self._whole, groups) if isinstance(groups, str) else self._whole
        self._found = Columns(_native(self._table))
        self._columns = self._found.encoded_by(schema)

    def check_index_of(self, groups: Any, rows: slice) -> None:
        """Refuse ids whose index at these rows differs from the records': they may be those of other rows."""
        ours, theirs = _index_of(self._whole), _index_of(groups)
        if ours is not None and theirs is not None and not ours.equals(theirs[rows]):
            raise InvalidParameterError(OTHER_INDEX)

    @property
    def unowned(self) -> Any:
        """The table as it was given, without its column of ids."""
        return _native(self._table)

    def engine(self, given: Engine | None) -> Engine:
        """Return the engine of the caller, or the usual one."""
        return InMemoryEngine() if given is None else given

    def read(self, estimator: Any, most: int | None = None) -> FloatArray:
        """Return one array of the records that are used; refuse what is not finite numbers."""
        array, owners = self.numbers(estimator), self.owners()
        return array if owners is None else used_rows(Batch(array, owners), most, called(self.unit))

    def numbers(self, estimator: Any = None, *, least: int = 1) -> FloatArray:
        """Return all records as one array; refuse what is not finite numbers."""
        if self._schema is None:
            return numbers_of(self._table, estimator, least=least)
        if least:
            refuse_none(self._table.shape[0], estimator)
        is_plain = isinstance(self._table, nw.DataFrame | np.ndarray)
        return encode(self._table if is_plain else to_array(self._table), self._schema, self._found.names)

    def owners(self) -> Owners | None:
        """Return the owner of each row, if that is known."""
        if isinstance(self._groups, str):
            return owners_of(self._whole.get_column(self._groups), called(self._groups))
        return None if self._groups is None else owners_of(self._groups)

    def matching(self, estimator: Any) -> Self:
        """Refuse a table whose columns are not those of the fit, as scikit-learn does."""
        if self._schema is not None:
            return super().matching(estimator)
        validate_data(estimator, _native(self._table), reset=False, skip_check_array=True)
        return self

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of all records."""
        return function(self.numbers(estimator))


def _without(table: Any, name: str) -> Any:
    """Return a frame without the column of ids."""
    if not isinstance(table, nw.DataFrame):
        raise InvalidTypeError(
            "groups can be the name of a column only where X has names: a data frame, files, or DataFiles."
        )
    if name not in table.columns:
        raise InvalidParameterError(f"groups must name a column of X, got {name!r}.")
    return table.drop(name)


def _index_of(X: Any) -> Any:
    """Return the index of a frame or a series that has one, or None."""
    opened = nw.from_native(X, pass_through=True, allow_series=True)
    return nw.maybe_get_index(opened) if isinstance(opened, nw.DataFrame | nw.Series) else None


@without_sizes()
def open_table(X: Any, *, described: bool = False) -> Any:
    """Return X as a two-dimensional array or frame, without looking at its values.

    Where its columns are ``described``, they need not be numbers.
    """
    if isinstance(X, np.ma.MaskedArray):
        raise InvalidTypeError("X must not be a masked array. Fill the masked values, record by record.")
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        raise InvalidParameterError("X must have distinct column names.") from None
    if isinstance(frame, nw.LazyFrame):
        raise InvalidTypeError("X is a lazy frame; collect() it first.")
    if isinstance(frame, nw.DataFrame):
        return frame
    array = X if hasattr(X, "shape") else _open_array(X, as_objects=described)
    if not described:
        check_kind(array)
    if len(array.shape) != 2:
        raise InvalidParameterError(
            f"X must have two dimensions, (n_samples, n_features), got {len(array.shape)}. "
            "Reshape your data: X.reshape(-1, 1) if it is one column (a series: X.to_frame()), "
            "X.reshape(1, -1) if it is one record."
        )
    return array


def _open_array(X: Any, *, as_objects: bool) -> Any:
    try:
        array = _objects_in(X) if as_objects else _numbers_in(X)
    except (TypeError, ValueError):
        raise InvalidParameterError("X must be a table: its rows have different lengths.") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        raise InvalidTypeError(
            f"X must be an array or a data frame, got {type(X).__name__}. Make it one, such as by "
            "pandas.DataFrame(X)."
        )
    return array


def _numbers_in(X: Any) -> Any:
    """Return rows as an array; of objects where NumPy has no type for all of them, and quotes a value."""
    try:
        return np.asarray(X)
    except (OverflowError, RuntimeError):
        return _objects_in(X)


def _objects_in(X: Any) -> Any:
    """Return rows as an array of their objects: NumPy would look into values that are sequences, too."""
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return np.asarray(X, dtype=object)
    columns = [np.fromiter(column, dtype=object, count=len(X)) for column in zip(*X, strict=True)]
    return np.stack(columns, axis=1) if columns else np.empty((len(X), 0), dtype=object)


def _native(table: Any) -> Any:
    return table.to_native() if isinstance(table, nw.DataFrame) else table
