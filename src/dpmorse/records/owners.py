"""Whose record each row is: from what a caller passes as ``groups`` to ids that can be compared exactly.

An id is a whole number or text. A whole number is the same person whatever type holds it (int8 to uint64, a
double without a fraction, a decimal, text that spells it in the usual way), so that one person is not counted
as two because a column was stored in two ways. What might stand for two persons is refused. Errors name the
column and types, never a value or how many there are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from dpmorse.engine.seen import HashArray
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records._kernels import number_words
from dpmorse.records.ids import Ids
from dpmorse.typing import IntArray

_MISSING = {"NoneType", "NAType", "NaTType"}  # what stands for a missing value among Python objects
_INTEGERS, _REALS = (int, np.integer), (float, np.floating, Decimal)
_STORE = "Store ids as whole numbers (such as int64) or as text."


@dataclass(frozen=True)
class Owners:
    """Whose record each row is.

    Attributes
    ----------
    ids : Ids
        The distinct owners.
    places : ndarray of shape (n_rows,)
        Which of them each row has.
    types : frozenset of str
        In what types the ids were stored, for messages.
    """

    ids: Ids
    places: IntArray
    types: frozenset[str]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice) -> "Owners":
        used, places = np.unique(self.places[rows], return_inverse=True)
        return Owners(self.ids.take(used), places, self.types)

    def row_hashes(self) -> HashArray:
        """Return the hash of each row's owner."""
        return self.ids.hashes[self.places]

    def exact(self) -> "Owners":
        """Return the ids themselves."""
        return self

    def spread(self, rows: IntArray) -> "Owners":
        """Return owners of more rows, each of them that of a row given by its number."""
        return Owners(self.ids, self.places[rows], self.types)


class RowOwners(Protocol):
    """Whose record each row of a batch is: hashes, for all passes, and ids, for the first one."""

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def row_hashes(self) -> HashArray:
        """Return the hash of each row's owner."""
        ...

    def exact(self) -> Owners:
        """Return the ids themselves."""
        ...


def check_length(owners: RowOwners, n_rows: int) -> None:
    """Refuse more or fewer owners than rows."""
    if len(owners) != n_rows:
        raise InvalidParameterError("groups must have one value for each row of X; the lengths differ.")


