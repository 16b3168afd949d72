"""Kernels: from records to integers, from integers to the cells they are in, and to lengths in a cell.

Arithmetic is in float64, which an H100 or H200 does at half the speed of float32. Values that are added up
or multiplied are integers below 2^53 together with all partial sums, so that sums are exact in any order, and
a fused multiplication and addition (``tl.fma``, ``tl.dot``) rounds nothing either. All else is done one
operation at a time, each correctly rounded, as in the plain form: the compiler must not fuse what is not
written as fused.

Records of few columns are *narrow*: a thread holds all columns of some records, as a tuple of vectors, and
all threads read the same cell at once. In more columns (``WIDTH`` above 0) a tile of records is multiplied by
the matrix of a cell, on tensor cores.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

from collections.abc import Callable
from typing import Any, TypeVar

import triton
import triton.language as tl

from dpmorse.statistics import ROUNDING_BITS, WEIGHT_BITS

if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 6):
    raise ImportError("the kernels need Triton 3.6 or newer")

Function = TypeVar("Function", bound=Callable[..., Any])
jit: Callable[[Function], Function] = triton.jit
jit_any_size: Callable[[Callable[..., None]], Any] = triton.jit(do_not_specialize=["n_rows", "n_cells"])

_ROUND = tl.constexpr(1.5 * 2.0**52)
"""Adding and subtracting this rounds a float64 below 2^51 to the nearest integer, ties to even."""

_UNROUNDED = tl.constexpr(2.0**-ROUNDING_BITS)
"""Factor from ``u`` to ``v`` before rounding (see ``GaussianCells``): a power of two, so it is exact."""

_WEIGHT_ONE = tl.constexpr(2.0**WEIGHT_BITS)
"""The integer membership that represents 1."""


# -- from records to integers -------------------------------------------------------------------------


@jit
def rounded(values: tl.tensor) -> tl.tensor:
    """Round to integers, ties to even."""
    return (values + _ROUND) - _ROUND


@jit
def shrinking(squared_norm: tl.tensor, largest: tl.tensor) -> tl.tensor:
    """Return the factor that shrinks to a squared norm of ``largest``; exactly 1 for what is not longer."""
    limit = tl.zeros_like(squared_norm) + largest
    return tl.sqrt(limit / tl.maximum(squared_norm, limit))


@jit_any_size
def quantise_kernel(
    X: tl.tensor,
    n_rows: tl.tensor,
    row_stride: tl.tensor,
    column_stride: tl.tensor,
    centre: tl.tensor,
    half_width: tl.tensor,
    steps_per_unit: tl.tensor,
    squared_radius: tl.tensor,
    q: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BALL: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write a block of records as integers, row by row; the same arithmetic as ``Domain.quantise``."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    column = tl.arange(0, WIDTH)
    used = column < D
    there = (row < n_rows)[:, None] & used[None, :]
    at = row[:, None] * row_stride + column[None, :].to(tl.int64) * column_stride
    half = tl.load(half_width + column, mask=used, other=0.0)[None, :]
    offset = tl.load(X + at, mask=there, other=0.0).to(tl.float64)
    offset -= tl.load(centre + column, mask=used, other=0.0)[None, :]
    offset = tl.where(offset < half, offset, half)  # NaN must not pass, see privacy.md
    offset = tl.where(offset > -half, offset, -half)
    whole = rounded(offset * tl.load(steps_per_unit + column, mask=used, other=0.0)[None, :])
    if BALL:
        whole *= shrinking(tl.sum(whole * whole, axis=1), tl.load(squared_radius))[:, None]
    # towards zero, as the shrunk ones must be; others are whole already
    tl.store(q + row[:, None] * D + column[None, :], whole.to(tl.int32), mask=there)


# -- from integers to cells ---------------------------------------------------------------------------


@jit
def load_records(
    q: tl.tensor, row: tl.tensor, there: tl.tensor, D: tl.constexpr, WIDTH: tl.constexpr
) -> tl.tensor:
    """Return records: a tuple of columns, or a tile with zeros past the last column."""
    if WIDTH == 0:
        records = ()
        for j in tl.static_range(D):
            records = records + (tl.load(q + row * D + j, mask=there, other=0).to(tl.float64),)
    else:
        column = tl.arange(0, WIDTH)
        here = there[:, None] & (column < D)[None, :]
        records = tl.load(q + row[:, None] * D + column[None, :], mask=here, other=0).to(tl.float64)
    return records


@jit
def whitened_column(
    q: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    n_cells: tl.tensor,
    i: tl.constexpr,
    D: tl.constexpr,
) -> tl.tensor:
    """Return coordinate i of narrow records in a cell: ``v`` of ``GaussianCells``, exact integers.

    ``factors`` and ``offsets`` are where those of the cell begin.
    """
    u = tl.fma(q[0], tl.load(factors + i), tl.load(offsets + i))
    for j in tl.static_range(1, i + 1):
        u = tl.fma(q[j], tl.load(factors + j * (n_cells * D) + i), u)
    return tl.fma(u, _UNROUNDED, _ROUND) - _ROUND


@jit
def whitened_tile(
    q: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    n_cells: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
) -> tl.tensor:
    """Return all coordinates of a tile of records in a cell, with zeros past the last one."""
    j, i = tl.arange(0, WIDTH)[:, None], tl.arange(0, WIDTH)[None, :]
    factor = tl.load(factors + j * (n_cells * D) + i, mask=(j < D) & (i < D), other=0.0)
    u = tl.dot(q, factor, out_dtype=tl.float64) + tl.load(offsets + i, mask=i < D, other=0.0)
    return rounded(u * _UNROUNDED)


@jit
def _squared_length(
    q: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    n_cells: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
) -> tl.tensor:
    """Return |v|^2 of each record in a cell."""
    if WIDTH == 0:
        total = tl.zeros_like(q[0])
        for i in tl.static_range(D):
            v = whitened_column(q, factors, offsets, n_cells, i, D)
            total = tl.fma(v, v, total)
    else:
        tile = whitened_tile(q, factors, offsets, n_cells, D, WIDTH)
        total = tl.sum(tile * tile, axis=1)
    return total


@jit
def _score(
    q: tl.tensor,
    cell: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    n_cells: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
) -> tl.tensor:
    """Return the exact score of each record in a cell."""
    squared = _squared_length(q, factors + cell * D, offsets + cell * D, n_cells, D, WIDTH)
    return squared + tl.load(constants + cell)


@jit_any_size
def labels_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    labels: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write the cell of the lowest score of each record; ties go to the lowest index."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < n_rows
    records = load_records(q, row, there, D, WIDTH)
    lowest = tl.full((BLOCK,), float("inf"), tl.float64)
    label = tl.zeros((BLOCK,), tl.int32)
    for cell in range(n_cells):
        score = _score(records, cell, factors, offsets, constants, n_cells, D, WIDTH)
        label = tl.where(score < lowest, cell, label)
        lowest = tl.minimum(lowest, score)
    tl.store(labels + row, label, mask=there)


@jit_any_size
def shares_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    table: tl.tensor,
    last: tl.tensor,
    steps_per_score: tl.tensor,
    shares: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write the integer memberships of a block of records, as ``GaussianCells.responsibilities``.

    Scores are computed twice: once for the lowest, once more for what each cell is behind it. Keeping them
    would take longer. ``shares`` has a row for each cell, and holds entries of the table in between.
    """
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < n_rows
    records = load_records(q, row, there, D, WIDTH)
    lowest = tl.full((BLOCK,), float("inf"), tl.float64)
    for cell in range(n_cells):
        lowest = tl.minimum(lowest, _score(records, cell, factors, offsets, constants, n_cells, D, WIDTH))
    steps = tl.load(steps_per_score)
    total = tl.zeros((BLOCK,), tl.int32)
    for cell in range(n_cells):
        behind = _score(records, cell, factors, offsets, constants, n_cells, D, WIDTH) - lowest
        step = tl.minimum(behind * steps, tl.zeros_like(behind) + last).to(tl.int32)
        weight = tl.load(table + step).to(tl.int32)
        total += weight
        tl.store(shares + tl.cast(cell, tl.int64) * n_rows + row, weight, mask=there)
    tl.debug_barrier()  # what one thread has stored another may load
    for cell in range(n_cells):
        here = shares + tl.cast(cell, tl.int64) * n_rows + row
        weight = tl.load(here, mask=there, other=0).to(tl.float64) * _WEIGHT_ONE
        tl.store(here, _whole_quotient(weight, total.to(tl.float64)).to(tl.int32), mask=there)


