"""Exact sums over a NumPy array: chunks of rows, threads, one compiled pass, no copy of the array."""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import local
from typing import TypeVar

import numpy as np

from dpmorse import _validate
from dpmorse._progress import counter
from dpmorse._threads import available_cores
from dpmorse.engine._kernels import BLOCK, LANES, count_pass, hard_pass, soft_pass
from dpmorse.engine._layout import (
    Measured,
    Rule,
    SoftScratch,
    Span,
    Totals,
    padded,
)
from dpmorse.engine._rules import NO_GRID, grid_of, nearest_cell, padded_rule
from dpmorse.engine.base import Cells, LabelledCells, Moments, add_up, check_cells, spans
from dpmorse.privacy.exact import Exact, sealed
from dpmorse.statistics import (
    BIN_BITS,
    EXP_TABLE,
    GRID_BITS,
    N_BINS,
    TABLE_STEPS_PER_NAT,
    BinaryCodes,
    ExactMoments,
    GaussianCells,
    Histograms,
    MagnitudeHistograms,
    ProfileCells,
    RadiusHistograms,
    SecondMoments,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray

_ROOM = 1 << 19
"""Numbers that a soft pass keeps of the members of all cells, if all records were members of all: 4 MB. Where
cells and columns are many, a block is shorter, but not shorter than ..."""

_SMALLEST_BLOCK = 256
"""... this: loops over fewer records would not pay."""

_T = TypeVar("_T")
_Pass = Callable[[FloatArray, int, int, _T], None]


class _Memory:
    """What is kept between the calls of one pass, and no longer: parts of records are in it."""

    def __init__(self) -> None:
        self._last: tuple[Moments, GaussianCells | ProfileCells, _Pass[Totals]] | None = None

    def prepared(self, statistic: Moments, cells: GaussianCells | ProfileCells) -> "_Pass[Totals]":
        """Prepare what is asked, unless it is what was asked last."""
        last = self._last
        if last is None or last[0] is not statistic or last[1] is not cells:
            if isinstance(cells, ProfileCells) or not statistic.weight_bits:
                chunk_pass = _hard(statistic, cells)
            else:
                chunk_pass = _soft(statistic, cells, local())
            self._last = last = (statistic, cells, chunk_pass)
        return last[2]


@dataclass(frozen=True)
class InMemoryEngine:
    """Sums over an array of shape (n_samples, n_features), float32 or float64, in any memory layout.

    Parameters
    ----------
    chunk_rows : int
        Rows handed to a thread at a time.
    n_threads : int or None
        Threads; None takes every core this process may use.
    """

    chunk_rows: int = 1 << 16
    n_threads: int | None = None
    _memory: _Memory | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the options, which can change speed only."""
        _validate.positive_int(chunk_rows=self.chunk_rows)
        if self.n_threads is not None:
            _validate.positive_int(n_threads=self.n_threads)

    def for_one_pass(self) -> "InMemoryEngine":
        """Return this engine for many calls with one question: what they need is prepared once."""
        return replace(self, _memory=_Memory())

    def reduce(self, records: FloatArray, statistic: Moments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        _check_width(records, statistic.domain.n_columns)
        check_cells(statistic, cells)
        parts = (self._reduce(records[span], statistic, cells) for span in spans(len(records), statistic))
        return sealed(add_up(parts))

    def _reduce(self, records: FloatArray, statistic: Moments, cells: Cells) -> ExactMoments:
        if not isinstance(cells, GaussianCells | ProfileCells):
            return self._reduce_labelled(records, statistic, cells)
        chunk_pass = (self._memory or _Memory()).prepared(statistic, cells)
        parts = self._over_chunks(records, chunk_pass, lambda: _empty_totals(statistic))
        return _combine(parts, statistic)

    def count(self, records: FloatArray, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        if isinstance(statistic, MagnitudeHistograms):
            return sealed(self._count_magnitudes(records, statistic))
        if isinstance(statistic, RadiusHistograms):
            return sealed(self._count_radii(records, statistic))
        _check_width(records, statistic.domain.n_columns)
        grid, shift = grid_of(statistic.domain), GRID_BITS + 1 - BIN_BITS
        shape = (statistic.domain.n_features, N_BINS)

        def chunk_pass(X: FloatArray, start: int, stop: int, counts: IntArray) -> None:
            count_pass(X, start, stop, grid, shift, counts)

        parts = self._over_chunks(records, chunk_pass, lambda: np.zeros(shape, np.int64))
        return sealed(np.sum(parts, axis=0))

    def _count_magnitudes(self, records: FloatArray, statistic: MagnitudeHistograms) -> IntArray:
        _check_width(records, statistic.n_features)
        n_bins = statistic.n_bins

        def chunk_pass(X: FloatArray, start: int, stop: int, counts: IntArray) -> None:
            for j, column in enumerate(statistic.bins(X[start:stop]).T):
                counts[j] += np.bincount(column, minlength=n_bins)

        shape = (statistic.n_features, n_bins)
        counts: IntArray = np.sum(
            self._over_chunks(records, chunk_pass, lambda: np.zeros(shape, np.int64)), axis=0
        )
        return counts

    def _count_radii(self, records: FloatArray, statistic: RadiusHistograms) -> IntArray:
        cells, shape = statistic.cells, (statistic.cells.n_cells, statistic.n_bins)
        _check_width(records, cells.box.n_columns)
        nearest, totals = nearest_cell(cells.ball, cells.partition), _no_totals(cells.box.n_features)
        units = padded_rule(cells.units)
        measured = Measured(grid_of(cells.box), units, np.empty(0), statistic.limits, _all_of(units))

        def chunk_pass(X: FloatArray, start: int, stop: int, counts: IntArray) -> None:
            hard_pass(X, start, stop, nearest, measured, totals, counts)

        parts = self._over_chunks(records, chunk_pass, lambda: np.zeros(shape, np.int64))
        counts: IntArray = np.sum(parts, axis=0)
        return counts

    def tally(self, records: FloatArray, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        _check_width(records, codes.domain.n_columns)

        def chunk_pass(X: FloatArray, start: int, stop: int, found: list[Tally]) -> None:
            chunk = codes.codes(codes.domain.quantise(X[start:stop]))
            found.append(Tally.of(chunk, np.ones(len(chunk), dtype=np.int64), codes.n_bits))

        parts = [part for found in self._over_chunks(records, chunk_pass, list) for part in found]
        none = np.empty(0, dtype=np.int64)
        return sealed(add_up([Tally(none, none, codes.n_bits), *parts]))

    def _reduce_labelled(self, records: FloatArray, statistic: Moments, cells: LabelledCells) -> ExactMoments:
        """Add up counts and sums; sums in float64 are exact below 2^41 rows."""
        plain = not (statistic.of_residuals or statistic.weight_bits)
        if not plain or statistic.second_moments is not SecondMoments.NONE:
            raise ValueError("cells that are only labels have counts and sums of records, nothing else")
        k, d = cells.n_cells, statistic.domain.n_features

        def chunk_pass(X: FloatArray, start: int, stop: int, totals: IntArray) -> None:
            q = statistic.domain.quantise(X[start:stop])
            labels = cells.labels(q)
            q, labels = q[labels >= 0], labels[labels >= 0]
            totals[:, 0] += np.bincount(labels, minlength=k)
            for j in range(d):
                totals[:, 1 + j] += np.bincount(labels, q[:, j], minlength=k).astype(np.int64)

        parts = self._over_chunks(records, chunk_pass, lambda: np.zeros((k, 1 + d), np.int64))
        totals: IntArray = np.sum(parts, axis=0)
        return ExactMoments(totals[:, 0], totals[:, 1:], np.zeros((k, d, 0), np.int64))

    def _over_chunks(self, records: FloatArray, chunk_pass: "_Pass[_T]", empty: Callable[[], _T]) -> list[_T]:
        """Give every thread its share of the chunks; return the totals of each thread."""
        records = np.asarray(records)  # a tensor on the CPU shares its memory, without a copy
        n_threads = max(1, min(-(-len(records) // self.chunk_rows), self.n_threads or available_cores()))
        chunks = _equal_chunks(len(records), self.chunk_rows, n_threads)
        done = counter()

        def add_chunks(first: int) -> _T:
            totals = empty()
            for start, stop in chunks[first::n_threads]:
                chunk_pass(records, start, stop, totals)
                done(stop - start)
            return totals

        with ThreadPoolExecutor(n_threads) as threads:
            others = [threads.submit(add_chunks, i) for i in range(1, n_threads)]
            return [add_chunks(0), *(other.result() for other in others)]  # this thread works as well


def _check_width(records: FloatArray, n_features: int) -> None:
    """Refuse records of another width: compiled code checks no bounds and would read adjacent memory."""
    if records.ndim != 2 or records.shape[1] != n_features:
        raise ValueError("records do not have the columns of the statistic")


def _equal_chunks(n_rows: int, largest: int, n_threads: int) -> list[tuple[int, int]]:
    """Cut rows into chunks of one size, the same number for each thread, so that all finish together."""
    n_chunks = n_threads * max(1, -(-n_rows // (largest * n_threads)))
    cuts = [n_rows * i // n_chunks for i in range(n_chunks + 1)]
    return [(start, stop) for start, stop in itertools.pairwise(cuts) if start < stop]


def _hard(statistic: Moments, cells: GaussianCells | ProfileCells) -> _Pass[Totals]:
    no_limits, no_lengths = np.empty(0), np.empty((0, 0), np.int64)
    if isinstance(cells, ProfileCells):
        nearest, steps = nearest_cell(cells.ball, cells.partition), _residual_steps(statistic, cells.units)
        units = padded_rule(cells.units)
        measured = Measured(grid_of(cells.box), units, steps, no_limits, _whitened(statistic))
    else:
        nearest, steps = nearest_cell(statistic.domain, cells), _residual_steps(statistic, cells)
        measured = Measured(NO_GRID, nearest.exact, steps, no_limits, _whitened(statistic))

    def chunk_pass(X: FloatArray, start: int, stop: int, totals: Totals) -> None:
        hard_pass(X, start, stop, nearest, measured, totals, no_lengths)

    return chunk_pass


def _soft(statistic: Moments, cells: GaussianCells, memory: local) -> _Pass[Totals]:
    nearest = nearest_cell(statistic.domain, cells)
    beyond = np.array([EXP_TABLE.size / TABLE_STEPS_PER_NAT, 0.0], np.float32)
    nearest = nearest._replace(bound=nearest.bound + np.float32(1.001) * beyond)
    steps, table = _residual_steps(statistic, cells), np.append(EXP_TABLE, 0.0)
    whitened = _whitened(statistic)

    def chunk_pass(X: FloatArray, start: int, stop: int, totals: Totals) -> None:
        scratch = _scratch(memory, *nearest.exact.offsets.shape)
        soft_pass(X, start, stop, nearest, cells.steps_per_score, table, steps, whitened, scratch, totals)

    return chunk_pass


def _scratch(memory: local, n_cells: int, width: int) -> SoftScratch:
    """Return memory of this thread: what is taken anew for each chunk must be cleared by the system first."""
    if not hasattr(memory, "scratch"):
        block = max(_SMALLEST_BLOCK, min(BLOCK, _ROOM // (n_cells * width) // LANES * LANES))
        memory.scratch = SoftScratch.of(n_cells, width, block)
    scratch: SoftScratch = memory.scratch
    return scratch


def _residual_steps(statistic: Moments, cells: GaussianCells) -> FloatArray:
    """Return the steps of residuals, none where the records themselves are added up."""
    return cells.residual_steps if statistic.of_residuals else np.empty(0)


def _whitened(statistic: Moments) -> Span:
    return statistic.measured.start, statistic.measured.stop


def _all_of(rule: Rule) -> Span:
    return 0, rule.offsets.shape[1]


def _empty_totals(statistic: Moments) -> Totals:
    n_products = 0 if statistic.second_moments is SecondMoments.NONE else padded(statistic.measured.stop)
    return _totals(statistic.n_cells, padded(statistic.domain.n_features), n_products)


def _no_totals(n_features: int) -> Totals:
    return _totals(0, padded(n_features), 0)


def _totals(k: int, width: int, n_products: int) -> Totals:
    shapes = ((k,), (k, width), (k, width, n_products))
    return Totals(*(np.zeros(shape, np.int64) for shape in shapes))


def _combine(parts: Sequence[Totals], statistic: Moments) -> ExactMoments:
    counts, sums, second = (np.sum([part[i] for part in parts], axis=0) for i in range(3))
    used, squared = slice(statistic.domain.n_features), statistic.measured
    return ExactMoments(
        counts, np.ascontiguousarray(sums[:, used]), np.ascontiguousarray(second[:, squared, squared])
    )
