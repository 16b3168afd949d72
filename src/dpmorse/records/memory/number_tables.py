"""Tables of numbers without a schema, in memory, as one array of floats: each value by itself.

Errors name columns and types, never values, rows or their number.
"""

from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import refuse_no_columns
from dpmorse.records.foreign_errors import without_sizes
from dpmorse.records.names import listed, shown
from dpmorse.records.values import SeriesValues
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

_NOT_NUMBERS = {
    "U": "text",
    "T": "text",
    "S": "bytes",
    "V": "structures or raw bytes",
    "M": "dates",
    "m": "durations",
}
"""NumPy's kinds in words: its own names, such as <U6, reveal the length of the longest value."""


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


def check_kind(array: Any) -> None:
    """Refuse an array whose type says that it holds no real numbers."""
    kind = getattr(array, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in _NOT_NUMBERS:
        raise InvalidTypeError(f"X must hold numbers, got {_NOT_NUMBERS[kind.kind]}. Leave such columns out.")
    if isinstance(kind, np.dtype) and kind.kind == "c":
        raise InvalidParameterError("Complex data not supported: X must hold real numbers.")


def to_array(X: Any) -> Any:
    """Refuse a matrix that NumPy takes for one object, such as a sparse one of another library."""
    if issparse(X):
        raise InvalidTypeError("X must be dense: sparse data are not supported. Hint: X.toarray().")
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):  # what another library says may quote values
        array = np.empty(())
    check_kind(array)
    if array.ndim != 2:
        raise InvalidTypeError(f"X must be an array or a data frame, got {type(X).__name__}.")
    return array


def _objects_to_floats(array: Any) -> Any:
    """Convert Python objects here, because the errors of NumPy and scikit-learn would quote values."""
    if not (isinstance(array, np.ndarray) or issparse(array)):
        array = to_array(array)
    if not (isinstance(array, np.ndarray) and array.dtype.kind == "O"):
        return array
    try:
        return np.asarray(array).astype(np.float64)
    except OverflowError:
        raise InvalidParameterError("X holds a number too large for a 64-bit float.") from None
    except (RuntimeError, ValueError):
        raise InvalidParameterError("X must hold numbers; some of its objects are not.") from None
    except TypeError:
        message = "X must hold numbers: an object's float() argument must be a string or a real number."
        raise InvalidTypeError(message) from None


def _frame_to_array(frame: "nw.DataFrame[Any]") -> FloatArray:
    """Return a frame of numeric columns without missing values as one array."""
    columns = [frame.get_column(name) for name in frame.columns]
    odd = [not (column.dtype.is_numeric() or column.dtype == nw.Boolean) for column in columns]
    if any(odd):
        raise InvalidTypeError(
            f"X must hold numbers; these columns do not: {_listed_where(odd, frame)}. {_SAY_WHAT}"
        )
    missing = [column.null_count() > 0 for column in columns]
    if any(missing):
        raise InvalidParameterError(
            f"X has missing values in the columns {_listed_where(missing, frame)}. {_LEAVE_OUT_ROWS}"
        )
    if all(column.dtype in (nw.Float32, nw.Float64) for column in columns):
        array: FloatArray = frame.to_numpy()
        if array.dtype.kind == "f":  # floats of pandas that can be missing come as objects
            return array
    filled = np.empty((len(frame), len(columns)), order="F")
    for j, column in enumerate(columns):
        filled[:, j] = SeriesValues(column).floats()  # its type says by what rule, whatever its values are
    return filled


def _listed_where(found: list[bool], frame: "nw.DataFrame[Any]") -> str:
    return listed([name for name, is_so in zip(shown(frame.columns), found, strict=True) if is_so])
