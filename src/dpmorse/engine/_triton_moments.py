"""Kernels: moments of the members of each cell, of records or of their residuals, as exact integers.

A program adds up some of the members of one cell: ``entries[begins[k] : begins[k + 1]]``. With soft cells an
entry is a place among the ``shares``, which has a row of records for each cell; with hard ones it is the row
of a record. Sums stay in float64 while they are below 2^53 (``_fused_passes`` sees to that), and go to int64
once. Exactness is that of ``_triton_cells``.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

import triton.language as tl

from dpmorse.engine._triton_cells import (
    jit,
    jit_any_size,
    load_records,
    rounded,
    shrinking,
    whitened_column,
    whitened_tile,
)
from dpmorse.statistics import LARGEST_RESIDUAL

_LARGEST_RESIDUAL = tl.constexpr(LARGEST_RESIDUAL)
"""``LARGEST_RESIDUAL`` as a constant of the kernel."""

_EXACT = tl.constexpr(2.0**53)
"""Below this every sum of integers is exact."""


@jit
def _members(
    entries: tl.tensor,
    start: tl.tensor,
    end: tl.tensor,
    cell: tl.tensor,
    n_rows: tl.tensor,
    shares: tl.tensor,
    SOFT: tl.constexpr,
    BLOCK: tl.constexpr,
) -> tl.tensor:
    """Return the rows and the weights of some members of a cell; those past the end weigh nothing."""
    place = start + tl.arange(0, BLOCK)
    there = place < end
    entry = tl.load(entries + place, mask=there, other=0)
    if SOFT:
        weight = tl.load(shares + entry, mask=there, other=0).to(tl.float64)
        row = tl.where(there, entry - tl.cast(cell, tl.int64) * n_rows, 0)
    else:
        weight, row = there.to(tl.float64), entry
    return row, weight, there


@jit
def _residuals(
    q: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    step: tl.tensor,
    n_cells: tl.tensor,
    FIRST: tl.constexpr,
    LAST: tl.constexpr,
    D: tl.constexpr,
) -> tl.tensor:
    """Return narrow records with entries FIRST to LAST as residuals, as ``GaussianCells.residuals``."""
    squared_norm = tl.zeros_like(q[0])
    residuals = ()
    for i in tl.static_range(FIRST, LAST):
        r = rounded(whitened_column(q, factors, offsets, n_cells, i, D) * step)
        squared_norm += r * r  # one column after the other: beyond 2^53 sums are rounded
        residuals = residuals + (r,)
    shrink = shrinking(squared_norm, _LARGEST_RESIDUAL)
    z = ()
    for i in tl.static_range(D):
        if i >= FIRST and i < LAST:
            z = z + ((residuals[i - FIRST] * shrink).to(tl.int32).to(tl.float64),)
        else:
            z = z + (q[i],)
    return z


@jit
def _added(sums: tl.tensor, weight: tl.tensor, z: tl.tensor, D: tl.constexpr) -> tl.tensor:
    """Return sums of ``w (1, z, z_i z_j for j <= i)`` with one more record in each thread."""
    added, weighted = (sums[0] + weight,), ()
    for i in tl.static_range(D):
        weighted = weighted + (weight * z[i],)
        added = added + (sums[1 + i] + weighted[i],)
    for i in tl.static_range(D):
        for j in tl.static_range(i + 1):
            added = added + (tl.fma(weighted[i], z[j], sums[1 + D + i * (i + 1) // 2 + j]),)
    return added


@jit_any_size
def moments_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    entries: tl.tensor,
    begins: tl.tensor,
    shares: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    steps: tl.tensor,
    totals: tl.tensor,
    SOFT: tl.constexpr,
    RESIDUALS: tl.constexpr,
    FIRST: tl.constexpr,
    LAST: tl.constexpr,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write count, sums and lower second moments of narrow records; every thread keeps sums of its own."""
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    begin, end, step = tl.load(begins + cell), tl.load(begins + cell + 1), tl.load(steps + cell)
    sums = ()
    for _ in tl.static_range(1 + D + D * (D + 1) // 2):
        sums = sums + (tl.zeros((BLOCK,), tl.float64),)
    for start in range(begin + program * BLOCK, end, programs * BLOCK):
        row, weight, there = _members(entries, start, end, cell, n_rows, shares, SOFT, BLOCK)
        z = load_records(q, row, there, D, 0)
        if RESIDUALS:
            z = _residuals(z, factors + cell * D, offsets + cell * D, step, n_cells, FIRST, LAST, D)
        sums = _added(sums, weight, z, D)
    here = totals + tl.cast(program * n_cells + cell, tl.int64) * (1 + D + D * (D + 1) // 2)
    for i in tl.static_range(1 + D + D * (D + 1) // 2):
        tl.store(here + i, tl.sum(sums[i], axis=0).to(tl.int64))


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
def wide_moments_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    entries: tl.tensor,
    begins: tl.tensor,
    shares: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    steps: tl.tensor,
    totals: tl.tensor,
    SOFT: tl.constexpr,
    RESIDUALS: tl.constexpr,
    FIRST: tl.constexpr,
    LAST: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write sums and all products of columns, row by row: ``(count, sums)`` above ``sum w z z^T``."""
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    begin, end, step = tl.load(begins + cell), tl.load(begins + cell + 1), tl.load(steps + cell)
    column = tl.arange(0, WIDTH)
    measured = ((column >= FIRST) & (column < LAST))[None, :]
    count, sums = tl.zeros((BLOCK,), tl.float64), tl.zeros((WIDTH,), tl.float64)
    products = tl.zeros((WIDTH, WIDTH), tl.float64)
    for start in range(begin + program * BLOCK, end, programs * BLOCK):
        row, weight, there = _members(entries, start, end, cell, n_rows, shares, SOFT, BLOCK)
        z = load_records(q, row, there, D, WIDTH)
        if RESIDUALS:
            v = whitened_tile(z, factors + cell * D, offsets + cell * D, n_cells, D, WIDTH)
            r = tl.where(measured, rounded(v * step), 0.0)
            shrink = shrinking(_squared_norms(r, WIDTH), _LARGEST_RESIDUAL)
            z = tl.where(measured, (r * shrink[:, None]).to(tl.int32).to(tl.float64), z)
        weighted = weight[:, None] * z
        count += weight
        sums += tl.sum(weighted, axis=0)
        products += tl.dot(tl.trans(weighted), z, out_dtype=tl.float64)
    here = totals + tl.cast(program * n_cells + cell, tl.int64) * ((1 + WIDTH) * WIDTH + 1)
    tl.store(here, tl.sum(count, axis=0).to(tl.int64))
    tl.store(here + 1 + column, sums.to(tl.int64))
    at = (1 + tl.arange(0, WIDTH)[:, None]) * WIDTH + column[None, :]
    tl.store(here + 1 + at, products.to(tl.int64))
