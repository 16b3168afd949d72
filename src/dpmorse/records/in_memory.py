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
from dpmorse.records.base import Columns, Function
from dpmorse.typing import FloatArray

_FLOATS = [np.float64, np.float32]
REPLACE = "Replace such values record by record, by a rule that does not look at other records."
_NOT_NUMBERS = "USVmM"  # NumPy kinds of text, raw bytes, dates and durations


class Table:
    """An array or a frame."""

    def __init__(self, X: Any) -> None:
        self._table = open_table(X)
        self.columns = Columns(_native(self._table))

    def engine(self, given: Engine | None) -> Engine:
        """Return the engine of the caller, or the usual one."""
        return InMemoryEngine() if given is None else given

    def read(self, estimator: Any) -> FloatArray:
        """Return one array; refuse what is not finite numbers."""
        return numbers_of(self._table, estimator)

    def matching(self, estimator: Any) -> "Table":
        """Refuse a table whose columns are not those of the fit, as scikit-learn does."""
        validate_data(estimator, _native(self._table), reset=False, skip_check_array=True)
        return self

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of all records."""
        return function(self.read(estimator))


def open_table(X: Any) -> Any:
    """Return X as a two-dimensional array or frame, without looking at its values."""
    if isinstance(X, np.ma.MaskedArray):
        raise InvalidTypeError("X must not be a masked array. Fill the masked values, record by record.")
    frame = _open_frame(X)
    if frame is not None:
        return frame
    array = X if hasattr(X, "shape") else _open_array(X)
    _check_kind(array)
    if len(array.shape) != 2:
        raise InvalidParameterError(
            f"X must have two dimensions, (n_samples, n_features), got {len(array.shape)}. "
            "Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one record."
        )
    return array


def numbers_of(table: Any, estimator: Any = None, *, least: int = 1) -> FloatArray:
    """Return an opened table as a float32 or float64 array; refuse what is not finite numbers.

    ``least`` is the smallest number of rows: parts of a larger table may have none.
    """
    is_frame = isinstance(table, nw.DataFrame)
    array = _frame_to_array(table) if is_frame else _objects_to_floats(table)
    records = np.asarray(
        check_array(
            array, dtype=_FLOATS, ensure_all_finite=False, ensure_min_samples=least, estimator=estimator
        )
    )
    check_finite(records, list(table.columns) if is_frame else list(range(records.shape[1])))
    return records


def check_finite(records: FloatArray, names: list[Any]) -> None:
    """Refuse NaN and infinity, naming their columns."""
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


def _open_array(X: Any) -> Any:
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):
        raise InvalidParameterError("X must be a table: its rows have different lengths.") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        raise InvalidTypeError(f"X must be an array or a data frame, got {type(X).__name__}.")
    return array


def _check_kind(array: Any) -> None:
    kind = getattr(array, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in _NOT_NUMBERS:
        raise InvalidTypeError(f"X must hold numbers, got dtype {kind}.")
    if isinstance(kind, np.dtype) and kind.kind == "c":
        raise InvalidParameterError("Complex data not supported: X must hold real numbers.")


def _to_array(X: Any) -> Any:
    """Refuse a matrix that NumPy takes for one object, such as a sparse one of another library."""
    array = np.asarray(X)
    _check_kind(array)
    if array.ndim != 2:
        raise InvalidTypeError(f"X must be an array or a data frame, got {type(X).__name__}.")
    return array


def _native(table: Any) -> Any:
    return table.to_native() if isinstance(table, nw.DataFrame) else table


def _objects_to_floats(array: Any) -> Any:
    """Convert Python objects ourselves: NumPy's and scikit-learn's errors would quote them."""
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
    names = list(frame.columns)
    columns = [frame.get_column(name) for name in names]
    kinds = [column.dtype for column in columns]
    odd = [name for name, kind in zip(names, kinds, strict=True) if not _is_number(kind)]
    if odd:
        raise InvalidTypeError(f"X must hold numbers; these columns do not: {listed(odd)}.")
    missing = [name for name, column in zip(names, columns, strict=True) if column.null_count() > 0]
    if missing:
        raise InvalidParameterError(f"X has missing values in the columns {listed(missing)}. {REPLACE}")
    single = all(kind == nw.Float32 for kind in kinds)
    array: FloatArray = frame.select(nw.all().cast(nw.Float32 if single else nw.Float64)).to_numpy()
    return array


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric()) or kind == nw.Boolean


def listed(names: list[Any]) -> str:
    """Show a few names."""
    return ", ".join(repr(name) for name in names[:5])
