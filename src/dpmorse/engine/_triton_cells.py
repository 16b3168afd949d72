"""Kernels: from records to integers, from integers to the cells they are in.

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

from dpmorse.statistics import ROUNDING_BITS

if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 6):
    raise ImportError("the kernels need Triton 3.6 or newer")

Function = TypeVar("Function", bound=Callable[..., Any])
jit: Callable[[Function], Function] = triton.jit
jit_any_size: Callable[[Callable[..., None]], Any] = triton.jit(do_not_specialize=["n_rows", "n_cells"])

_ROUND = tl.constexpr(1.5 * 2.0**52)
"""Adding and subtracting this rounds a float64 below 2^51 to the nearest integer, ties to even."""

_UNROUNDED = tl.constexpr(2.0**-ROUNDING_BITS)
"""Factor from ``u`` to ``v`` before rounding (see ``GaussianCells``): a power of two, so it is exact."""


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
    BITS: tl.constexpr,
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
    WORDS: tl.constexpr = (D * BITS + 63) // 64
    at = row[:, None] * (WORDS * 64 // BITS) + column[None, :]
    tl.store(q + at, whole.to(tl.int32), mask=there)


# -- from integers to cells ---------------------------------------------------------------------------


@jit
def load_words(
    q: tl.tensor, row: tl.tensor, there: tl.tensor, D: tl.constexpr, BITS: tl.constexpr
) -> tl.tensor:
    """Return narrow records as they are stored: several columns in a word.

    Where rows lie apart, a load of one column would take as long as that of a word.
    """
    WORDS: tl.constexpr = (D * BITS + 63) // 64
    words = ()
    for i in tl.static_range(WORDS):
        words = words + (tl.load(q + row * WORDS + i, mask=there, other=0),)
    return words


@jit
def columns_of(words: tl.tensor, D: tl.constexpr, BITS: tl.constexpr) -> tl.tensor:
    """Return the columns that are in words."""
    columns = ()
    for j in tl.static_range(D):
        half = (words[j * BITS // 64] >> (j * BITS % 64 // 32 * 32)).to(tl.int32)
        if BITS == 16:
            half = half >> 16 if j % 2 else (half << 16) >> 16
        columns = columns + (half.to(tl.float64),)
    return columns


@jit
def load_records(
    q: tl.tensor,
    row: tl.tensor,
    there: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BITS: tl.constexpr,
) -> tl.tensor:
    """Return records: a tuple of columns, or a tile with zeros past the last column."""
    if WIDTH == 0:
        records = columns_of(load_words(q, row, there, D, BITS), D, BITS)
    else:
        WORDS: tl.constexpr = (D * BITS + 63) // 64
        column = tl.arange(0, WIDTH)
        here = there[:, None] & (column < D)[None, :]
        at = row[:, None] * (WORDS * 64 // BITS) + column[None, :]
        records = tl.load(q + at, mask=here, other=0).to(tl.float64)
    return records


@jit
def whitened_column(
    q: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    n_cells: tl.tensor,
    i: tl.constexpr,
    D: tl.constexpr,
    ROUND: tl.constexpr,
) -> tl.tensor:
    """Return coordinate i of narrow records in a cell: ``v`` of ``GaussianCells``, exact integers.

    ``factors`` and ``offsets`` are where those of the cell begin. ROUND cells have diagonal factors.
    """
    u = tl.load(offsets + i)
    for j in tl.static_range(i if ROUND else 0, i + 1):
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
    ROUND: tl.constexpr,
) -> tl.tensor:
    """Return |v|^2 of each record in a cell."""
    if WIDTH == 0:
        total = tl.zeros_like(q[0])
        for i in tl.static_range(D):
            v = whitened_column(q, factors, offsets, n_cells, i, D, ROUND)
            total = tl.fma(v, v, total)
    else:
        tile = whitened_tile(q, factors, offsets, n_cells, D, WIDTH)
        total = tl.sum(tile * tile, axis=1)
    return total


@jit
def score_of(
    q: tl.tensor,
    cell: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    n_cells: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROUND: tl.constexpr,
) -> tl.tensor:
    """Return the exact score of each record in a cell."""
    squared = _squared_length(q, factors + cell * D, offsets + cell * D, n_cells, D, WIDTH, ROUND)
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
    BITS: tl.constexpr,
    ROUND: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write the cell of the lowest score of each record; ties go to the lowest index."""
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < n_rows
    records = load_records(q, row, there, D, WIDTH, BITS)
    lowest = tl.full((BLOCK,), float("inf"), tl.float64)
    label = tl.zeros((BLOCK,), tl.int32)
    for cell in range(n_cells):
        score = score_of(records, cell, factors, offsets, constants, n_cells, D, WIDTH, ROUND)
        label = tl.where(score < lowest, cell, label)
        lowest = tl.minimum(lowest, score)
    tl.store(labels + row, label, mask=there)