def owners_of(groups: Any, name: str = "groups") -> Owners:
    """Read ids from an array, a series, or any sequence; ``name`` is the column's, for messages."""
    series = nw.from_native(groups, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return _of_series(series, name)
    return _of_array(groups if isinstance(groups, np.ndarray) else _as_objects(groups, name), name)


def unit_of(groups: Any) -> str | None:
    """Return the name under which groups were given: that of a column or of a series, or None."""
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def called(unit: str | None) -> str:
    """Return what ids are called in messages."""
    return "groups" if unit is None else f"the column {unit!r}"


def check_spelling(ids: Ids, types: Iterable[str], name: str) -> None:
    """Refuse ids of which two are one number, such as 7 and "007": they may be one person, or two."""
    if ids.spell_a_number_twice():
        stored = " and ".join(sorted(types))
        raise InvalidParameterError(
            f"{name} writes one number in two ways ({stored}; such as with and without leading zeros, or as "
            f"7 and 7.0), so that one person might count as two. {_STORE} Use one spelling for each id."
        )


def _of_series(series: "nw.Series[Any]", name: str) -> Owners:
    kind = series.dtype
    if series.null_count() > 0:
        raise _missing_in(name)
    if kind in {nw.Categorical, nw.Enum}:
        series, kind = series.cast(nw.String), nw.String()
    if kind.is_integer() or kind.is_float():
        return _of_array(_plain(series), name)
    if kind == nw.String or kind.is_decimal() or kind == nw.Object:
        return _of_objects(series.to_list(), name)
    raise _not_ids(name, str(kind).partition("(")[0])


def _plain(series: "nw.Series[Any]") -> Any:
    """Return an array of NumPy's own numbers; nullable integers without nulls may come as objects."""
    values = series.to_numpy()
    return np.array(series.to_list(), dtype=object) if values.dtype.kind not in "iuf" else values


def _as_objects(groups: Any, name: str) -> Any:
    """Keep every object as it is: NumPy would turn integers of several widths into floating point."""
    if hasattr(groups, "__array__"):
        return np.asarray(groups)
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InvalidTypeError(
            f"{name} must be a sequence with one value for each row of X, or the name of a column, got "
            f"{type(groups).__name__}."
        )
    return np.fromiter(groups, dtype=object)  # does not look into values that are sequences themselves


def _of_array(values: Any, name: str) -> Owners:
    if values.ndim != 1:
        raise InvalidParameterError(f"{name} must have one dimension, got {values.ndim}.")
    kind = values.dtype.kind
    if kind in "iu":
        return _of_integers(values)
    if kind == "f":
        return _of_integers(_whole(values, name), values.dtype.name)
    if kind in "UO":
        return _of_objects(values.tolist(), name)
    raise _not_ids(name, {"S": "bytes", "M": "dates", "m": "durations", "b": "booleans"}.get(kind, "others"))


def _of_integers(values: Any, stored: str | None = None) -> Owners:
    types = frozenset({stored or values.dtype.name})
    words = np.ascontiguousarray(values, dtype=np.uint64 if values.dtype == np.uint64 else np.int64)
    places = np.empty(len(words), dtype=np.int64)
    distinct = words[number_words(words.view(np.uint64), places)]
    if distinct.dtype == np.uint64 and (distinct >> np.uint64(63)).any():
        ids, at = Ids.of(distinct.tolist())
        return Owners(ids, at[places], types)
    return Owners(Ids(distinct.astype(np.int64)), places, types)


def _whole(values: Any, name: str) -> IntArray:
    """Return doubles as integers; beyond 2^53, neighbouring integers are one double, and two persons one."""
    if np.isnan(values).any():
        raise _missing_in(name)
    exact = 2.0 ** (min(np.finfo(values.dtype).nmant, 52) + 1)
    if not (np.abs(values) < exact).all() or (values != np.floor(values)).any():
        raise _not_exact(name, values.dtype.name)
    whole: IntArray = values.astype(np.int64)
    return whole


def _of_objects(values: list[Any], name: str) -> Owners:
    kinds = {type(value) for value in values}
    if any(kind.__name__ in _MISSING for kind in kinds):
        raise _missing_in(name)
    if not all(_is_id(kind) for kind in kinds):
        raise _not_ids(name, ", ".join(sorted(kind.__name__ for kind in kinds if not _is_id(kind))))
    distinct = dict.fromkeys(values)
    ids, places = Ids.of(list(_as_integers_and_text(distinct, name)))
    place = dict(zip(distinct, places.tolist(), strict=True))
    rows = np.fromiter(map(place.__getitem__, values), dtype=np.int64, count=len(values))
    return Owners(ids, rows, frozenset("text" if issubclass(kind, str) else kind.__name__ for kind in kinds))


def _is_id(kind: type) -> bool:
    return issubclass(kind, (str, *_INTEGERS, *_REALS)) and kind is not bool


def _as_integers_and_text(values: Iterable[Any], name: str) -> Iterator[int | str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, _INTEGERS):
            yield int(value)
        elif value != value:  # NaN, which is not equal to itself  # noqa: PLR0124
            raise _missing_in(name)
        elif isinstance(value, Decimal):
            yield _of_decimal(value, name)
        else:
            yield int(_whole(np.array([value]), name)[0])


def _of_decimal(value: Decimal, name: str) -> int:
    if not value.is_finite() or value.adjusted() > 40 or value != value.to_integral_value():
        raise _not_exact(name, "decimal")
    return int(value)


def _missing_in(name: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name} contains NaN or other missing values: every row must belong to somebody."
    )


def _not_ids(name: str, found: str) -> InvalidTypeError:
    return InvalidTypeError(
        f"{name} must hold text or whole numbers, one for each row, got {found}. {_STORE}"
    )


def _not_exact(name: str, kind: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name} holds {kind} values that cannot be told apart exactly from int64 ones: ids must be whole "
        f"numbers, and floating point has all of them only below 2^53 (float32: 2^24). {_STORE}"
    )
