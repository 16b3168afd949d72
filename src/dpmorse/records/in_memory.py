"""Records in memory: arrays and data frames of any kind.

Errors here name columns and types, never values, rows or their number: an error message is an output.
"""

from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from dpmorse.engine import Engine, InMemoryEngine
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, refuse_no_columns, refuse_none
from dpmorse.records.batches import Batch
from dpmorse.records.encoding import described, encode
from dpmorse.records.id_values import owners_of
from dpmorse.records.memory import without_sizes
from dpmorse.records.names import listed, shown
from dpmorse.records.owners import Owners, called, unit_of
from dpmorse.records.row_choice import used_rows
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

_FLOATS = [np.float64, np.float32]
"""Types that are used as they are; all others are converted to the first."""

REPLACE = "Replace such values record by record, by a rule that does not look at other records."
"""The advice for missing and infinite values. A rule that looks at other records, such as the mean of a
column, would not be private."""

_LEAVE_OUT_ROWS = (
    'Leave such rows out (X.dropna(), which looks at one row at a time; not with neighboring="replace-one"), '
    "replace such values by a rule that does not look at other records, or say what a missing value means: "
    'columns={"age": Numeric(0, 120, missing="ignore"), ...}.'
)
"""The advice for missing values in a frame."""

_SAY_WHAT = (
    "Leave them out, such as by X.drop(columns=[...]), convert text that holds numbers, or say what all "
    'columns are: columns={"age": Numeric(0, 120), "ward": Nominal(["a", "b"]), "day": Date("2000-01-01", '
    '"2030-01-01")}.'
)
"""The advice for columns of a frame that hold no numbers."""

OTHER_INDEX = (
    "X and groups must have the same index, in the same order: their indices differ, so that rows might be "
    "taken for those of somebody else. Take groups from the same frame as X, or give the name of its column."
)
"""The error about a frame and ids whose indices differ."""

_NOT_NUMBERS = {
    "U": "text",
    "T": "text",
    "S": "bytes",
    "V": "structures or raw bytes",
    "M": "dates",
    "m": "durations",
}
"""NumPy's kinds in words: its own names, such as <U6, reveal the length of the longest value."""


class Table:
    """An array or a frame, and perhaps the owner of each row: values beside it, or one of its columns.

    With a schema, which says what the columns are, its records are encoded.
    """

    def __init__(self, X: Any, groups: Any = None, schema: Schema | None = None) -> None:
        self._whole, self._groups, self._schema = open_table(X, described=schema is not None), groups, schema
        self.check_index_of(groups, slice(None))
        self._table = _without(self._whole, groups) if isinstance(groups, str) else self._whole
        self._found = Columns(_native(self._table))
        self.columns = self._found if schema is None else described(self._found, schema)
        self.unit = unit_of(groups)

    @property
    def owned(self) -> bool:
        """Whether it is known whose record each row is."""
        return self._groups is not None

    def owned_by(self, groups: Any) -> "Table":
        """Return this table with owners; an index on both sides must be the same."""
        return Table(_native(self._whole), groups, self._schema)

    def described_by(self, schema: Schema) -> "Table":
        """Return this table with a schema."""
        return Table(_native(self._whole), self._groups, schema)

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
        return used_rows(Batch(self.numbers(estimator), self.owners()), most, called(self.unit))

    def numbers(self, estimator: Any = None, *, least: int = 1) -> FloatArray:
        """Return all records as one array; refuse what is not finite numbers."""
        if self._schema is None:
            return numbers_of(self._table, estimator, least=least)
        if least:
            refuse_none(self._table.shape[0], estimator)
        is_plain = isinstance(self._table, nw.DataFrame | np.ndarray)
        return encode(self._table if is_plain else _to_array(self._table), self._schema, self._found.names)

    def owners(self) -> Owners | None:
        """Return the owner of each row, if that is known."""
        if isinstance(self._groups, str):
            return owners_of(self._whole.get_column(self._groups), called(self._groups))
        return None if self._groups is None else owners_of(self._groups)

    def matching(self, estimator: Any) -> "Table":
        """Refuse a table whose columns are not those of the fit, as scikit-learn does."""
        if self._schema is None:
            validate_data(estimator, _native(self._table), reset=False, skip_check_array=True)
        else:
            self.columns.check_those_of(estimator)
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
    frame = _open_frame(X)
    if frame is not None:
        return frame
    array = X if hasattr(X, "shape") else _open_array(X, object if described else None)
    if not described:
        _check_kind(array)
    if len(array.shape) != 2:
        raise InvalidParameterError(
            f"X must have two dimensions, (n_samples, n_features), got {len(array.shape)}. "
            "Reshape your data: X.reshape(-1, 1) if it is one column (a series: X.to_frame()), "
            "X.reshape(1, -1) if it is one record."
        )
    return array


