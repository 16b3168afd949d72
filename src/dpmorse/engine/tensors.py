"""Exact sums over a torch tensor, on the device it is on: one fused kernel on CUDA, plain torch elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmorse import _validate
from dpmorse._progress import counter
from dpmorse.engine.base import Cells, LabelledCells, Moments, add_up, check_cells, spans
from dpmorse.exceptions import DPMorseError, InvalidTypeError
from dpmorse.privacy.exact import Exact, sealed
from dpmorse.statistics import (
    N_BINS,
    BinaryCodes,
    Domain,
    ExactMoments,
    GaussianCells,
    Histograms,
    MagnitudeHistograms,
    ProfileCells,
    RadiusHistograms,
    SecondMoments,
    TableMoments,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray, LabelArray, label_dtype

if TYPE_CHECKING:
    from dpmorse.engine._tensor_passes import Arithmetic, Tensor


@dataclass(frozen=True)
class TensorEngine:
    """Sums over a torch.Tensor of shape (n_samples, n_features), float32 or float64, on any device.

    The tensor is read on its device, with any strides; sums are returned to the host. Needs torch
    (``pip install 'dpmorse[gpu]'``).

    Parameters
    ----------
    chunk_rows : int or None
        Rows handed to torch at a time; None takes as many as keep temporaries small.
    fused : bool
        Whether to use fused kernels where they apply, on an NVIDIA GPU of compute capability 9.0 with Triton
        3.6 or newer: one for hard cells of up to 16 columns and 64 cells, others for all cells of up to 63
        columns. Otherwise, and for tables with a schema, plain torch adds up.
    """

    chunk_rows: int | None = None
    fused: bool = True

    def __post_init__(self) -> None:
        """Check the options, which can change speed and memory only."""
        if self.chunk_rows is not None:
            _validate.positive_int(chunk_rows=self.chunk_rows)
        _validate.boolean(fused=self.fused)

    def reduce(self, records: "Tensor", statistic: Moments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        _check(records, statistic.domain.n_columns)
        check_cells(statistic, cells)
        parts = (self._reduce(records[span], statistic, cells) for span in spans(len(records), statistic))
        return sealed(add_up(parts))

    def _reduce(self, records: "Tensor", statistic: Moments, cells: Cells) -> ExactMoments:
        if isinstance(cells, ProfileCells):
            return self._reduce_profiles(records, statistic, cells)
        if not isinstance(cells, GaussianCells):
            return self._reduce_labelled(records, statistic, cells)
        if isinstance(statistic, TableMoments):
            return self._reduce_plainly(records, statistic, cells)
        plain = statistic.weight_bits or statistic.domain.projection is not None
        kernels = _kernels() if self.fused and not plain else None
        if kernels is not None and kernels.covers(records, cells):
            return _unpack(kernels.hard_moments(records, statistic, cells), statistic)
        return self._reduce_plainly(records, statistic, cells)

    def count(self, records: "Tensor", statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        if isinstance(statistic, RadiusHistograms):
            return sealed(self._count_radii(records, statistic))
        passes = _passes()
        if isinstance(statistic, MagnitudeHistograms):
            _check(records, statistic.n_features)
            n_bins, bins = statistic.n_bins, passes.magnitude_bins
        else:
            _check(records, statistic.domain.n_columns)
            grid = passes.grid_of(statistic.domain, records.device)
            n_bins, bins = N_BINS, lambda chunk: passes.column_bins(passes.quantise(chunk, grid))
        shape = (statistic.n_features, n_bins)
        return sealed(self._total(records, 1, shape, lambda chunk: passes.counts_of(bins(chunk), n_bins)))

    def _arithmetic(self, records: "Tensor", cells: GaussianCells) -> "Arithmetic":
        """Return kernels where they may be used, and otherwise the same in plain torch."""
        kernels = _kernels("_fused_cells") if self.fused else None
        plain: Arithmetic = _passes().PLAIN
        return plain if kernels is None or not kernels.covers(records, cells) else kernels.FUSED

    def _count_radii(self, records: "Tensor", statistic: RadiusHistograms) -> IntArray:
        cells = statistic.cells
        _check(records, cells.box.n_columns)
        profiles, device = _profiles(), records.device
        profile, limits = profiles.profile_of(cells, device), profiles.limits_of(statistic, device)
        shape, by = (cells.n_cells, statistic.n_bins), self._arithmetic(records, cells.partition)
        return self._total(
            records,
            cells.n_cells,
            shape,
            lambda part: profiles.counts_of_radii(part, profile, limits, by),
            by=by,
        )

    def tally(self, records: "Tensor", codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        _check(records, codes.domain.n_columns)
        passes, grid = _passes(), _passes().grid_of(codes.domain, records.device)
        none = np.empty(0, dtype=np.int64)
        parts = [Tally(none, none, codes.n_bits)]
        for chunk in self._chunks(records, 1):
            found = passes.binary_codes(codes, passes.quantise(chunk, grid))
            distinct, counts = found.unique(return_counts=True)
            parts.append(Tally(distinct.cpu().numpy(), counts.cpu().numpy(), codes.n_bits))
        return sealed(add_up(parts))

    def _reduce_plainly(self, records: "Tensor", statistic: Moments, cells: GaussianCells) -> ExactMoments:
        passes = _passes()
        grid, rule = passes.grid_of(statistic.domain, records.device), passes.rule_of(cells, records.device)
        is_table, soft = isinstance(statistic, TableMoments), bool(statistic.weight_bits)
        by = passes.PLAIN if is_table else self._arithmetic(records, cells)
        pass_over = passes.soft_moments if soft else passes.hard_moments
        # The kernel of residuals adds up few rows at a time by itself.
        plain = by is passes.PLAIN or not statistic.of_residuals
        most = passes.SOFT_ROWS if soft and plain else passes.HARD_ROWS

        def chunk_pass(chunk: "Tensor") -> "Tensor":
            q = passes.quantise(chunk, grid)
            if is_table:
                return passes.table_moments(q, rule, statistic.measured, soft=soft)
            return pass_over(q, rule, of_residuals=statistic.of_residuals, by=by)

        shape = (cells.n_cells, _n_columns(statistic))
        return _unpack(self._total(records, cells.n_cells, shape, chunk_pass, most, by=by), statistic)

    def _reduce_profiles(self, records: "Tensor", statistic: Moments, cells: ProfileCells) -> ExactMoments:
        profiles, most = _profiles(), _passes().HARD_ROWS
        profile = profiles.profile_of(cells, records.device)
        shape, by = (cells.n_cells, _n_columns(statistic)), self._arithmetic(records, cells.partition)

        def chunk_pass(chunk: "Tensor") -> "Tensor":
            if isinstance(statistic, TableMoments):
                return profiles.table_moments(chunk, profile, statistic.measured)
            return profiles.moments(chunk, profile, by)

        return _unpack(self._total(records, cells.n_cells, shape, chunk_pass, most, by=by), statistic)

    def _reduce_labelled(self, records: "Tensor", statistic: Moments, cells: LabelledCells) -> ExactMoments:
        plain = not (statistic.of_residuals or statistic.weight_bits)
        if not plain or statistic.second_moments is not SecondMoments.NONE:
            raise ValueError("cells that are only labels have counts and sums of records, nothing else")
        passes, k, d = _passes(), cells.n_cells, statistic.domain.n_features
        grid = passes.grid_of(statistic.domain, records.device)

        def chunk_pass(chunk: "Tensor") -> "Tensor":
            q = passes.quantise(chunk, grid)
            return passes.sums_of_labelled(passes.cell_labels(cells, q), q, k)

        totals = self._total(records, k, (k, 1 + d), chunk_pass)
        return ExactMoments(totals[:, 0], totals[:, 1:], np.zeros((k, d, 0), np.int64))

    def _total(
        self,
        records: "Tensor",
        n_cells: int,
        shape: tuple[int, int],
        chunk_pass: Callable[["Tensor"], "Tensor"],
        most: int | None = None,
        *,
        by: "Arithmetic | None" = None,
    ) -> IntArray:
        """Add up the int64 results of all chunks, on the device; return them on the host."""
        total = _passes().zeros(shape, records.device)
        for chunk in self._chunks(records, n_cells, most, by):
            total += chunk_pass(chunk)
        result: IntArray = total.cpu().numpy()
        return result

    def _chunks(
        self, records: "Tensor", n_cells: int, most: int | None = None, by: "Arithmetic | None" = None
    ) -> Iterator["Tensor"]:
        """Yield the rows in chunks, of at most ``most`` rows if given."""
        fitting = _passes().rows_at_a_time(records.device, records.shape[1], n_cells, by)
        n_rows = min(self.chunk_rows or fitting, most or len(records) or 1)
        done = counter()
        for chunk in records.split(n_rows) if len(records) else ():
            yield chunk
            done(len(chunk))


def labels_of_tensor(
    points: "Tensor",
    *,
    means: FloatArray,
    whiteners: FloatArray,
    log_factors: FloatArray,
    domain: Domain,
    of_component: LabelArray | None = None,
    chunk_rows: int | None = None,
) -> "Tensor":
    """Return the most probable component of each point, moved into the domain first, or its label.

    Parameters
    ----------
    points : torch.Tensor of shape (n_samples, n_features)
        Points, on any device.
    means, whiteners, log_factors : ndarray
        Those of a ``GaussianMixture``: component k has the log density
        ``log_factors[k] - |whiteners[k] (x - means[k])|^2 / 2``, computed in float64.
    domain : Domain
        Box, and perhaps ball, that points are moved into.
    of_component : ndarray of shape (n_components,) or None
        Label of each component; None for its number, in the smallest signed type.
    chunk_rows : int or None
        Rows at a time; None takes as many as keep temporaries small.

    Returns
    -------
    labels : torch.Tensor of shape (n_samples,)
        On the device of the points; ties go to the first component.
    """
    _check(points, domain.n_features)
    passes = _passes()
    density = passes.density_on(points.device, means, whiteners, log_factors, domain)
    n_rows = chunk_rows or passes.rows_at_a_time(points.device, points.shape[1], len(means))
    if of_component is None:
        of_component = np.arange(len(means)).astype(label_dtype(len(means)))
    found = passes.zeros((len(points),), points.device, of_component.dtype.name)
    for start in range(0, len(points), n_rows):
        components = passes.most_probable(points[start : start + n_rows], density)
        found[start : start + n_rows] = passes.relabelled(components, of_component)
    return found


def _n_columns(statistic: Moments) -> int:
    """Return how many sums one cell has: a count, sums, lower second moments."""
    d = statistic.measured.stop - statistic.measured.start
    return int(1 + statistic.domain.n_features + d * (d + 1) // 2)


def _unpack(totals: IntArray, statistic: Moments) -> ExactMoments:
    """Turn one row of sums for each cell into moments."""
    width, d = statistic.domain.n_features, statistic.measured.stop - statistic.measured.start
    second = np.zeros((len(totals), d, d), dtype=np.int64)
    second[(slice(None), *np.tril_indices(d))] = totals[:, 1 + width :]
    return ExactMoments(totals[:, 0].copy(), totals[:, 1 : 1 + width].copy(), second)


def _check(records: "Tensor", n_features: int) -> None:
    """Refuse what is not a tensor of records with these columns; one column would be taken for all."""
    passes = _passes()
    if not passes.is_table_of_floats(records):
        raise InvalidTypeError(
            "TensorEngine takes a torch.Tensor of shape (n_samples, n_features), float32 or float64, got "
            f"{_validate.describe(type(records))}."
        )
    if records.shape[1] != n_features:
        raise ValueError("records do not have the columns of the statistic")


@cache
def _passes() -> Any:
    """Load torch and what needs it, once it is needed."""
    try:
        return import_module("dpmorse.engine._tensor_passes")
    except ModuleNotFoundError as error:
        raise DPMorseError("TensorEngine needs torch: pip install 'dpmorse[gpu]'") from error


@cache
def _profiles() -> Any:
    """Load the passes over profile cells, which need torch as well."""
    _passes()
    return import_module("dpmorse.engine._tensor_profiles")


@cache
def _kernels(module: str = "_fused_pass") -> Any:
    """Load fused kernels, or return None where there is no Triton."""
    try:
        return import_module(f"dpmorse.engine.{module}")
    except ImportError:
        return None
