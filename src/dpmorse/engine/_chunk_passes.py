"""What is asked of a chunk of records, prepared for the compiled passes; what a thread needs for it."""

from collections.abc import Callable, Sequence
from threading import local
from typing import Any, TypeVar

import numpy as np

from dpmorse.engine._kernels import BLOCK, LANES, grid_pass, hard_pass, soft_pass
from dpmorse.engine._layout import Measured, SoftScratch, Span, Totals, padded
from dpmorse.engine._rules import NO_GRID, grid_of, nearest_cell, padded_rule
from dpmorse.engine.on_grid import OnGrid
from dpmorse.statistics import (
    EXP_TABLE,
    TABLE_STEPS_PER_NAT,
    CellMoments,
    ExactMoments,
    GaussianCells,
    ProfileCells,
    RadiusHistograms,
    SecondMoments,
)
from dpmorse.typing import FloatArray, IntArray

_ROOM = 1 << 19
"""Numbers that a soft pass keeps of the members of all cells, if all records were members of all: 4 MB. Where
cells and columns are many, a block is shorter, but not shorter than ..."""

_SMALLEST_BLOCK = 256
"""... this: loops over fewer records would not pay."""

_INTEGERS = 1 << 19
"""Integers that a thread makes of records before it adds them up: a megabyte, which stays in its cache, or
those of one block where columns are many."""

_T = TypeVar("_T")

ArrayOrGrid = FloatArray | OnGrid
"""Records as they were given, or as integers."""

ChunkPass = Callable[[Any, int, int, _T], None]
"""Adds the records from one row to another to totals."""


class Memory:
    """What is kept between the calls of one pass, and no longer: parts of records are in it."""

    def __init__(self) -> None:
        self._last: tuple[CellMoments, GaussianCells | ProfileCells, ChunkPass[Totals]] | None = None

    def prepared(self, statistic: CellMoments, cells: GaussianCells | ProfileCells) -> ChunkPass[Totals]:
        """Prepare what is asked, unless it is what was asked last."""
        last = self._last
        if last is None or last[0] is not statistic or last[1] is not cells:
            if isinstance(cells, ProfileCells) or not statistic.weight_bits:
                chunk_pass = _hard(statistic, cells)
            else:
                chunk_pass = _soft(statistic, cells, local())
            self._last = last = (statistic, cells, chunk_pass)
        return last[2]


def _hard(statistic: CellMoments, cells: GaussianCells | ProfileCells) -> ChunkPass[Totals]:
    no_limits, no_lengths = np.empty(0), np.empty((0, 0), np.int64)
    if isinstance(cells, ProfileCells):
        nearest, steps = nearest_cell(cells.ball, cells.partition), _residual_steps(statistic, cells.units)
        units = padded_rule(cells.units)
        measured = Measured(grid_of(cells.box), units, steps, no_limits, _whitened(statistic))
    else:
        nearest, steps = nearest_cell(statistic.domain, cells), _residual_steps(statistic, cells)
        measured = Measured(NO_GRID, nearest.exact, steps, no_limits, _whitened(statistic))

    def chunk_pass(X: Any, start: int, stop: int, totals: Totals) -> None:
        hard_pass(X, start, stop, nearest, measured, totals, no_lengths)

    return chunk_pass


def counting_lengths(statistic: RadiusHistograms) -> ChunkPass[IntArray]:
    """Prepare the counts of lengths in each cell."""
    cells = statistic.cells
    nearest, totals = nearest_cell(cells.ball, cells.partition), _totals(0, padded(cells.box.n_features), 0)
    units = padded_rule(cells.units)
    every = 0, units.offsets.shape[1]
    measured = Measured(grid_of(cells.box), units, np.empty(0), statistic.limits, every)

    def chunk_pass(X: Any, start: int, stop: int, counts: IntArray) -> None:
        hard_pass(X, start, stop, nearest, measured, totals, counts)

    return chunk_pass


def _soft(statistic: CellMoments, cells: GaussianCells, memory: local) -> ChunkPass[Totals]:
    nearest = nearest_cell(statistic.domain, cells)
    beyond = np.array([EXP_TABLE.size / TABLE_STEPS_PER_NAT, 0.0], np.float32)
    nearest = nearest._replace(bound=nearest.bound + np.float32(1.001) * beyond)
    steps, table = _residual_steps(statistic, cells), np.append(EXP_TABLE, 0.0)
    whitened = _whitened(statistic)

    def add(integers: IntArray, start: int, stop: int, totals: Totals) -> None:
        scratch = _scratch(memory, *nearest.exact.offsets.shape)
        soft_pass(
            integers, start, stop, nearest, cells.steps_per_score, table, steps, whitened, scratch, totals
        )

    def chunk_pass(X: Any, start: int, stop: int, totals: Totals) -> None:
        if isinstance(X, OnGrid):
            add(X.integers, start, stop, totals)
            return
        integers = _integers(memory, statistic)
        for begin in range(start, stop, integers.shape[1]):
            end = min(begin + integers.shape[1], stop)
            grid_pass(X, begin, end, nearest.grid, integers, 0)
            add(integers, 0, end - begin, totals)

    return chunk_pass


def _scratch(memory: local, n_cells: int, width: int) -> SoftScratch:
    """Return memory of this thread: what is taken anew for each chunk must be cleared by the system first."""
    if not hasattr(memory, "scratch"):
        block = max(_SMALLEST_BLOCK, min(BLOCK, _ROOM // (n_cells * width) // LANES * LANES))
        memory.scratch = SoftScratch.of(n_cells, width, block)
    scratch: SoftScratch = memory.scratch
    return scratch


def _integers(memory: local, statistic: CellMoments) -> IntArray:
    """Return memory of this thread for the integers of some records."""
    if not hasattr(memory, "integers"):
        n_rows = max(BLOCK, _INTEGERS // statistic.domain.n_features)
        memory.integers = OnGrid.room_for(n_rows, statistic.domain).integers
    integers: IntArray = memory.integers
    return integers


def _residual_steps(statistic: CellMoments, cells: GaussianCells) -> FloatArray:
    """Return the steps of residuals, none where the records themselves are added up."""
    return cells.residual_steps if statistic.of_residuals else np.empty(0)


def _whitened(statistic: CellMoments) -> Span:
    return statistic.measured.start, statistic.measured.stop


def empty_totals(statistic: CellMoments) -> Totals:
    """Return totals of nothing."""
    n_products = 0 if statistic.second_moments is SecondMoments.NONE else padded(statistic.measured.stop)
    return _totals(statistic.n_cells, padded(statistic.domain.n_features), n_products)


def _totals(k: int, width: int, n_products: int) -> Totals:
    shapes = ((k,), (k, width), (k, width, n_products))
    return Totals(*(np.zeros(shape, np.int64) for shape in shapes))


def combined(parts: Sequence[Totals], statistic: CellMoments) -> ExactMoments:
    """Add up the totals of threads, without what pads them."""
    counts, sums, second = (np.sum([part[i] for part in parts], axis=0) for i in range(3))
    used, squared = slice(statistic.domain.n_features), statistic.measured
    return ExactMoments(
        counts, np.ascontiguousarray(sums[:, used]), np.ascontiguousarray(second[:, squared, squared])
    )
