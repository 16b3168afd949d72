"""Turn what a caller passes as ``groups`` into ids that can be compared exactly.

An id is a whole number or text. A whole number is the same person in every type (int8 to uint64, a
double without a fraction, a decimal, text that writes it in the usual way), so that one person is not counted
as two because a column was stored in two ways. A value that might denote two persons is refused. Errors name
the column and types, never a value or how many there are.

Each value is read by itself: a subclass of int or str, such as an enumeration, is first reduced to its base
type, and values are found again by (type, value). So whose record a row is does not depend on the ids of
other rows, nor on how their classes compare.
"""

import array
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.persons._kernels import number_words
from dpmorse.records.persons.ids import Ids
from dpmorse.records.persons.owners import STORE, Owners
from dpmorse.typing import IntArray

_MISSING = {"NoneType", "NAType", "NaTType"}
"""Names of the types of missing values among Python objects. They are compared by name, because pandas is
optional."""

_INTEGERS, _REALS = (int, np.integer), (float, np.floating, Decimal)
"""Types of ids that are integers, and types that hold integers among other numbers."""

_NO_IDS = (bool, np.timedelta64)
"""Types that are no ids, although they are subclasses of integers in Python or NumPy."""

_MOST_DIGITS = 40
"""Most digits of an integer id. Without a limit, a decimal such as 1E+999999 would become an integer of that
length."""

_KINDS = {"S": "bytes", "M": "dates", "m": "durations", "b": "booleans", "c": "complex numbers"}
"""NumPy's kinds that are no ids, in words: NumPy's own names reveal the width of the longest value."""


