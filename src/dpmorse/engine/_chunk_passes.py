"""What is asked of a chunk of records, prepared for the compiled passes; what a thread needs for it.

Rounds of soft cells are many and of one domain: records may be kept as its integers (``OnGrid``) meanwhile.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import local
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dpmorse.engine._kernels import BLOCK, LANES, count_pass, grid_pass, hard_pass, profile_pass, soft_pass
from dpmorse.engine._layout import SoftScratch, Totals
from dpmorse.engine._rules import counted_of, nearest_cell, numbers_of, padded
from dpmorse.statistics import (
    BIN_BITS,
    EXP_TABLE,
    GRID_BITS,
    TABLE_STEPS_PER_NAT,
    CellMoments,
    ColumnHistograms,
    Domain,
    ExactMoments,
    GaussianCells,
    Histograms,
    ProfileCounts,
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

Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class OnGrid:
    """Records that are integers of a domain.

    Attributes
    ----------
    domain : Domain
        Where they are integers.
    integers : ndarray of shape (n_features, n_records)
        One column after the other, of 16 bits where that is enough.
    """

    domain: Domain
    integers: Integers = field(repr=False)  # records are not shown

    @classmethod
    def room_for(cls, n_records: int, domain: Domain) -> "OnGrid":
        """Return as many records, not yet filled in."""
        return cls(domain, np.empty((domain.n_features, n_records), type_of_integers(domain)))

    def __len__(self) -> int:
        return int(self.integers.shape[1])

    def __getitem__(self, rows: slice) -> "OnGrid":
        return OnGrid(self.domain, np.ascontiguousarray(self.integers[:, rows]))

    def check_asked(self, statistic: CellMoments) -> None:
        """Refuse questions about anything but soft cells of this domain: these are not the records."""
        if not (statistic.weight_bits and self.domain.is_same_as(statistic.domain)):
            raise ValueError("integers of one domain are for soft cells of the same domain")


def type_of_integers(domain: Domain) -> type[np.signedinteger[Any]]:
    """Return the smallest type that holds the integers of a domain."""
    return np.int16 if domain.grid_bits < 15 else np.int32


ArrayOrGrid = FloatArray | OnGrid
"""Records as they were given, or as integers."""

ChunkPass = Callable[[Any, int, int, _T], None]
"""Adds the records from one row to another to totals."""


class Memory:
    """What is kept between the calls of one pass, and no longer: parts of records are in it."""

    def __init__(self) -> None:
        self._last: tuple[CellMoments, GaussianCells, ChunkPass[Totals]] | None = None

    def prepared(self, statistic: CellMoments, cells: GaussianCells) -> ChunkPass[Totals]:
        """Prepare what is asked, unless it is what was asked last."""
        last = self._last
        if last is None or last[0] is not statistic or last[1] is not cells:
            soft = statistic.weight_bits
            chunk_pass = _soft(statistic, cells, local()) if soft else _hard(statistic, cells)
            self._last = last = (statistic, cells, chunk_pass)
        return last[2]


def _hard(statistic: CellMoments, cells: GaussianCells) -> ChunkPass[Totals]:
    nearest = nearest_cell(statistic.domain, cells)
    steps = cells.residual_steps if statistic.of_residuals else np.empty(0)
    whitened = (statistic.measured.start, statistic.measured.stop)

    def chunk_pass(X: Any, start: int, stop: int, totals: Totals) -> None:
        hard_pass(X, start, stop, nearest, steps, whitened, totals)

    return chunk_pass


def counting(statistic: Histograms) -> ChunkPass[IntArray]:
    """Prepare what counts records in bins."""
    if isinstance(statistic, ProfileCounts):
        nearest, counted = nearest_cell(statistic.ball, statistic.rule), counted_of(statistic)
        return lambda X, start, stop, counts: profile_pass(X, start, stop, nearest, counted, counts)
    if isinstance(statistic, ColumnHistograms):
        numbers, shift = numbers_of(statistic), GRID_BITS + 1 - BIN_BITS
        return lambda X, start, stop, counts: count_pass(X, start, stop, numbers, shift, counts)

    def chunk_pass(X: Any, start: int, stop: int, counts: IntArray) -> None:
        for j, column in enumerate(statistic.bins(X[start:stop]).T):
            counts[j] += np.bincount(column, minlength=statistic.n_bins)

    return chunk_pass


def _soft(statistic: CellMoments, cells: GaussianCells, memory: local) -> ChunkPass[Totals]:
    nearest = nearest_cell(statistic.domain, cells)
    beyond = np.array([EXP_TABLE.size / TABLE_STEPS_PER_NAT, 0.0], np.float32)
    nearest = nearest._replace(bound=nearest.bound + np.float32(1.001) * beyond)
    steps = cells.residual_steps if statistic.of_residuals else np.empty(0)
    table, whitened = np.append(EXP_TABLE, 0.0), (statistic.measured.start, statistic.measured.stop)

    def add(integers: IntArray, start: int, stop: int, totals: Totals) -> None:
        if not hasattr(memory, "scratch"):  # what is taken anew must be cleared by the system first
            n_cells, width = nearest.exact.offsets.shape
            block = max(_SMALLEST_BLOCK, min(BLOCK, _ROOM // (n_cells * width) // LANES * LANES))
            memory.scratch = SoftScratch.of(n_cells, width, block)
        per_score, scratch = cells.steps_per_score, memory.scratch
        soft_pass(integers, start, stop, nearest, per_score, table, steps, whitened, scratch, totals)

    def chunk_pass(X: Any, start: int, stop: int, totals: Totals) -> None:
        if isinstance(X, OnGrid):
            add(X.integers, start, stop, totals)
            return
        if not hasattr(memory, "integers"):
            n_rows = max(BLOCK, _INTEGERS // statistic.domain.n_features)
            memory.integers = OnGrid.room_for(n_rows, statistic.domain).integers
        integers = memory.integers
        for begin in range(start, stop, integers.shape[1]):
            end = min(begin + integers.shape[1], stop)
            grid_pass(X, begin, end, nearest.grid, integers, 0)
            add(integers, 0, end - begin, totals)

    return chunk_pass


def empty_totals(statistic: CellMoments) -> Totals:
    """Return totals of nothing."""
    k, width = statistic.n_cells, padded(statistic.domain.n_features)
    n_products = 0 if statistic.second_moments is SecondMoments.NONE else padded(statistic.measured.stop)
    counts, sums = np.zeros(k, np.int64), np.zeros((k, width), np.int64)
    return Totals(counts, sums, np.zeros((k, width, n_products), np.int64))


def combined(parts: Sequence[Totals], statistic: CellMoments) -> ExactMoments:
    """Add up the totals of threads, without what pads them."""
    counts, sums, second = (np.sum(blocks, axis=0) for blocks in zip(*parts, strict=True))
    used, squared = slice(statistic.domain.n_features), statistic.measured
    return ExactMoments(
        counts, np.ascontiguousarray(sums[:, used]), np.ascontiguousarray(second[:, squared, squared])
    )
