"""Exact sums over a NumPy array: chunks of rows, threads, one compiled pass.

The array is not copied. Between rounds of soft cells its integers may be kept, of 16 bits each.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dpmorse import _validate
from dpmorse._progress import counter
from dpmorse._threads import at_once, available_cores, equal_pieces
from dpmorse.engine._chunk_passes import (
    ArrayOrGrid,
    ChunkPass,
    Memory,
    OnGrid,
    combined,
    counting,
    empty_totals,
    type_of_integers,
)
from dpmorse.engine._kernels import grid_pass
from dpmorse.engine._rules import grid_of
from dpmorse.engine.base import Cells, LabelledCells, add_up, check_cells, spans
from dpmorse.privacy.exact import Exact, sealed
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    Domain,
    ExactMoments,
    GaussianCells,
    Histograms,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray

_T = TypeVar("_T")

KEPT_BYTES = 1 << 27
"""Bytes of integers that are kept beside records in memory: eight million records of eight columns. Of more
records integers are made anew in every round, which takes a tenth of its time."""


@dataclass(frozen=True)
class InMemoryEngine:
    """Sums over an array of shape (n_samples, n_features), float32 or float64, in any memory layout.

    Parameters
    ----------
    chunk_rows : int
        Rows handed to a thread at a time.
    n_threads : int or None
        Threads; None takes every core this process may use. More than the machine has cores are not started.
    """

    chunk_rows: int = 1 << 16
    n_threads: int | None = None
    _memory: Memory | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the options, which can change speed only."""
        _validate.positive_int(chunk_rows=self.chunk_rows)
        if self.n_threads is not None:
            _validate.positive_int(n_threads=self.n_threads)

    def for_one_pass(self) -> "InMemoryEngine":
        """Return this engine for many calls with one question: what they need is prepared once."""
        return replace(self, _memory=Memory())

    def on_grid(self, records: FloatArray, domain: Domain) -> ArrayOrGrid:
        """Return records as integers of a domain, unless they would take too much memory.

        Soft cells of the domain are added up faster over them, to the same sums.
        """
        itemsize = np.dtype(type_of_integers(domain)).itemsize
        if len(records) * domain.n_features * itemsize > KEPT_BYTES:
            return records
        _check_width(records, domain.n_columns)
        kept, grid = OnGrid.room_for(len(records), domain), grid_of(domain)

        def chunk_pass(X: Any, start: int, stop: int, _: None) -> None:
            grid_pass(X, start, stop, grid, kept.integers, start)

        self._over_chunks(records, chunk_pass, lambda: None, told=False)  # the pass is yet to come
        return kept

    def reduce(self, records: ArrayOrGrid, statistic: CellMoments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        if isinstance(records, OnGrid):
            records.check_asked(statistic)
        else:
            _check_width(records, statistic.domain.n_columns)
        check_cells(statistic, cells)
        parts = (self._reduce(records[span], statistic, cells) for span in spans(len(records), statistic))
        return sealed(add_up(parts))

    def _reduce(self, records: ArrayOrGrid, statistic: CellMoments, cells: Cells) -> ExactMoments:
        if not isinstance(cells, GaussianCells):
            return self._reduce_labelled(records, statistic, cells)
        chunk_pass = (self._memory or Memory()).prepared(statistic, cells)
        return combined(self._over_chunks(records, chunk_pass, partial(empty_totals, statistic)), statistic)

    def count(self, records: FloatArray, statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        _check_width(records, statistic.n_columns)
        shape = (statistic.n_features, statistic.n_bins)
        return sealed(self._counts(records, counting(statistic), shape))

    def tally(self, records: FloatArray, codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        _check_width(records, codes.domain.n_columns)

        def chunk_pass(X: Any, start: int, stop: int, found: list[Tally]) -> None:
            chunk = codes.codes(codes.domain.quantise(X[start:stop]))
            found.append(Tally.of(chunk, np.ones(len(chunk), dtype=np.int64), codes.n_bits))

        parts = [part for found in self._over_chunks(records, chunk_pass, list) for part in found]
        none = np.empty(0, dtype=np.int64)
        return sealed(add_up([Tally(none, none, codes.n_bits), *parts]))

    def _reduce_labelled(
        self, records: ArrayOrGrid, statistic: CellMoments, cells: LabelledCells
    ) -> ExactMoments:
        """Add up counts and sums; sums in float64 are exact below 2^41 rows."""
        k, d = cells.n_cells, statistic.domain.n_features

        def chunk_pass(X: Any, start: int, stop: int, totals: IntArray) -> None:
            q = statistic.domain.quantise(X[start:stop])
            labels = cells.labels(q)
            q, labels = q[labels >= 0], labels[labels >= 0]
            totals[:, 0] += np.bincount(labels, minlength=k)
            for j in range(d):
                totals[:, 1 + j] += np.bincount(labels, q[:, j], minlength=k).astype(np.int64)

        totals = self._counts(records, chunk_pass, (k, 1 + d))
        return ExactMoments(totals[:, 0], totals[:, 1:], np.zeros((k, d, 0), np.int64))

    def _counts(
        self, records: ArrayOrGrid, chunk_pass: ChunkPass[IntArray], shape: tuple[int, int]
    ) -> IntArray:
        """Add up what a pass counts."""
        parts = self._over_chunks(records, chunk_pass, lambda: np.zeros(shape, np.int64))
        counts: IntArray = np.sum(parts, axis=0)
        return counts

    def _over_chunks(
        self, records: ArrayOrGrid, chunk_pass: ChunkPass[_T], empty: Callable[[], _T], *, told: bool = True
    ) -> list[_T]:
        """Hand out chunks to threads; return the totals of each thread."""
        if not isinstance(records, OnGrid):
            records = np.asarray(records)  # a tensor on the CPU shares its memory, without a copy
        n_threads = max(1, min(-(-len(records) // self.chunk_rows), self.n_threads or available_cores()))
        n_chunks = n_threads * max(1, -(-len(records) // (self.chunk_rows * n_threads)))
        done = counter() if told else None

        def add_chunks(chunks: Iterable[tuple[int, int]]) -> _T:
            totals = empty()
            for start, stop in chunks:
                chunk_pass(records, start, stop, totals)
                if done is not None:
                    done(stop - start)
            return totals

        return at_once(add_chunks, equal_pieces(len(records), n_chunks), n_threads)


def _check_width(records: FloatArray, n_features: int) -> None:
    """Refuse records of another width: compiled code checks no bounds and would read adjacent memory."""
    if records.ndim != 2 or records.shape[1] != n_features:
        raise ValueError("records do not have the columns of the statistic")
