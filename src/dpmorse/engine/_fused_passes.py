"""Passes over a chunk of a CUDA tensor by kernels: what ``_tensor_passes`` returns, in less time and memory.

A chunk is quantised, its records find their cells (``_triton_cells``), and the members of every cell are
listed: few cells have a share in a record, so that little is left to add up (``_triton_moments``).
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from dpmorse.engine import _tensor_passes as plain
from dpmorse.engine._gpu import (
    MOST_NARROW_MOMENTS,
    adding_up,
    can_run_on,
    processors,
    quantising,
    sizes_of,
    working_on,
)
from dpmorse.engine._tensor_rules import DeviceGrid, DeviceRule, Task, Tensor, grid_of, lower_of, rule_of
from dpmorse.engine._triton_cells import labels_kernel, quantise_kernel
from dpmorse.engine._triton_moments import members_kernel, moments_kernel, wide_moments_kernel
from dpmorse.statistics import Domain, GaussianCells

MOST_FEATURES = 64
"""Most columns that the kernels support: tiles as wide as the columns stay in shared memory."""

_LARGEST_STEP = 2.0**23
"""Largest step of residuals: |v| < 2^27, and what the kernels round must be below 2^51."""

_PROGRAMS_PER_PROCESSOR = 16
"""Programs for each multiprocessor, of which few run at a time. The others even out the load at the end."""

_BYTES = 1 << 30
"""Bytes of temporaries at a time."""


def covers(records: Tensor, *rules: GaussianCells) -> bool:
    """Say whether the kernels can run on these records, and are exact for these cells."""
    fits = all(
        rule.offsets.shape[1] <= MOST_FEATURES and float(rule.residual_steps.max()) < _LARGEST_STEP
        for rule in rules
    )
    sizes = {rule.offsets.shape[1] for rule in rules}
    usable = len(records) > 0 and fits and can_run_on(records.device)
    return usable and all(_agrees(records.device, size) for size in sizes)


@cache
def _agrees(device: Any, n_features: int) -> bool:
    """Say whether this device, driver and compiler give the sums of plain torch, on invented records.

    A kernel that is compiled for another device or by another compiler is not what was tested.
    """
    rng = np.random.default_rng(0)
    grid = grid_of(Domain.from_bounds((-1.0, 1.0), n_features, 1.1), device)
    X = torch.from_numpy(rng.uniform(-2, 2, (300, n_features))).to(device)
    # The kernels for round cells are others than those for all cells.
    below, rules = np.tril(rng.uniform(-1, 1, (n_features, n_features)), -1), []
    for part in (0, 1 / n_features):
        shape = np.eye(n_features) + part * below
        means, sizes = rng.uniform(-1, 1, (5, n_features)), rng.uniform(0.1, 1, (5, 1, 1))
        cells = GaussianCells.from_mixture(np.full(5, 0.2), means, sizes**2 * (shape @ shape.T), radii=2.0)
        rules.append(rule_of(cells, device))
    of_round, of_all = rules
    kinds = [(of_all, True), (of_all, False), (of_round, False)]
    tasks = [Task(grid, rule, soft, residuals=True, first=0, last=n_features) for rule, soft in kinds]
    try:
        same = all(torch.equal(moments(X, task), plain.moments(X, task)) for task in tasks)
        found, expected = labels(X, grid, of_all), plain.labels(X, grid, of_all)
    except torch.cuda.OutOfMemoryError:  # which says nothing about the kernels, and is not remembered
        raise MemoryError("device: there is too little memory to try the kernels.") from None
    except RuntimeError:  # it does not compile
        return False
    return same and bool(torch.equal(found, expected))


class _Members(NamedTuple):
    """The members of each cell: ``rows[begins[k] : ends[k]]``.

    Those of soft cells have weights beside their rows; ``divisors`` are sums of a record's weights.
    """

    rows: Tensor
    begins: Tensor
    ends: Tensor
    weights: Tensor
    divisors: Tensor


def rows_at_a_time(_device: Any, n_features: int, n_cells: int, *, soft: bool = False) -> int:
    """Return how many rows take about as much memory as is set aside, and can be added up in float64.

    A row and a weight for every cell, where cells are soft; a record twice, its label and a place.
    """
    fitting = _BYTES // (8 * n_cells * soft + 8 * n_features + 32)
    return min(max(256, fitting), plain.HARD_ROWS)


def quantise(X: Tensor, grid: DeviceGrid) -> Tensor:
    """Return records as integers, in int32."""
    if len(grid.centre) > MOST_FEATURES:
        return plain.quantise(X, grid).to(torch.int32)
    return _quantised(X, grid)[:, : len(grid.centre)].to(torch.int32)


def _quantised(X: Tensor, grid: DeviceGrid) -> Tensor:
    """Return records as integers of 16 bits (32 on a fine grid, or in tiles), padded to words of 64."""
    if grid.projection is not None:
        before, matrix = grid.projection
        X = plain.quantise(X, before) @ matrix
    n_rows, n_features = X.shape
    bits = 32 if grid.fine or n_features > MOST_NARROW_MOMENTS else 16
    padded = -(-n_features * bits // 64) * 64 // bits
    q = torch.empty((n_rows, padded), dtype=getattr(torch, f"int{bits}"), device=X.device)
    radius = torch.full((1,), grid.squared_radius, dtype=torch.float64, device=X.device)
    sizes = quantising(n_features)
    with working_on(X.device):
        quantise_kernel[(-(-n_rows // sizes["BLOCK"]),)](
            X,
            n_rows,
            *X.stride(),
            grid.centre,
            grid.half_width,
            grid.steps_per_unit,
            radius,
            q,
            BITS=bits,
            BALL=grid.squared_radius > 0,
            **sizes,
        )
    return q


def moments(X: Tensor, task: Task) -> Tensor:
    """Return counts, sums and lower second moments of the cells, shape (K, ...), in int64."""
    q = _quantised(X, task.grid)
    if task.soft:
        return _sums(q, _members_of_soft(q, task.rule), task)
    return _sums(q, _members_of_labels(_labels(q, task.rule), task.rule.n_cells), task)


def labels(X: Tensor, grid: DeviceGrid, rule: DeviceRule) -> Tensor:
    """Return the cell of each record."""
    return _labels(_quantised(X, grid), rule).to(torch.int64)


# -- the cells of records -----------------------------------------------------------------------------


def _labels(q: Tensor, rule: DeviceRule) -> Tensor:
    labels = torch.empty(len(q), dtype=torch.int32, device=q.device)
    sizes = sizes_of(rule.n_features)
    with working_on(q.device):
        labels_kernel[(-(-len(q) // sizes["BLOCK"]),)](
            _loaded(q, sizes),
            len(q),
            rule.n_cells,
            rule.factors,
            rule.offsets,
            rule.constants,
            labels,
            BITS=_bits(q),
            ROUND=rule.round,
            **sizes,
        )
    return labels


def _members_of_soft(q: Tensor, rule: DeviceRule) -> _Members:
    """List members of soft cells; every cell has room for all records."""
    n_rows, n_cells = len(q), rule.n_cells
    counts = torch.zeros(n_cells, dtype=torch.int32, device=q.device)
    rows, weights = torch.empty((2, n_cells, n_rows), dtype=torch.int32, device=q.device)
    divisors = torch.empty(n_rows, dtype=torch.int32, device=q.device)
    sizes = sizes_of(rule.n_features)
    with working_on(q.device):
        members_kernel[(-(-n_rows // sizes["BLOCK"]),)](
            _loaded(q, sizes),
            n_rows,
            n_cells,
            rule.factors,
            rule.offsets,
            rule.constants,
            rule.table,
            len(rule.table) - 1,
            rule.steps_per_score,
            counts,
            rows,
            weights,
            divisors,
            BITS=_bits(q),
            ROUND=rule.round,
            **sizes,
        )
    begins = n_rows * torch.arange(n_cells, device=q.device)
    return _Members(rows, begins, begins + counts, weights, divisors)


def _members_of_labels(labels: Tensor, n_cells: int) -> _Members:
    """List the rows of all records, cell by cell; they have no weights."""
    # Sorting takes a pass for each byte of a label.
    in_order, rows = torch.sort(labels.to(torch.uint8 if n_cells <= 256 else torch.int16))
    cells = torch.arange(n_cells + 1, device=labels.device, dtype=torch.int32)
    begins = torch.searchsorted(in_order.to(torch.int32), cells)
    return _Members(rows, begins[:-1], begins[1:], labels, labels)


def _loaded(q: Tensor, sizes: dict[str, Any]) -> Tensor:
    """Return records as kernels of these sizes load them: narrow ones by words of 64 bits."""
    return q if sizes.get("WIDTH", 0) else q.view(torch.int64)


def _bits(q: Tensor) -> int:
    return 8 * int(q.element_size())


# -- the sums of cells --------------------------------------------------------------------------------


def _sums(q: Tensor, members: _Members, task: Task) -> Tensor:
    """Add up the members of each cell: count, sums and lower second moments."""
    units, sizes = task.rule, adding_up(task.rule.n_features, round_cells=task.rule.round)
    width, d = sizes.get("WIDTH", 0), units.n_features
    kernel = wide_moments_kernel if width else moments_kernel
    n_sums = 1 + (1 + width) * width if width else 1 + d + d * (d + 1) // 2
    programs = _programs(q, units, soft=task.soft)
    totals = torch.empty((programs, units.n_cells, n_sums), dtype=torch.int64, device=q.device)
    with working_on(q.device):
        kernel[programs, units.n_cells](
            _loaded(q, sizes),
            units.n_cells,
            *members,
            units.factors,
            units.offsets,
            units.residual_steps,
            totals,
            SOFT=task.soft,
            RESIDUALS=task.residuals,
            FIRST=task.first,
            LAST=task.last,
            BITS=_bits(q),
            **sizes,
        )
    total = totals.sum(dim=0)
    if not width:
        return total.index_select(1, _kept(d, task.first, task.last, total.device))
    products = total[:, 1 + width :].unflatten(1, (width, width))  # all products of columns
    second = products[:, task.first : task.last, task.first : task.last].flatten(1)
    lower = second.index_select(1, lower_of(task.last - task.first, total.device))
    return torch.cat([total[:, : 1 + d], lower], dim=1)


@cache
def _kept(d: int, first: int, last: int, device: Any) -> Tensor:
    """Return where the sums are that a task asks for; copied to the device once, as chunks must not wait."""
    rows, columns = np.tril_indices(d)
    wanted = np.flatnonzero((columns >= first) & (rows < last))
    return torch.from_numpy(np.concatenate([np.arange(1 + d), 1 + d + wanted])).to(device)


def _programs(q: Tensor, rule: DeviceRule, *, soft: bool) -> int:
    """Return how many programs share a cell: one adds up half of the rows that are exact in float64."""
    most = plain.SOFT_ROWS if soft else plain.HARD_ROWS
    return max(-(-2 * len(q) // most), _PROGRAMS_PER_PROCESSOR * processors(q.device) // rule.n_cells, 1)
