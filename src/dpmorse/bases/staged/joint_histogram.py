"""Fourth stage in one or two columns: a histogram of all columns at once.

Where few cells tile the records' ball, all of them can be counted in one release, in which one record changes
one count. The starts and rounds of expectation-maximisation on these counts are post-processing
(``binned_em.py``), so that any number of them costs no budget.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import convolve1d, label

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.units import Units
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes
from dpmorse.typing import BoolArray, FloatArray, IntArray

HALVINGS = (4, 7)
"""The fewest and the most times that a column is halved: 16 to 128 cells. Between these limits an average
cell holds about one standard deviation of noise; finer cells were tried and not kept (docs/default.md)."""

_SMOOTHING = np.array([0.25, 0.5, 0.25])
"""Weights of a cell and its two neighbours along an axis, used to find the cells that hold records. They
lower the noise to sqrt(3/8) = 0.61 of itself per axis."""

SMOOTHED_VARIANCE = 0.5 + 1 / 12
"""What smoothing, and a cell itself, add to the variance of a group along an axis, in squared sides."""

_LEAST_WEIGHT = 1e-3
"""Smallest weight of a cell in k-means, in standard deviations of a smoothed count: weights must be
positive."""

_LOW, HIGH = 2.5, 4.5
"""A region of connected cells holds records if all its smoothed counts exceed the first number of standard
deviations and one of them exceeds the second. Noise alone exceeds 2.5 in one of 160 cells and 4.5 in one of
300,000, of at most 16,384 cells. Lower and higher levels were tried and not kept
(docs/default.md)."""


SIZES = (2, 4)
"""Sides of blocks of cells that are looked at, too, for groups that fill many cells and stand out in none."""

HIGH_OF_BLOCKS = 5.0
"""The higher level for blocks: one of three million exceeds it by noise alone."""


@dataclass(frozen=True)
class Cells:
    """Squares that seem to hold records, in units of z.

    Attributes
    ----------
    centres : ndarray of shape (n_cells, n_axes)
        Their centres, without constant columns.
    counts : ndarray of shape (n_cells,)
        Released counts: unbiased, some of them negative; 0 for cells that do not stand out.
    smooth : ndarray of shape (n_cells,)
        Positive counts that are smoothed over neighbours.
    width : float
        Side of a square.
    stddev : float
        Noise of a count.
    """

    centres: FloatArray
    counts: FloatArray
    smooth: FloatArray
    width: float
    stddev: float


@dataclass(frozen=True)
class Grid:
    """All cells of a histogram, in the order of an array, and which of them seem to hold records.

    ``counts``, ``smooth`` and ``occupied`` have the shape of the array, ``centres`` has a row for each cell.
    """

    centres: FloatArray
    counts: FloatArray
    smooth: FloatArray
    occupied: BoolArray
    width: float
    stddev: float
    smooth_stddev: float

    @classmethod
    def of(cls, counts: FloatArray, reach: float, stddev: float) -> "Grid":
        """Return the grid of released counts, whose cells tile ``[-reach, reach]`` on every axis."""
        side = counts.shape[0]
        smooth, noise = _smoothed(counts, stddev)
        occupied = _occupied(smooth / noise)
        for size in SIZES:
            occupied |= _missed(counts, stddev, size, occupied)
        halves = 2 * np.indices(counts.shape).reshape(counts.ndim, -1).T + 1 - side  # of a width
        centres = (reach / side) * halves.astype(np.float64)
        return cls(centres, counts, smooth, occupied, 2 * reach / side, stddev, noise)

    def cells(self, n_components: int, far: "FarCells | None" = None) -> Cells:
        """Return the cells that stand out, and the heaviest where these are fewer than ``n_components``.

        K-means needs a cell for each component. Cells in ``far`` are taken to hold records, by an earlier
        release.
        """
        occupied, smooth = self.occupied.ravel(), self.smooth.ravel()
        if far is not None:
            occupied = occupied | far.hold(self.centres)
        chosen = occupied.copy()
        if occupied.sum() < n_components:
            chosen[np.argsort(-smooth, kind="stable")[:n_components]] = True
        return Cells(
            self.centres[chosen],
            np.where(occupied, self.counts.ravel(), 0.0)[chosen],
            np.maximum(smooth[chosen], _LEAST_WEIGHT * self.smooth_stddev),
            self.width,
            self.stddev,
        )


@dataclass(frozen=True)
class Line:
    """Counts of the records that have one of two numbers, along that number."""

    axis: int
    grid: Grid


@dataclass(frozen=True)
class FarCells:
    """Coarse cells, around the same centre, in which clusters lie apart from all others.

    A small cluster may fill many fine cells without standing out in any of them.
    """

    far: BoolArray
    width: float

    def hold(self, points: FloatArray) -> BoolArray:
        """Say which points lie in such cells."""
        side = self.far.shape[0]
        places = np.clip(np.floor(points / self.width).astype(np.int64) + side // 2, 0, side - 1)
        held: BoolArray = self.far[tuple(places.T)]
        return held


def largest_n_cells(layout: Layout, halvings: int, n_components: int = 1) -> int:
    """Return the largest number of cells, which is released where records are many."""
    bits = times_halved(1.0, layout.n_numbers, n_components, (halvings, halvings))
    return math.prod(sides_of(layout, 1 << bits))


def sides_of(layout: Layout, side: int) -> tuple[int, ...]:
    """Return the cells along each axis: those of values, and one for missing ones."""
    return tuple(side + (j in layout.holes) for j in range(layout.n_numbers))


def count_cells(queries: Queries, units: Units, stage: Stage, bits: int) -> tuple[Grid, Sequence[Line]]:
    """Release the counts of all cells of the units' ball, whose columns are halved so often; no lines."""
    codes = BinaryCodes.rounded(
        units.domain, np.eye(units.n_features)[units.domain.half_width > 0], 1.0, bits
    )
    sides = (1 << bits,) * codes.n_axes
    counts, stddev = count_codes(queries, codes, np.indices(sides).reshape(len(sides), -1).T, stage)
    return Grid.of(counts.reshape(sides), units.radius, stddev), ()


