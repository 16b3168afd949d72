"""What was released about clusters, and which columns of it a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpmorse.profiles import ClusterTable, ClusterView, Profile, cautions_of, group_table
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
    profile : Profile
        What was released about the components.
    columns : list of ShownColumn
        All columns of the table.
    shown : ndarray of int
        Places of those that are shown, in order.
    schema : Schema
        What the columns are.
    """

    profile: Profile
    columns: Sequence[ShownColumn]
    shown: IntArray
    schema: Schema

    def table(self, members: FloatArray) -> ClusterTable:
        """Return the table of groups of components."""
        return group_table(self.profile, members)

    def view(self, table: ClusterTable) -> ClusterView:
        """Return what people read of a table, with what must be said about it."""
        return ClusterView.of(table, self.schema, cautions_of(table, self.profile, self.schema, _CALLED))

    @property
    def shown_columns(self) -> list[ShownColumn]:
        """The columns that are shown."""
        return [self.columns[place] for place in self.shown]

    def parts(self, members: FloatArray) -> list[FloatArray]:
        """Divide groups so that the table of each part fits in memory."""
        size = max(1, _VALUES_AT_A_TIME // (self.profile.n_components * max(len(self.columns), 1)))
        return [members[start : start + size] for start in range(0, len(members), size)]