def owners_of(groups: Any, name: str = "groups") -> Owners:
    """Read ids from an array, a series, or any sequence; ``name`` is the column's, for messages."""
    series = nw.from_native(groups, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return _of_series(series, name)
    return _of_array(groups if isinstance(groups, np.ndarray) else _as_array(groups, name), name)


def not_ids(name: str, found: str) -> InvalidTypeError:
    """Return the error for values that are no ids."""
    return InvalidTypeError(f"{name} must hold text or whole numbers, one for each row, got {found}. {STORE}")


def _of_series(series: "nw.Series[Any]", name: str) -> Owners:
    kind = series.dtype
    if series.null_count() > 0:
        raise _missing_in(name)
    if kind == nw.Categorical or kind == nw.Enum:  # noqa: PLR1714 - kinds with parts are equal, not in a set
        categories = _listed(series, name)
        if any(isinstance(value, float | np.floating) for value in categories):
            raise _not_exact(name, "floating-point")  # whose original precision is not known
        return _of_objects(categories, name)
    if (kind.is_integer() or kind.is_float()) and "128" not in str(kind):
        values = series.to_numpy()  # nullable integers without nulls may come as objects
        if values.dtype.kind not in "iuf":
            values = np.fromiter(_listed(series, name), dtype=object)
        return _of_array(values, name)
    if kind.is_integer() or kind.is_decimal() or kind in (nw.String, nw.Object, nw.Unknown):
        return _of_objects(_listed(series, name), name)
    raise not_ids(name, str(kind).partition("(")[0])


def _listed(series: "nw.Series[Any]", name: str) -> list[Any]:
    """Return Python objects. The error about bytes that are not UTF-8 would quote them, and is replaced."""
    try:
        return series.to_list()
    except UnicodeError:
        raise not_ids(name, "text that is not UTF-8") from None


def _as_array(groups: Any, name: str) -> Any:
    """Keep every object as it is: NumPy would turn integers of several widths into floating point."""
    if isinstance(groups, array.array | memoryview) or hasattr(groups, "__array__"):
        try:
            return np.asarray(groups)
        except (RuntimeError, TypeError, ValueError):
            raise not_ids(name, type(groups).__name__) from None
    if isinstance(groups, str | bytes | Mapping | AbstractSet) or not isinstance(groups, Iterable):
        raise InvalidTypeError(
            f"{name} must be a sequence with one value for each row of X, or the name of a column, got "
            f"{type(groups).__name__}."
        )
    return np.fromiter(groups, dtype=object)  # does not look into values that are sequences themselves


def _of_array(values: Any, name: str) -> Owners:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidTypeError(f"{name} must not be a masked array: every row must belong to somebody.")
    if values.ndim != 1:
        raise InvalidParameterError(f"{name} must have one dimension, got {values.ndim}.")
    kind = values.dtype.kind
    if kind in "iu":
        return _of_integers(values)
    if kind == "f":
        return _of_integers(_whole(values, name), values.dtype.name)
    if kind in "UOT":
        return _of_objects(values.tolist(), name)
    raise not_ids(name, _KINDS.get(kind, "other values"))


def _of_integers(values: Any, stored: str | None = None) -> Owners:
    types = frozenset({stored or values.dtype.name})
    unsigned = values.dtype.kind == "u" and values.dtype.itemsize == 8
    words = np.ascontiguousarray(values, dtype=np.uint64 if unsigned else np.int64)
    places = np.empty(len(words), dtype=np.int64)
    distinct = words[number_words(words.view(np.uint64), places)]
    if unsigned and (distinct >> np.uint64(63)).any():
        ids, at = Ids.of(distinct.tolist())
        return Owners(ids, at[places], types)
    return Owners(Ids(distinct.astype(np.int64)), places, types)


def _whole(values: Any, name: str) -> IntArray:
    """Return doubles as integers; refuse those beyond 2^53, where two integers are the same double."""
    # nmant stored bits and one implicit bit: all integers below 2^(nmant + 1) are exact, at most 2^53 for
    # longer types.
    if np.isnan(values).any():
        raise _missing_in(name)
    exact = 2.0 ** (min(np.finfo(values.dtype).nmant, 52) + 1)
    if not (np.abs(values) < exact).all() or (values != np.floor(values)).any():
        raise _not_exact(name, values.dtype.name)
    whole: IntArray = values.astype(np.int64)
    return whole


def _of_objects(values: list[Any], name: str) -> Owners:
    kinds = {type(value) for value in values}
    # Looked for before any comparison, which fails for signalling NaN.
    has_nan = any(issubclass(kind, Decimal) for kind in kinds) and any(
        isinstance(value, Decimal) and Decimal.is_nan(value) for value in values
    )
    if has_nan or any(kind.__name__ in _MISSING for kind in kinds):
        raise _missing_in(name)
    if not all(_is_id(kind) for kind in kinds):
        raise not_ids(name, ", ".join(sorted(kind.__name__ for kind in kinds if not _is_id(kind))))
    # The type is part of the key: equal numbers of different types are checked for exactness one by one.
    plain = kinds <= {int, str}  # of which no two are equal
    keys = values if plain else [_typed(value) for value in values]
    distinct = dict.fromkeys(keys)
    ids, places = Ids.of(list(_integers(distinct if plain else (value for _, value in distinct), name)))
    place = dict(zip(distinct, places.tolist(), strict=True))
    rows = np.fromiter(map(place.__getitem__, keys), dtype=np.int64, count=len(keys))
    return Owners(ids, rows, frozenset("text" if issubclass(kind, str) else kind.__name__ for kind in kinds))


def _is_id(kind: type) -> bool:
    return issubclass(kind, (str, *_INTEGERS, *_REALS)) and not issubclass(kind, _NO_IDS)


def _typed(value: Any) -> tuple[type, Any]:
    """Return the base type of an id and its value of that type, whatever its own class does when compared."""
    if isinstance(value, str):
        return str, str.__str__(value)
    if isinstance(value, int):
        return int, int.__int__(value)
    if isinstance(value, np.integer):
        return int, int(value)
    if isinstance(value, float):  # among them NumPy's float64
        return float, float.__float__(value)
    if isinstance(value, Decimal):
        return Decimal, Decimal(value)
    kind = value.dtype.type
    return kind, kind(value)


def _integers(values: Iterable[Any], name: str) -> Iterator[int | str]:
    """Yield numbers of base types as Python's integers, and text as it is."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Decimal):
            yield _of_decimal(value, name)
        elif isinstance(value, int):
            yield _of_decimal(Decimal(value), name)
        else:
            yield int(_whole(np.array([value]), name)[0])


def _of_decimal(value: Decimal, name: str) -> int:
    if not value.is_finite() or value.adjusted() >= _MOST_DIGITS or value != value.to_integral_value():
        raise _not_exact(name, "decimal")
    return int(value)


def _missing_in(name: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name} contains NaN or other missing values: every row must belong to somebody."
    )


def _not_exact(name: str, kind: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name} holds {kind} values that cannot be distinguished exactly from int64 ones: ids must be whole "
        f"numbers, and floating point has all of them only below 2^53 (float32: 2^24). {STORE}"
    )
