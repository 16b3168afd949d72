"""In one or two columns: how far out clusters lie, by a coarse histogram, before the fine one is counted.

The units' ball holds most records, and presses a far cluster against its surface, where it cannot be told
from a tail. Here records are counted in a ball four times as large. A region of cells that stand out and are
not joined to the heaviest region is a cluster; where it lies outside the units' ball, the fine histogram is
counted in a ball that holds it, up to four times as large. A tail is joined to its cluster, and stays
pressed.
"""

import numpy as np
from scipy.ndimage import label

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.joint_histogram import FarCells, Grid, count_cells
from dpmorse.bases.staged.units import OUTER, Units
from dpmorse.typing import BoolArray, FloatArray

HALVINGS = (5, 6)
"""Times that a column is halved, where records are few and where they are many: cells of three quarters, or
three eighths, of a standard deviation. In the wider ones few records stand out, but clusters less than two
cells apart are joined."""

_MANY = 250.0
"""Records, in standard deviations of a count's noise, from which on there are many."""


_MARGIN = 2.0
"""Coarse cells beyond the outermost one of a far cluster that the ball holds: its tails stand out in none."""


def largest_n_cells(n_columns: int) -> int:
    """Return the largest number of coarse cells."""
    return 1 << HALVINGS[1] * n_columns


def release_outskirts(queries: Queries, units: Units, stage: Stage) -> tuple[Units, FarCells]:
    """Spend a stage on a coarse histogram; return where clusters lie apart, and units that hold them."""
    bits = halvings_for(queries, units, stage)
    grid = count_cells(queries, units.widened(OUTER), stage, (bits, bits))
    return outskirts_of(grid, units)


def halvings_for(queries: Queries, units: Units, stage: Stage) -> int:
    """Return how often a column is halved: by whether records are many."""
    many = units.n_records > _MANY * queries.noise_of_counts(stage.cost)
    return HALVINGS[int(many)]


def outskirts_of(grid: Grid, units: Units) -> tuple[Units, FarCells]:
    """Return where clusters lie apart in a released grid of the outer ball, and units that hold them."""
    distance = np.linalg.norm(grid.centres, axis=-1).reshape(grid.shape)
    far = _apart(grid.occupied, grid.smooth) & (distance + grid.width / 2 > units.radius)
    reach = float(distance[far].max(initial=0.0)) + _MARGIN * grid.width
    wide = units.widened(min(reach / units.radius, OUTER)) if far.any() else units
    return wide, FarCells(far, grid.width)


def _apart(occupied: BoolArray, counts: FloatArray) -> BoolArray:
    """Return the cells of all regions that stand out but the heaviest."""
    regions, n = label(occupied, structure=np.ones((3,) * occupied.ndim))
    if n == 0:
        return occupied
    heaviest = 1 + np.bincount(regions.ravel(), counts.ravel(), n + 1)[1:].argmax()
    apart: BoolArray = occupied & (regions != heaviest)
    return apart