@jit
def _whole_quotient(dividend: tl.tensor, divisor: tl.tensor) -> tl.tensor:
    """Return the integer quotient, rounded down, of integers up to 2^33 and from 1 to 2^31.

    By a reciprocal it may be off by one, which the remainder, an exact integer, tells.
    """
    quotient = tl.floor(dividend * (1.0 / divisor))
    left = tl.fma(-quotient, divisor, dividend)
    return quotient + tl.where(left >= divisor, 1.0, 0.0) - tl.where(left < 0, 1.0, 0.0)


@jit_any_size
def lengths_kernel(
    q: tl.tensor,
    n_cells: tl.tensor,
    entries: tl.tensor,
    begins: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    lengths: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write the exact squared length of the records of one cell in its coordinates.

    ``entries[begins[k] : begins[k + 1]]`` are the rows of cell k.
    """
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    begin, end = tl.load(begins + cell), tl.load(begins + cell + 1)
    for start in range(begin + program * BLOCK, end, programs * BLOCK):
        there = start + tl.arange(0, BLOCK) < end
        row = tl.load(entries + start + tl.arange(0, BLOCK), mask=there, other=0)
        records = load_records(q, row, there, D, WIDTH)
        squared = _squared_length(records, factors + cell * D, offsets + cell * D, n_cells, D, WIDTH)
        tl.store(lengths + row, squared, mask=there)
