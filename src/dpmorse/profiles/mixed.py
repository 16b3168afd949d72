"""What a fit of a table with categories and holes released about each component, and the table of a cut."""

from dataclasses import dataclass, replace

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles.known import Known
from dpmorse.profiles.levels import LevelProfile, level_table
from dpmorse.profiles.profile import Profile
from dpmorse.profiles.table import ClusterTable, cluster_table, counted_table, group_table
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class TableProfile:
    """Released sums over the records of each component of a table.

    Attributes
    ----------
    levels : LevelProfile
        Numbers of records, and of those with each hole and level.
    numbers : Profile or None
        Sums over the columns that are numbers, of the values that are there; None where there are none. A
        missing number adds nothing: it stands at the component's origin.
    """

    levels: LevelProfile
    numbers: Profile | None

    def __repr__(self) -> str:
        return f"TableProfile(levels={self.levels!r}, numbers={self.numbers!r})"

    def __post_init__(self) -> None:
        """Check that both are about the same records and columns."""
        layout, numbers = self.levels.layout, self.numbers
        if (numbers is None) != (layout.n_numbers == 0):
            raise InvalidParameterError("profile: numbers must be given where there are columns of numbers.")
        if numbers is None:
            return
        if numbers.n_features != layout.n_numbers or not np.array_equal(numbers.counts, self.levels.counts):
            raise InvalidParameterError("profile: numbers and levels must have the same columns and counts.")
        if numbers.count_stddev != self.levels.count_stddev:
            raise InvalidParameterError("profile: numbers and levels must have the same noise of counts.")

    @property
    def counts(self) -> FloatArray:
        """Number of records of each component."""
        return self.levels.counts

    @property
    def count_stddev(self) -> float:
        """Noise of a count."""
        return self.levels.count_stddev

    @property
    def n_components(self) -> int:
        """Number of components."""
        return self.levels.n_components

    @property
    def known(self) -> Known | None:
        """How many values of each number are there; None where none may be missing."""
        layout, holes = self.levels.layout, list(self.levels.layout.holes)
        if not holes:
            return None
        counts = np.tile(self.counts[:, None], layout.n_numbers)
        counts[:, holes] -= self.levels.holes
        stddev = np.full(layout.n_numbers, self.count_stddev)
        stddev[holes] = np.hypot(self.count_stddev, self.levels.level_stddev)
        return Known(counts, stddev)


AnyProfile = Profile | TableProfile
"""What a fit may have released about its components."""


def published_table(
    profile: AnyProfile,
    labels: IntArray,
    *,
    n_clusters: int | None = None,
    level: float = 0.95,
    population: bool = False,
) -> ClusterTable:
    """Return the table of the clusters that components are labelled with; see ``cluster_table``."""
    if isinstance(profile, Profile):
        return cluster_table(profile, labels, n_clusters=n_clusters, level=level, population=population)
    members = np.eye(n_clusters or int(labels.max()) + 1)[labels].T  # (clusters, components)
    return mixed_table(profile, members, level=level, population=population)


def mixed_table(
    profile: TableProfile, members: FloatArray, *, level: float = 0.95, population: bool = False
) -> ClusterTable:
    """Return the table of any groups of components of a table with categories and holes."""
    if profile.numbers is None:
        table = counted_table(profile, members, level=level, population=population)
    else:
        table = group_table(profile.numbers, members, level=level, population=population, known=profile.known)
    return replace(table, levels=level_table(profile.levels, members, level=level, population=population))
