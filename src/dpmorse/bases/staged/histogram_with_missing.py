"""The histograms of one or two columns where values are missing: each record is counted once, by what it has.

A record that has all its numbers is counted in a cell of the plane, one that has one of two in a cell of a
line, one that has none in a cell of its own. All are cells of one histogram: on each axis one more cell,
after those of the values, holds the records whose value is missing.
"""

from collections.abc import Sequence

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.joint_histogram import Grid, Line, count_codes, sides_of
from dpmorse.bases.staged.units import Units
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes, Domain
from dpmorse.typing import IntArray

_AWAY = 4.0
"""What a missing value adds to its coordinate, which is from -1 to 1: it ends beyond all cells of values."""

_ROOM = 1 + 2.0**-11
"""Half-width of the cells of values: records that are clipped to 1 are in the last of them, not beyond."""


def count_with_missing(
    queries: Queries, units: Units, layout: Layout, stage: Stage, bits: int
) -> tuple[Grid, Sequence[Line]]:
    """Release the counts of the cells of the units' box, halved so often, and of missing values.

    Return those of the records that have all numbers, and of those that have one of two.

    **Privacy.** The cell of a record depends on that record and on released units only, and each record is in
    one cell: ``GroupCounts`` says what the release costs.
    """
    codes, side, reach = codes_with_missing(layout, units.domain, bits), 1 << bits, units.radius * _ROOM
    released, stddev = count_codes(queries, codes, places_with_missing(layout, bits), stage)
    counts = released.reshape(sides_of(layout, side))
    whole = Grid.of(counts[(slice(side),) * counts.ndim], reach, stddev)
    if counts.ndim == 1:
        return whole, ()
    lines = [
        Line(axis, Grid.of(missing[:side, side], reach, stddev))
        for axis, missing in enumerate((counts, counts.T))
        if missing.shape[1] > side
    ]
    return whole, lines


def codes_with_missing(layout: Layout, box: Domain, bits: int) -> BinaryCodes:
    """Return the codes of encoded records: ``2^bits`` cells of values on each axis, beyond them missing ones.

    Cells tile twice the box, so that there is room; those outside of it hold nothing else.
    """
    axes = np.zeros((layout.n_numbers, layout.width))
    axes[:, layout.number_part] = np.eye(layout.n_numbers)
    axes[list(layout.holes), range(layout.n_holes)] = _AWAY
    return BinaryCodes.rounded(encoded_domain(layout, box.lower, box.upper), axes, 2 * _ROOM, bits + 1)


def places_with_missing(layout: Layout, bits: int) -> IntArray:
    """Return the places of the counted cells: on each axis those of values, then that of missing ones."""
    side = 1 << bits
    sides = sides_of(layout, side)
    places = np.indices(sides).reshape(len(sides), -1).T
    return np.where(places < side, places + side // 2, 2 * side - 1)