def count_codes(
    queries: Queries, codes: BinaryCodes, places: IntArray, stage: Stage
) -> tuple[FloatArray, float]:
    """Spend a stage on the counts of the cells at these places on the axes; return their noise too."""
    tallied = queries.tally(stage.step(), codes)
    return queries.group_counts(stage.step(), tallied, codes.at(places), codes.n_bits, cost=stage.cost)


def times_halved(n_wanted: float, n_axes: int, n_components: int, limits: tuple[int, int]) -> int:
    """Return how often to halve a column for about ``n_wanted`` cells, and for one cell per component."""
    bits_of_component = (n_components - 1).bit_length()
    wanted = round(math.log2(max(1.0, n_wanted)) / n_axes)
    return max(int(np.clip(wanted, *limits)), math.ceil(bits_of_component / n_axes))


def _smoothed(counts: FloatArray, stddev: float) -> tuple[FloatArray, float]:
    """Return counts averaged with their neighbours, and their noise."""
    noise = noise_of_smoothed(stddev, counts.ndim)
    for axis in range(counts.ndim):
        counts = convolve1d(counts, _SMOOTHING, axis=axis, mode="constant")
    return counts, noise


def noise_of_smoothed(stddev: float, n_axes: int) -> float:
    """Return the noise of smoothed counts: of a weighted sum s^2 sum_i w_i^2, once for each axis."""
    for _ in range(n_axes):
        stddev *= math.sqrt(float(np.square(_SMOOTHING).sum()))
    return stddev


def _missed(counts: FloatArray, stddev: float, size: int, occupied: BoolArray) -> BoolArray:
    """Return regions of blocks of cells that stand out where no single cell does: groups that fill many."""
    shape = [n for side in counts.shape for n in (side // size, size)]
    blocks = counts.reshape(shape).sum(axis=tuple(range(1, 2 * counts.ndim, 2)))
    smooth, noise = _smoothed(blocks, stddev * math.sqrt(size**counts.ndim))
    held = occupied.reshape(shape).any(axis=tuple(range(1, 2 * counts.ndim, 2)))
    regions, _ = label(
        _occupied(smooth / noise, HIGH_OF_BLOCKS) | held, structure=np.ones((3,) * counts.ndim)
    )
    known = np.unique(regions[held])
    found: BoolArray = (regions > 0) & ~np.isin(regions, known)
    for axis in range(counts.ndim):
        found = np.repeat(found, size, axis=axis)
    return found


def _occupied(excess: FloatArray, high: float = HIGH) -> BoolArray:
    """Return connected regions of cells above a low level that exceed a high level somewhere.

    The high level is above what noise alone reaches in any cell. The tails of a cluster are below that level,
    but they are connected to cells above it.
    """
    regions, _ = label(excess > _LOW, structure=np.ones((3,) * excess.ndim))
    seen = np.unique(regions[excess > high])
    occupied: BoolArray = np.isin(regions, seen[seen > 0])
    return occupied
