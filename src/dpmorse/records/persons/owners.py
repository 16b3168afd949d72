"""Whose record each row is. Errors name the column and types, never a value or how many there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from dpmorse.engine import HashArray
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.names import looks_like_a_value
from dpmorse.records.persons.ids import Ids
from dpmorse.typing import IntArray

STORE = "Store ids as whole numbers (such as int64) or as text."


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
