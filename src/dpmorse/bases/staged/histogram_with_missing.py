"""The histograms of one or two columns where values are missing: each record is counted once, by what it has.

A record that has all its numbers is counted in a cell of the plane, one that has one of two in a cell of a
line, one that has none in a cell of its own. All are cells of one histogram: on each axis one more cell,
after those of the values, holds the records whose value is missing.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.binned_em import fit_cells
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.joint_histogram import (
    HALVINGS,
    FarCells,
    Grid,
    Line,
    bits_for,
    count_codes,
    times_halved,
)
from dpmorse.bases.staged.outskirts import halvings_for, outskirts_of
from dpmorse.bases.staged.regime import HISTOGRAM, OUTSKIRTS
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.bases.staged.units import OUTER, Units
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes, Domain
from dpmorse.typing import FloatArray, IntArray

_AWAY = 4.0
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
    bits = max(halvings, math.ceil(bits_for(n_components) / layout.n_numbers))
    return math.prod(_sides(layout, 1 << bits))


def release_histograms(
    queries: Queries, units: Units, layout: Layout, plan: Plan[StagedSettings], rng: np.random.Generator
) -> tuple[Units, Estimates]:
    """Spend the stages of histograms; return units whose box holds far clusters, and components in them."""
    far, fine, n_components = None, plan[HISTOGRAM], plan.settings.n_components
    if OUTSKIRTS in plan:
        units, far = _outskirts(queries, units, layout, plan[OUTSKIRTS])
    n_wanted = units.n_records / queries.noise_of_counts(fine.cost)
    bits = times_halved(n_wanted, layout.n_numbers, n_components, HALVINGS)
    counted = _count(queries, units, layout, fine, bits)
    cells = counted.grid.cells(n_components, far)
    return units, fit_cells(cells, units, n_components, rng, counted.lines)


def _outskirts(queries: Queries, units: Units, layout: Layout, stage: Stage) -> tuple[Units, FarCells]:
    bits = halvings_for(queries, units, stage)
    return outskirts_of(_count(queries, units.widened(OUTER), layout, stage, bits).grid, units)


def _count(queries: Queries, units: Units, layout: Layout, stage: Stage, bits: int) -> Counted:
    """Release the counts of the cells of the units' box, halved so often, and of missing values.

    **Privacy.** The cell of a record depends on that record and on released units only, and each record is in
    one cell: ``GroupCounts`` says what the release costs.
    """
    codes = codes_with_missing(layout, units.domain, bits)
    counts, stddev = count_codes(queries, codes, places_with_missing(layout, bits), stage)
    return _counted(counts.reshape(_sides(layout, 1 << bits)), 1 << bits, units.radius * _ROOM, stddev)


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
    sides = _sides(layout, side)
    places = np.indices(sides).reshape(len(sides), -1).T
    return np.where(places < side, places + side // 2, 2 * side - 1)


def _sides(layout: Layout, side: int) -> tuple[int, ...]:
    return tuple(side + (j in layout.holes) for j in range(layout.n_numbers))


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