@without_sizes()
def numbers_of(table: Any, estimator: Any = None, *, least: int = 1) -> FloatArray:
    """Return an opened table as a float32 or float64 array; refuse what is not finite numbers.

    ``least`` is the smallest number of rows: parts of a larger table may have none.
    """
    is_frame = isinstance(table, nw.DataFrame)
    refuse_no_columns(table.shape[1], estimator)
    array = _frame_to_array(table) if is_frame else _objects_to_floats(table)
    records = np.asarray(
        check_array(
            array, dtype=_FLOATS, ensure_all_finite=False, ensure_min_samples=least, estimator=estimator
        )
    )
    check_finite(records, shown(table.columns) if is_frame else list(range(records.shape[1])))
    return records


def check_finite(records: FloatArray, names: list[Any]) -> None:
    """Refuse NaN and infinity, naming their columns."""
    # The sum of finite numbers is finite, unless it overflows: one fast pass suffices for nearly all records.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(records.sum(dtype=np.float64)):
            return
    for what, found in (("NaN", np.isnan), ("infinity", np.isinf)):
        bad = [name for name, column in zip(names, records.T, strict=True) if found(column).any()]
        if bad:
            raise InvalidParameterError(f"X contains {what} in the columns {listed(bad)}. {REPLACE}")


def _open_frame(X: Any) -> "nw.DataFrame[Any] | None":
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        raise InvalidParameterError("X must have distinct column names.") from None
    if isinstance(frame, nw.LazyFrame):
        raise InvalidTypeError("X is a lazy frame; collect() it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def _open_array(X: Any, kind: Any) -> Any:
    try:
        array = np.asarray(X, dtype=kind)
    except (TypeError, ValueError):
        raise InvalidParameterError("X must be a table: its rows have different lengths.") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        raise InvalidTypeError(
            f"X must be an array or a data frame, got {type(X).__name__}. Make it one, such as by "
            "pandas.DataFrame(X)."
        )
    return array


def _check_kind(array: Any) -> None:
    kind = getattr(array, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in _NOT_NUMBERS:
        raise InvalidTypeError(f"X must hold numbers, got {_NOT_NUMBERS[kind.kind]}. Leave such columns out.")
    if isinstance(kind, np.dtype) and kind.kind == "c":
        raise InvalidParameterError("Complex data not supported: X must hold real numbers.")


def _to_array(X: Any) -> Any:
    """Refuse a matrix that NumPy takes for one object, such as a sparse one of another library."""
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):  # what another library says may quote values
        array = np.empty(())
    _check_kind(array)
    if array.ndim != 2:
        raise InvalidTypeError(f"X must be an array or a data frame, got {type(X).__name__}.")
    return array


def _native(table: Any) -> Any:
    return table.to_native() if isinstance(table, nw.DataFrame) else table


def _objects_to_floats(array: Any) -> Any:
    """Convert Python objects here, because the errors of NumPy and scikit-learn would quote values."""
    if not (isinstance(array, np.ndarray) or issparse(array)):
        array = _to_array(array)
    if not (isinstance(array, np.ndarray) and array.dtype.kind == "O"):
        return array
    try:
        return np.asarray(array).astype(np.float64)
    except OverflowError:
        raise InvalidParameterError("X holds a number too large for a 64-bit float.") from None
    except ValueError:
        raise InvalidParameterError("X must hold numbers; some of its objects are not.") from None
    except TypeError:
        message = "X must hold numbers: an object's float() argument must be a string or a real number."
        raise InvalidTypeError(message) from None


def _frame_to_array(frame: "nw.DataFrame[Any]") -> FloatArray:
    """Return a frame of numeric columns without missing values as one array."""
    columns = [frame.get_column(name) for name in frame.columns]
    odd = [not _is_number(column.dtype) for column in columns]
    if any(odd):
        raise InvalidTypeError(
            f"X must hold numbers; these columns do not: {_listed_where(odd, frame)}. {_SAY_WHAT}"
        )
    missing = [column.null_count() > 0 for column in columns]
    if any(missing):
        raise InvalidParameterError(
            f"X has missing values in the columns {_listed_where(missing, frame)}. {_LEAVE_OUT_ROWS}"
        )
    single = all(column.dtype == nw.Float32 for column in columns)
    kind = nw.Float32 if single else nw.Float64
    try:
        array: FloatArray = frame.select(nw.all().cast(kind)).to_numpy()
    except (TypeError, ValueError):  # pyarrow refuses, and quotes, integers that a float has to round
        array = np.column_stack([column.to_numpy().astype(np.float64) for column in columns])
    return array


def _listed_where(found: list[bool], frame: "nw.DataFrame[Any]") -> str:
    return listed([name for name, is_so in zip(shown(frame.columns), found, strict=True) if is_so])


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric()) or kind == nw.Boolean
