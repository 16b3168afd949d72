"""Passes over a chunk of a torch tensor in plain torch, on any device: quantise, find the cell, add up.

Exactness. All values are integers held in float64. Those that are added up or multiplied by a matrix stay
below 2^53 together with all their partial sums, so that every sum is exact in any order that a library or
a GPU takes, with or without fused multiply-add. (Reduced precision such as TF32 is for float32 products;
there are none here.) Other operations are done one at a time, each correctly rounded as IEEE 754 specifies,
like in the plain NumPy form; for operations where torch does not promise that, see ``shrink``.

``_fused_passes`` has the functions ``rows_at_a_time``, ``quantise``, ``moments`` and ``labels`` as
kernels, with the same results.
"""

from typing import Any

import numpy as np
import torch

from dpmorse.engine._tensor_rules import DeviceGrid, DeviceRule, Task, Tensor, lower_of
from dpmorse.statistics import LARGEST_RESIDUAL, ROUNDING_BITS, WEIGHT_BITS

HARD_ROWS = 1 << 29
"""Rows that may be added up in float64 with hard cells: products up to 2^24, summed over 2^29 rows, reach at
most 2^53, up to which every integer is exact."""

SOFT_ROWS = 1 << 17
"""The same with soft cells: weights up to 2^12 times products up to 2^24, summed over 2^17 rows, reach at
most 2^53."""

_PRODUCTS = 64
"""Products z_i z_j that are held at a time: memory against the size of the matrices that are multiplied."""

_BLOCK_ROWS = 1024
"""Rows of a block in ``_sums_of_each``: enough blocks to keep a GPU busy, each long enough to be
efficient."""

_BYTES = {"cpu": 1 << 23, "cuda": 1 << 30}
"""Bytes of temporaries at a time: what a processor's cache holds, or a small part of a GPU's memory."""


