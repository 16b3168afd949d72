"""Exact sums over a torch tensor, on the device it is on: kernels on CUDA, plain torch elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmorse import _validate
from dpmorse._progress import counter
from dpmorse.engine.base import Cells, LabelledCells, add_up, check_cells, spans
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.exceptions import DPMorseError, InvalidTypeError
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    ExactMoments,
    GaussianCells,
    Histograms,
    MagnitudeHistograms,
    ProfileCounts,
    Tally,
)
from dpmorse.typing import FloatArray, IntArray, LabelArray, label_dtype

if TYPE_CHECKING:
    from dpmorse.engine._tensor_rules import Tensor

_HOST_ROWS = 1 << 20
"""Rows that are copied to the host at a time."""


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
        Whether to use kernels where they apply: on an NVIDIA GPU of compute capability 9.0 with Triton 3.6 or
        newer, for up to 64 columns or directions. Otherwise plain torch adds up.
    """

    chunk_rows: int | None = None
    fused: bool = True

    def __post_init__(self) -> None:
        """Check the options, which can change speed and memory only."""
        if self.chunk_rows is not None:
            _validate.positive_int(chunk_rows=self.chunk_rows)
        _validate.boolean(fused=self.fused)

    def reduce(self, records: "Tensor", statistic: CellMoments, cells: Cells) -> Exact[ExactMoments]:
        """Add up the statistic; see ``Engine.reduce``."""
        _check(records, statistic.domain.n_columns)
        check_cells(statistic, cells)
        parts = (self._reduce(records[span], statistic, cells) for span in spans(len(records), statistic))
        return sealed(add_up(parts))

    def _reduce(self, records: "Tensor", statistic: CellMoments, cells: Cells) -> ExactMoments:
        if not isinstance(cells, GaussianCells):
            return self._reduce_labelled(records, statistic, cells)
        passes, task = self._passes(records, cells), _rules().task_of(statistic, cells, records.device)
        totals = self._total(
            records,
            (statistic.n_cells, task.n_sums),
            lambda chunk: passes.moments(chunk, task),
            passes.rows_at_a_time(records.device, records.shape[1], statistic.n_cells, soft=task.soft),
        )
        width, d = statistic.domain.n_features, statistic.n_measured
        second = np.zeros((len(totals), d, d), dtype=np.int64)
        second[(slice(None), *np.tril_indices(d))] = totals[:, 1 + width :]
        return ExactMoments(totals[:, 0].copy(), totals[:, 1 : 1 + width].copy(), second)

    def _reduce_labelled(
        self, records: "Tensor", statistic: CellMoments, cells: LabelledCells
    ) -> ExactMoments:
        k, d = cells.n_cells, statistic.domain.n_features
        passes, grid = self._passes(records), _rules().grid_of(statistic.domain, records.device)
        totals = self._total(
            records,
            (k, 1 + d),
            lambda chunk: _labels().sums_of_labelled(cells, passes.quantise(chunk, grid).double()),
            _plain().rows_at_a_time(records.device, records.shape[1], k),
        )
        return ExactMoments(totals[:, 0], totals[:, 1:], np.zeros((k, d, 0), np.int64))

    def count(self, records: "Tensor", statistic: Histograms) -> Exact[IntArray]:
        """Count records in bins; see ``Engine.count``."""
        _check(records, statistic.n_columns)
        if isinstance(statistic, ProfileCounts):
            return sealed(self._count_profile(records, statistic))
        labels, shape = _labels(), (statistic.n_features, statistic.n_bins)
        if isinstance(statistic, MagnitudeHistograms):
            bins = labels.magnitude_bins
        else:
            bins = self._bins_of_columns(records, statistic)
        # Bins and what they are made of take four times the columns.
        most = _plain().rows_at_a_time(records.device, 4 * records.shape[1], 1)
        return sealed(
            self._total(records, shape, lambda chunk: labels.counts_of(bins(chunk), statistic.n_bins), most)
        )

    def _bins_of_columns(
        self, records: "Tensor", statistic: ColumnHistograms
    ) -> Callable[["Tensor"], "Tensor"]:
        rules, box, part = _rules(), statistic.box, statistic.layout.number_part
        grid = rules.grid_of(box, records.device)
        lower, upper = (rules.on_device(bound, records.device) for bound in (box.lower, box.upper))
        holes = rules.on_device(statistic.holes, records.device)

        def bins(chunk: "Tensor") -> "Tensor":
            values = chunk[:, part].double()
            found = _labels().column_bins(values, _plain().quantise(values, grid), lower, upper)
            missing = (holes >= 0) & (chunk[:, holes] > 0)
            return found.masked_fill(missing, -1)

        return bins

    def _count_profile(self, records: "Tensor", statistic: ProfileCounts) -> IntArray:
        if (
            statistic.gaps is not None
        ):  # where numbers are missing, compiled code finds the cells, on the host
            parts = (
                opened(InMemoryEngine().count(chunk.cpu().numpy(), statistic))
                for chunk in self._chunks(records, _HOST_ROWS)
            )
            none = np.zeros((statistic.n_features, statistic.n_bins), np.int64)
            return add_up([none, *parts])
        passes, rules = self._passes(records, statistic.rule), _rules()
        ball, box = (rules.grid_of(domain, records.device) for domain in (statistic.ball, statistic.box))
        rule = rules.rule_of(statistic.rule, records.device)
        return self._total(
            records,
            (statistic.n_features, statistic.n_bins),
            lambda chunk: _labels().profile_counts(
                passes.labels(chunk, ball, rule), passes.quantise(chunk, box), statistic
            ),
            passes.rows_at_a_time(records.device, records.shape[1], statistic.n_features),
        )

    def tally(self, records: "Tensor", codes: BinaryCodes) -> Exact[Tally]:
        """Count codes; see ``Engine.tally``."""
        _check(records, codes.domain.n_columns)
        passes, grid = self._passes(records), _rules().grid_of(codes.domain, records.device)
        none = np.empty(0, dtype=np.int64)
        parts = [Tally(none, none, codes.n_bits)]
        most = _plain().rows_at_a_time(records.device, records.shape[1], 1)
        for chunk in self._chunks(records, most):
            found = _labels().binary_codes(codes, passes.quantise(chunk, grid).double())
            distinct, counts = found.unique(return_counts=True)
            parts.append(Tally(distinct.cpu().numpy(), counts.cpu().numpy(), codes.n_bits))
        return sealed(add_up(parts))

    def _passes(self, records: "Tensor", *cells: GaussianCells) -> Any:
        """Return the kernels where they may be used, and otherwise the same in plain torch."""
        kernels = _kernels() if self.fused else None
        return _plain() if kernels is None or not kernels.covers(records, *cells) else kernels

    def _total(
        self,
        records: "Tensor",
        shape: tuple[int, int],
        chunk_pass: Callable[["Tensor"], "Tensor"],
        most: int,
    ) -> IntArray:
        """Add up the int64 results of all chunks, on the device; return them on the host."""
        total = _rules().zeros(shape, records.device)
        for chunk in self._chunks(records, most):
            total += chunk_pass(chunk)
        result: IntArray = total.cpu().numpy()
        return result

    def _chunks(self, records: "Tensor", most: int) -> Iterator["Tensor"]:
        """Yield the rows in chunks of at most ``most`` rows."""
        done = counter()
        for chunk in records.split(min(self.chunk_rows or most, most)) if len(records) else ():
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
    labels = _labels()
    density = labels.density_on(points.device, means, whiteners, log_factors, domain)
    n_rows = chunk_rows or _plain().rows_at_a_time(points.device, points.shape[1], len(means))
    if of_component is None:
        of_component = np.arange(len(means)).astype(label_dtype(len(means)))
    found = _rules().zeros((len(points),), points.device, of_component.dtype.name)
    for start in range(0, len(points), n_rows):
        chunk = points[start : start + n_rows]
        found[start : start + n_rows] = labels.most_probable(chunk, density, of_component)
    return found


def _check(records: "Tensor", n_features: int) -> None:
    """Refuse what is not a tensor of records with these columns; one column would be taken for all."""
    if not _labels().is_table_of_floats(records):
        raise InvalidTypeError(
            "TensorEngine takes a torch.Tensor of shape (n_samples, n_features), float32 or float64, got "
            f"{_validate.describe(type(records))}."
        )
    if records.shape[1] != n_features:
        raise ValueError("records do not have the columns of the statistic")


@cache
def _loaded(module: str) -> Any:
    """Load torch and what needs it, once it is needed."""
    try:
        return import_module(f"dpmorse.engine.{module}")
    except ModuleNotFoundError as error:
        raise DPMorseError("TensorEngine needs torch: pip install 'dpmorse[gpu]'") from error


_rules = partial(_loaded, "_tensor_rules")
_labels = partial(_loaded, "_tensor_labels")
_plain = partial(_loaded, "_tensor_passes")


@cache
def _kernels() -> Any:
    """Load the kernels, or return None where there is no Triton."""
    try:
        return import_module("dpmorse.engine._fused_passes")
    except ImportError:
        return None
