"""Scores of cells, and moments of residuals in all of them, without an array of records x cells x columns.

Values are integers in float64, added up and multiplied as matrices below 2^53 (see ``_tensor_passes``), so
that every sum is exact in any order, on tensor cores or not. All else is done one operation at a time, each
correctly rounded; nothing may be fused that is not a product of matrices.
"""

# mypy: disable-error-code="assignment, unreachable"
# ruff: noqa: PLR0917 - kernels have many arguments

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl

from dpmorse.engine._triton_labels import jit, shrink
from dpmorse.statistics import LARGEST_RESIDUAL, ROUNDING_BITS

jit_any_size: Callable[[Callable[..., None]], Any] = triton.jit(do_not_specialize=["n_rows", "n_cells"])

_ROUND = tl.constexpr(1.5 * 2.0**52)
"""Adding and subtracting this rounds a float64 below 2^51 to the nearest integer, ties to even."""

_UNROUNDED = tl.constexpr(2.0**-ROUNDING_BITS)
"""Factor from ``u`` to ``v`` before rounding (see ``GaussianCells``)."""

_LARGEST_RESIDUAL = tl.constexpr(LARGEST_RESIDUAL)
"""``LARGEST_RESIDUAL`` as a constant of the kernel."""

_EXACT = tl.constexpr(2.0**53)
"""Below this every sum of integers is exact."""


@jit
def _records(
    q: tl.tensor, row: tl.tensor, n_rows: tl.tensor, D: tl.constexpr, WIDTH: tl.constexpr
) -> tl.tensor:
    """Return some records, with zeros past the last row and the last column."""
    column = tl.arange(0, WIDTH)
    there = (row[:, None] < n_rows) & (column[None, :] < D)
    return tl.load(q + row[:, None] * D + column[None, :], mask=there, other=0.0).to(tl.float64)


@jit
def _factor(
    factors: tl.tensor, cell: tl.tensor, n_cells: tl.tensor, D: tl.constexpr, WIDTH: tl.constexpr
) -> tl.tensor:
    """Return the matrix that whitens for one cell, transposed; factors of all cells are side by side."""
    row, column = tl.arange(0, WIDTH)[:, None], tl.arange(0, WIDTH)[None, :]
    return tl.load(
        factors + row * (n_cells * D) + cell * D + column, mask=(row < D) & (column < D), other=0.0
    )


@jit
def _offset(offsets: tl.tensor, cell: tl.tensor, D: tl.constexpr, WIDTH: tl.constexpr) -> tl.tensor:
    column = tl.arange(0, WIDTH)
    return tl.load(offsets + cell * D + column, mask=column < D, other=0.0)[None, :]


@jit
def _rounded(values: tl.tensor) -> tl.tensor:
    return (values + _ROUND) - _ROUND


@jit
def _whitened(q: tl.tensor, factor: tl.tensor, offset: tl.tensor) -> tl.tensor:
    """Return ``v`` of ``GaussianCells``: exact integers."""
    return _rounded((tl.dot(q, factor, out_dtype=tl.float64) + offset) * _UNROUNDED)


@jit_any_size
def scores_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    scores: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write the scores of a block of records, one row for each cell."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    records = _records(q, row, n_rows, D, WIDTH)
    for cell in range(n_cells):
        factor, offset = _factor(factors, cell, n_cells, D, WIDTH), _offset(offsets, cell, D, WIDTH)
        v = _whitened(records, factor, offset)
        score = tl.sum(v * v, axis=1) + tl.load(constants + cell)
        tl.store(scores + tl.cast(cell, tl.int64) * n_rows + row, score, mask=row < n_rows)


@jit
def _squared_norms(r: tl.tensor, WIDTH: tl.constexpr) -> tl.tensor:
    """Return the squared norms of rows; beyond 2^53 sums are rounded, and the order of additions matters."""
    norms = tl.sum(r * r, axis=1)
    if tl.max(norms, axis=0) >= _EXACT:
        norms = tl.zeros_like(norms)
        column = tl.arange(0, WIDTH)[None, :]
        for i in range(WIDTH):
            value = tl.sum(tl.where(column == i, r, 0.0), axis=1)
            norms += value * value
    return norms


@jit_any_size
def moments_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    weights: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    steps: tl.tensor,
    totals: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Add up ``w y y^T`` over every ``num_programs``-th block of records for one cell.

    ``y`` is a record's residual in that cell, followed by 1: counts and sums are products as well.
    """
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    column = tl.arange(0, WIDTH)[None, :]
    factor, offset = _factor(factors, cell, n_cells, D, WIDTH), _offset(offsets, cell, D, WIDTH)
    step = tl.load(steps + cell)
    total = tl.zeros((WIDTH, WIDTH), tl.float64)
    for block in range(program, tl.cdiv(n_rows, BLOCK), programs):
        row = tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        weight = tl.load(weights + tl.cast(cell, tl.int64) * n_rows + row, mask=row < n_rows, other=0.0)
        if tl.max(weight, axis=0) > 0:
            v = _whitened(_records(q, row, n_rows, D, WIDTH), factor, offset)
            r = _rounded(v * step)
            r = shrink(r, _squared_norms(r, WIDTH), _LARGEST_RESIDUAL).to(tl.float64)
            y = tl.where(column == D, 1.0, r)
            total += tl.dot(tl.trans(y * weight[:, None]), y, out_dtype=tl.float64)
    at = tl.arange(0, WIDTH)[:, None] * WIDTH + column
    here = totals + tl.cast(program * n_cells + cell, tl.int64) * (WIDTH * WIDTH)
    tl.store(here + at, total.to(tl.int64))
