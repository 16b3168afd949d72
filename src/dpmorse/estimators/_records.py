"""From what a user passes as X to an array of records: arrays and data frames of any kind."""

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array, validate_data

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.typing import FloatArray

_FLOATS = [np.float64, np.float32]
_NOT_NUMBERS = "USVmM"  # NumPy kinds of text, raw bytes, dates and durations


def open_table(X: Any) -> Any:
    """Return X as something with a shape, without looking at its values."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    kind = getattr(X, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in _NOT_NUMBERS:
        raise InvalidTypeError(f"X must hold numbers, got dtype {kind}.")
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise InvalidTypeError("X is a lazy frame; collect() it first.")
    return frame if isinstance(frame, nw.DataFrame) else X


def check_records(estimator: Any, table: Any, *, reset: bool) -> FloatArray:
    """Return the records as a float32 or float64 array; refuse what is not finite numbers.

    With ``reset`` the number and names of columns are learnt, otherwise they are compared with those of
    the fit. Error messages name columns, never values or rows.
    """
    if isinstance(table, nw.DataFrame):
        validate_data(estimator, table.to_native(), reset=reset, skip_check_array=True)
        records = check_array(_frame_to_array(table), dtype=_FLOATS, estimator=estimator, input_name="X")
    else:
        try:
            records = validate_data(estimator, table, reset=reset, dtype=_FLOATS)
        except OverflowError as error:
            raise InvalidParameterError("X holds a number too large for a 64-bit float.") from error
    return np.asarray(records)


def _frame_to_array(frame: "nw.DataFrame[Any]") -> FloatArray:
    """Return a frame of numeric columns without missing values as one array."""
    schema = frame.schema
    odd = [name for name, kind in schema.items() if not (kind.is_numeric() or kind == nw.Boolean)]
    if odd:
        raise InvalidTypeError(f"X must hold numbers; these columns do not: {', '.join(map(repr, odd[:5]))}.")
    missing = [name for name in frame.columns if frame[name].null_count() > 0]
    if missing:
        raise InvalidParameterError(
            f"X has missing values in the columns {', '.join(map(repr, missing[:5]))}. "
            "Impute them record by record, or drop the columns."
        )
    single = all(kind == nw.Float32 for kind in schema.values())
    array: FloatArray = frame.select(nw.all().cast(nw.Float32 if single else nw.Float64)).to_numpy()
    return array
