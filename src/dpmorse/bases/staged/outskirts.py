"""In one or two columns: how far out clusters lie, by a coarse histogram, before the fine one is counted.

The units' ball holds most records, and presses a far cluster against its surface, where it cannot be told
from a tail. Here records are counted in a ball four times as large. A region of cells that stand out and are
not joined to the heaviest region is a cluster; where it lies outside the units' ball, the fine histogram is
counted in a ball that holds it, up to four times as large. A tail is joined to its cluster, and stays
pressed.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.ndimage import label

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import joint_histogram
from dpmorse.bases.staged.binned_em import fit_cells
from dpmorse.bases.staged.joint_histogram import FarCells, Grid, Line, times_halved
from dpmorse.bases.staged.shares import HISTOGRAM, OUTSKIRTS
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.bases.staged.units import OUTER, Units

HALVINGS = (5, 6)
"""Times that a column is halved, where records are few and where they are many: cells of three quarters, or
three eighths, of a standard deviation. In the wider ones few records stand out, but clusters less than two
cells apart are joined."""

_MANY = 250.0
"""Records, in standard deviations of a count's noise, from which on there are many."""

_MARGIN = 2.0
"""Coarse cells beyond the outermost one of a far cluster that the ball holds: its tails stand out in none."""


Count = Callable[[Units, Stage, int], tuple[Grid, Sequence[Line]]]
"""Releases the counts of cells in such units, for a stage, with a column halved so often."""


def release_histograms(
    queries: Queries, units: Units, plan: Plan[StagedSettings], rng: np.random.Generator, count: Count
) -> tuple[Units, Estimates]:
    """Spend the stages of histograms; return units whose box holds far clusters, and components in them."""
    far, fine, n_components = None, plan[HISTOGRAM], plan.settings.n_components
    if OUTSKIRTS in plan:
        coarse = plan[OUTSKIRTS]
        many = units.n_records > _MANY * queries.noise_of_counts(coarse.cost)
        grid, _ = count(units.widened(OUTER), coarse, HALVINGS[int(many)])
        units, far = outskirts_of(grid, units)
    n_wanted = units.n_records / queries.noise_of_counts(fine.cost)
    n_axes = int((units.domain.half_width > 0).sum())
    bits = times_halved(n_wanted, n_axes, n_components, joint_histogram.HALVINGS)
    grid, lines = count(units, fine, bits)
    return units, fit_cells(grid.cells(n_components, far), units, n_components, rng, lines)


def outskirts_of(grid: Grid, units: Units) -> tuple[Units, FarCells]:
    """Return where clusters lie apart in a released grid of the outer ball, and units that hold them."""
    regions, n = label(grid.occupied, structure=np.ones((3,) * grid.occupied.ndim))
    heaviest = 1 + np.bincount(regions.ravel(), grid.smooth.ravel())[1:].argmax() if n else 0
    distance = np.linalg.norm(grid.centres, axis=-1).reshape(grid.occupied.shape)
    far = grid.occupied & (regions != heaviest) & (distance + grid.width / 2 > units.radius)
    reach = float(distance[far].max(initial=0.0)) + _MARGIN * grid.width
    wide = units.widened(min(reach / units.radius, OUTER)) if far.any() else units
    return wide, FarCells(far, grid.width)