def rows_at_a_time(device: Any, n_features: int, n_cells: int, *, soft: bool = False) -> int:
    """Return how many rows take about as much memory as is set aside, and can be added up in float64."""
    columns = 6 * n_cells * (n_features + 1) + 2 * _PRODUCTS
    fitting = max(256, _BYTES.get(device.type, _BYTES["cuda"]) // (8 * columns))
    return min(fitting, SOFT_ROWS if soft else HARD_ROWS)


# -- from records to integers -------------------------------------------------------------------------


def quantise(X: Tensor, grid: DeviceGrid) -> Tensor:
    """Return records as integers; the same arithmetic as ``Domain.quantise``."""
    if grid.projection is not None:
        before, matrix = grid.projection
        X = quantise(X, before) @ matrix  # integers below 2^53 with all partial sums
    half = grid.half_width
    offset = X.to(torch.float64) - grid.centre
    offset = torch.where(offset < half, offset, half)  # NaN must not pass, see privacy.md
    offset = torch.where(offset > -half, offset, -half)
    q = (offset * grid.steps_per_unit).round_()
    return shrink(q, grid.squared_radius) if grid.squared_radius > 0 else q


def shrink(points: Tensor, largest: float) -> Tensor:
    """Shrink integer points, one a row, to squared norms of at most ``largest``, towards zero."""
    squared_norm = points.new_zeros(points.shape[:-1])
    # Column by column: beyond 2^53 sums are rounded, and the order of additions matters.
    for column in points.unbind(-1):
        squared_norm += column * column
    # A tensor, not a number: torch may divide by a number with a reciprocal, which is not correctly rounded.
    limit = torch.full_like(squared_norm, largest)
    ratio = limit / torch.maximum(squared_norm, limit)
    # Correctly rounded square roots: CUDA promises them, torch on a CPU does not and NumPy does.
    if ratio.is_cuda and torch.version.hip is None:
        factor = torch.sqrt(ratio)
    else:
        factor = torch.from_numpy(np.sqrt(ratio.cpu().numpy())).to(ratio.device)
    return torch.trunc(points * factor[..., None])


# -- from integers to cells ---------------------------------------------------------------------------


def whitened(q: Tensor, rule: DeviceRule) -> Tensor:
    """Return ``v = rint(2^-25 u)`` of ``GaussianCells``, shape (n, K, D)."""
    # Integers below 2^53 with all partial sums: exact in any order of the library.
    u = torch.addmm(rule.offsets, q, rule.factors)
    return u.mul_(2.0**-ROUNDING_BITS).round_().view(len(q), rule.n_cells, -1)


def _scores(v: Tensor, rule: DeviceRule) -> Tensor:
    """Return the exact scores of whitened records, shape (n, K)."""
    return v.square().sum(dim=2) + rule.constants


def _own_coordinates(q: Tensor, rule: DeviceRule, labels: Tensor) -> Tensor:
    """Return ``v`` of each record in one cell, shape (n, D)."""
    u = rule.offsets.view(rule.n_cells, -1)[labels]
    for column, factors in zip(q.unbind(1), rule.factors.view(q.shape[1], rule.n_cells, -1), strict=True):
        u += column[:, None] * factors[labels]  # exact: integers below 2^53
    return u.mul_(2.0**-ROUNDING_BITS).round_()


def _memberships(exact_scores: Tensor, rule: DeviceRule) -> Tensor:
    """Return integer memberships, as ``GaussianCells.responsibilities`` does."""
    # Relative to the lowest score, so that the largest weight is never 0.
    behind = exact_scores - exact_scores.min(dim=1, keepdim=True).values
    steps = torch.floor(behind * rule.steps_per_score).clamp_(max=len(rule.table) - 1)
    weight = rule.table[steps.to(torch.int64)]
    # Rounded down, so that the memberships of one record add up to at most 1.
    return torch.floor(weight * 2.0**WEIGHT_BITS / weight.sum(dim=1, keepdim=True))


def _residuals(v: Tensor, steps: Tensor) -> Tensor:
    """Return whitened coordinates in steps of residuals and shrunk, as ``GaussianCells.residuals``."""
    return shrink((v * steps[..., None]).round_(), LARGEST_RESIDUAL)


# -- from cells to sums -------------------------------------------------------------------------------


def moments(X: Tensor, task: Task) -> Tensor:
    """Return counts, sums and lower second moments of the cells, shape (K, ...), in int64."""
    q = quantise(X, task.grid)
    v = whitened(q, task.rule)
    if task.soft:
        weights = _memberships(_scores(v, task.rule), task.rule)
        if not task.residuals:
            return _sums(weights, q)
        own = _residuals(v[..., task.first : task.last], task.rule.residual_steps)
        return _with_others(_sums_of_each(weights, own), weights, q, task)
    labels = _scores(v, task.rule).argmin(dim=1)  # the first of equal scores
    weights, z = one_hot(labels, task.rule.n_cells), q
    if task.residuals:
        own = _own_coordinates(q, task.rule, labels)[:, task.first : task.last]
        z = _residuals(own, task.rule.residual_steps[labels])
    return _with_others(_sums(weights, z), weights, q, task)


def labels(X: Tensor, grid: DeviceGrid, rule: DeviceRule) -> Tensor:
    """Return the cell of each record."""
    return _scores(whitened(quantise(X, grid), rule), rule).argmin(dim=1)


def _with_others(measured: Tensor, weights: Tensor, q: Tensor, task: Task) -> Tensor:
    """Put the sums of entries that are added up as they are around those of the measured ones."""
    d = task.last - task.first
    if d == q.shape[1]:
        return measured
    sums = (weights.T @ q).to(torch.int64)
    sums[:, task.first : task.last] = measured[:, 1 : 1 + d]
    return torch.cat([measured[:, :1], sums, measured[:, 1 + d :]], dim=1)


def one_hot(labels: Tensor, n_cells: int) -> Tensor:
    """Return the weights of hard cells: 1 in a record's own cell, nothing for the label -1."""
    return (labels[:, None] == torch.arange(n_cells, device=labels.device)).to(torch.float64)


def _sums(weights: Tensor, z: Tensor) -> Tensor:
    """Return ``sum w (1, z, z_i z_j for j <= i)``, shape (K, 1 + D + D (D + 1) / 2), in int64."""
    columns = z.T.contiguous()
    found = [weights.sum(dim=0)[None], columns @ weights]
    if len(columns):
        rows = max(1, _PRODUCTS // len(columns))
        products = [(some[:, None] * columns).flatten(0, 1) @ weights for some in columns.split(rows)]
        found.append(torch.cat(products).index_select(0, lower_of(len(columns), z.device)))
    return torch.cat(found).T.to(torch.int64)


def _sums_of_each(weights: Tensor, z: Tensor) -> Tensor:
    """Return what ``_sums`` does where every cell has its own z, shape (n, K, D).

    With y = (1, z) all of it is in ``sum w y y^T``, a product of matrices for each cell. They are small, and
    long in the direction that is added up; blocks of rows give a GPU enough of them to work on.
    """
    y = torch.cat([torch.ones_like(weights[..., None]), z], dim=2)
    blocks = zip(_in_blocks(y), _in_blocks(weights[..., None]), strict=True)
    totals: Tensor = sum(((some * shares).transpose(2, 3) @ some).sum(dim=0) for some, shares in blocks)
    d = z.shape[2]
    second = totals[:, 1:, 1:].reshape(len(totals), d * d).index_select(1, lower_of(d, z.device))
    return torch.cat([totals[:, :, 0], second], dim=1).to(torch.int64)


def _in_blocks(rows: Tensor) -> list[Tensor]:
    """Cut (n, K, m) into blocks of rows and a last one of what is left, each (blocks, K, rows, m)."""
    whole = len(rows) - len(rows) % _BLOCK_ROWS
    parts = (rows[:whole].unflatten(0, (-1, _BLOCK_ROWS)), rows[whole:][None])
    return [part.transpose(1, 2) for part in parts if part.numel()]
