"""Whose record each row is, and batches of both. Errors name the column and types, no value and no number."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from dpmorse.engine import HashArray
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.names import looks_like_a_value
from dpmorse.records.persons._kernels import hash_rows
from dpmorse.records.persons.ids import Ids
from dpmorse.typing import FloatArray, IntArray

STORE = "Store ids as whole numbers (such as int64) or as text."

_ROWS_AT_A_TIME = 1 << 16
"""Rows that are converted from single to double precision at a time for hashing, which limits the memory of
the copy."""


@dataclass(frozen=True)
class Owners:
    """Whose record each row is."""

    ids: Ids
    """The distinct owners."""

    places: IntArray
    """Which of them each row has."""

    types: frozenset[str]
    """In what types the ids were stored, for messages."""

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n_bytes(self) -> int:
        """Memory of the ids that is theirs alone: none, since they are in memory with or without batches."""
        return 0

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

    @property
    def n_bytes(self) -> int:
        """Memory that is held as long as a batch is kept."""
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


@dataclass(frozen=True)
class Batch:
    """Checked records that are in memory together and, where rows belong to persons, the owner of each."""

    array: FloatArray
    owners: RowOwners | None = None

    def __post_init__(self) -> None:
        """Refuse more or fewer owners than records."""
        if self.owners is not None:
            check_length(self.owners, len(self.array))

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def owner_hashes(self) -> HashArray:
        """A hash of each row's owner; zeros where rows have no owners."""
        return np.zeros(len(self), dtype=np.uint64) if self.owners is None else self.owners.row_hashes()

    def hashes(self) -> HashArray:
        """Return a hash of each row and its owner; equal numbers in float32 and float64 have the same."""
        hashes, seeds = np.empty(len(self), dtype=np.uint64), self.owner_hashes
        for start in range(0, len(hashes), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            bits = self.array[rows].astype(np.float64, copy=False).view(np.uint64)
            hash_rows(bits, seeds[rows], hashes[rows])
        return hashes


def unit_of(groups: Any) -> str | None:
    """Return the name under which groups were given: that of a column or of a series, or None.

    It is published. Names of other objects are not: that of a Dask array, for one, is a hash of its values.
    Nor is a name that looks like a value: a record may stand in the place of names.
    """
    series = nw.from_native(groups, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        groups = series.name
    elif hasattr(groups, "dask") and hasattr(groups, "to_delayed"):  # a Dask series has an empty one inside
        groups = getattr(getattr(groups, "_meta", None), "name", None)
    named = isinstance(groups, str) and groups.strip() and not looks_like_a_value(groups)
    return groups if named else None


def called(unit: str | None) -> str:
    """Return what ids are called in messages."""
    return "groups" if unit is None else f"the column {unit!r}"


def check_spelling(ids: Ids, types: Iterable[str], name: str) -> None:
    """Refuse ids of which two are one number, such as 7 and "007": they may be one person, or two."""
    if ids.spell_a_number_twice():
        stored = " and ".join(sorted(types))
        raise InvalidParameterError(
            f"{name} writes one number in two ways ({stored}; such as with and without leading zeros, or as "
            f"7 and 7.0), so that one person might count as two. {STORE} Use one spelling for each id."
        )
