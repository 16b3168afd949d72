"""The histograms of one or two columns where values are missing: each record is counted once, by what it has.

A record that has all its numbers is counted in a cell of the plane, one that has one of two in a cell of a
line, one that has none in a cell of its own. All are cells of one histogram: on each axis one more cell, beside those of
the values, holds the records whose value is missing.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.joint_histogram import HALVINGS, Grid, Line, bits_for, count_codes, times_halved
from dpmorse.bases.staged.units import Units
from dpmorse.bases.tables.encoded import encoded_domain
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes, Domain
from dpmorse.typing import FloatArray

_AWAY = 3.0
"""What a missing value adds to its coordinate, which is from -1 to 1: it ends beyond all cells of values."""

_ROOM = 1 + 2.0**-11
"""Half-width of the cells of values: records that are clipped to 1 are in the last of them, not beyond."""


@dataclass(frozen=True)
class Counted:
    """Counts of the records that have all numbers, and of those that have one of two."""

    grid: Grid
    lines: tuple[Line, ...]


def largest_n_cells(layout: Layout, halvings: int, n_components: int = 1) -> int:
    """Return the largest number of cells, which is released where records are many."""
    d = layout.n_numbers
    bits = max(halvings, -(-bits_for(n_components) // d))
    return int(np.prod(_sides(layout, 1 << bits)))


def count_with_missing(
    queries: Queries,
    units: Units,
    layout: Layout,
    stage: Stage,
    halvings: tuple[int, int] = HALVINGS,
    n_components: int = 1,
) -> Counted:
    """Release the counts of all cells of the units' box, and of missing values; records limit their number.

    **Privacy.** The cell of a record depends on that record and on released units only, and each record is in one
    cell: ``GroupCounts`` says what the release costs.
    """
    n_wanted = units.n_records / queries.noise_of_counts(stage.cost)
    bits = times_halved(n_wanted, layout.n_numbers, n_components, halvings)
    side = 1 << bits
    sides = _sides(layout, side)
    places = np.indices(sides).reshape(len(sides), -1).T
    values = places < side
    # Cells tile twice the box, so that missing values have room; of these cells, those outside hold nothing.
    codes = BinaryCodes.rounded(_domain(layout, units), _axes(layout), 2 * _ROOM, bits + 1)
    counts, stddev = count_codes(queries, codes, np.where(values, places + side // 2, 2 * side - 1), stage)
    return _counted(counts.reshape(sides), side, units.radius * _ROOM, stddev)


def _sides(layout: Layout, side: int) -> tuple[int, ...]:
    return tuple(side + (j in layout.holes) for j in range(layout.n_numbers))


def _domain(layout: Layout, units: Units) -> Domain:
    return encoded_domain(layout, units.domain.lower, units.domain.upper)


def _axes(layout: Layout) -> FloatArray:
    """Return the coordinates of a record: its numbers, moved away where they are missing."""
    axes = np.zeros((layout.n_numbers, layout.width))
    axes[:, layout.number_part] = np.eye(layout.n_numbers)
    axes[list(layout.holes), range(layout.n_holes)] = _AWAY
    return axes


def _counted(counts: FloatArray, side: int, reach: float, stddev: float) -> Counted:
    whole = Grid.of(counts[(slice(side),) * counts.ndim], reach, stddev)
    if counts.ndim == 1:
        return Counted(whole, ())
    lines = [
        Line(axis, Grid.of(missing[:side, side], reach, stddev))
        for axis, missing in enumerate((counts, counts.T))
        if missing.shape[1] > side
    ]
    return Counted(whole, tuple(lines))
