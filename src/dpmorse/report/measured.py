"""What was released about clusters, and which columns of it a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpmorse.profiles import (
    AnyProfile,
    Caution,
    ClusterTable,
    Profile,
    TableProfile,
    cautions_of,
    group_table,
    mixed_cautions_of,
    mixed_table,
)
from dpmorse.report.columns import ShownColumn
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray, IntArray

_VALUES_AT_A_TIME = 1_000_000
"""Groups times components times columns in one call, which limits the memory it takes."""

_CALLED = "this cluster"
"""How a note calls the cluster beside which it stands."""


@dataclass(frozen=True)
class Measured:
    """What was released about clusters, and the columns that are shown.

    Attributes
    ----------
    profile : Profile or TableProfile
        What was released about the components.
    columns : list of ShownColumn
        All columns of the table.
    shown : ndarray of int
        Places of those that are shown, in order.
    schema : Schema or None
        What the columns of a table are; None for numbers alone.
    """

    profile: AnyProfile
    columns: Sequence[ShownColumn]
    shown: IntArray
    schema: Schema | None = None

    def table(self, members: FloatArray) -> ClusterTable:
        """Return the table of groups of components."""
        if isinstance(self.profile, TableProfile):
            return mixed_table(self.profile, members)
        return group_table(self.profile, members)

    def cautions(self, table: ClusterTable, called: str = _CALLED) -> list[Caution]:
        """Return what must be said about it; columns are those of the whole table."""
        if isinstance(self.profile, TableProfile) and self.schema is not None:
            return mixed_cautions_of(table, self.profile, self.schema, called)
        numbers = self.profile if isinstance(self.profile, Profile) else None
        return cautions_of(table, numbers, [column.name for column in self.columns], called)

    @property
    def shown_columns(self) -> list[ShownColumn]:
        """The columns that are shown."""
        return [self.columns[place] for place in self.shown]

    def parts(self, members: FloatArray) -> list[FloatArray]:
        """Divide groups so that the table of each part fits in memory."""
        size = max(1, _VALUES_AT_A_TIME // (self.profile.n_components * max(len(self.columns), 1)))
        return [members[start : start + size] for start in range(0, len(members), size)]

    def numbers(self) -> list[int]:
        """Places, among the numbers, of those that are shown."""
        return [column.place for column in self.shown_columns if column.is_number]

    def missing_place(self, column: ShownColumn) -> int:
        """Return where the part of missing values is: numbers come first, then categories."""
        n_numbers = sum(other.is_number for other in self.columns)
        return column.place if column.is_number else n_numbers + column.place

    def level_places(self, column: ShownColumn) -> range:
        """Return where the levels of a category are among all levels."""
        before = (other for other in self.columns if not other.is_number and other.place < column.place)
        start = sum(len(other.levels) for other in before)
        return range(start, start + len(column.levels))
