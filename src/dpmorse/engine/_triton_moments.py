"""Kernels: the members of each cell and their moments, of records or of residuals, as exact integers.

A program adds up some of the members of one cell: ``rows[begins[k] : ends[k]]``. With soft cells each has a
weight, of which its membership is made; with hard ones it counts as one. Sums stay in float64 while they are
below 2^53 (``_fused_passes`` sees to that), and go to int64 once. Exactness is that of ``_triton_cells``.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

import triton.language as tl

from dpmorse.engine._triton_cells import (
    columns_of,
    jit,
    jit_any_size,
    load_records,
    load_words,
    rounded,
    score_of,
    shrinking,
    whitened_column,
    whitened_tile,
)
from dpmorse.statistics import LARGEST_RESIDUAL, WEIGHT_BITS

_WEIGHT_ONE = tl.constexpr(2.0**WEIGHT_BITS)
"""The integer membership that represents 1."""

_LARGEST_RESIDUAL = tl.constexpr(LARGEST_RESIDUAL)
"""``LARGEST_RESIDUAL`` as a constant of the kernel."""

_EXACT = tl.constexpr(2.0**53)
"""Below this every sum of integers is exact."""


@jit_any_size
def members_kernel(
    q: tl.tensor,
    n_rows: tl.tensor,
    n_cells: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    table: tl.tensor,
    last: tl.tensor,
    steps_per_score: tl.tensor,
    sizes: tl.tensor,
    rows: tl.tensor,
    weights: tl.tensor,
    divisors: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BITS: tl.constexpr,
    ROUND: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """List the members of soft cells: their rows, their weights, and the sum of each record's weights.

    A weight is that of ``GaussianCells.responsibilities`` before it is divided. Scores are computed twice:
    once for the lowest, once more for what each cell is behind it. Keeping them would take longer. ``rows``
    and ``weights`` have n_rows places for each cell, of which the first ``sizes`` are taken, in any order.
    """
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = row < n_rows
    records = load_records(q, row.to(tl.int64), there, D, WIDTH, BITS)
    lowest = tl.full((BLOCK,), float("inf"), tl.float64)
    for cell in range(n_cells):
        score = score_of(records, cell, factors, offsets, constants, n_cells, D, WIDTH, ROUND)
        lowest = tl.minimum(lowest, score)
    steps = tl.load(steps_per_score)
    total = tl.zeros((BLOCK,), tl.int32)
    for cell in range(n_cells):
        behind = score_of(records, cell, factors, offsets, constants, n_cells, D, WIDTH, ROUND) - lowest
        step = tl.minimum(behind * steps, tl.zeros_like(behind) + last).to(tl.int32)
        weight = tl.where(there, tl.load(table + step).to(tl.int32), 0)
        total += weight
        member = (weight > 0).to(tl.int32)
        before = tl.cumsum(member, axis=0)
        begin = tl.atomic_add(sizes + cell, tl.sum(member, axis=0), sem="relaxed")
        place = tl.cast(cell, tl.int64) * n_rows + begin + before - 1
        tl.store(rows + place, row, mask=member > 0)
        tl.store(weights + place, weight, mask=member > 0)
    tl.store(divisors + row, total, mask=there)


@jit
def _listed(
    rows: tl.tensor, weights: tl.tensor, place: tl.tensor, end: tl.tensor, SOFT: tl.constexpr
) -> tl.tensor:
    """Return rows and weights of some members of a cell; past the end the first row, without a weight."""
    there = place < end
    row = tl.load(rows + place, mask=there, other=0).to(tl.int64)
    return row, tl.load(weights + place, mask=there, other=0) if SOFT else there.to(tl.int32)


@jit
def _share(weight: tl.tensor, divisor: tl.tensor, SOFT: tl.constexpr) -> tl.tensor:
    """Return integer memberships: 1 in hard cells, else ``weight`` of a sum of weights, rounded down.

    Sums are from 1 to 2^31. By a reciprocal the quotient may be off by one, which the remainder, an exact
    integer, tells.
    """
    if SOFT:
        dividend, divisor = weight.to(tl.float64) * _WEIGHT_ONE, divisor.to(tl.float64)
        quotient = tl.floor(dividend * (1.0 / divisor))
        left = tl.fma(-quotient, divisor, dividend)
        share = quotient + tl.where(left >= divisor, 1.0, 0.0) - tl.where(left < 0, 1.0, 0.0)
    else:
        share = weight.to(tl.float64)
    return share


@jit
def _looked_up(
    q: tl.tensor,
    divisors: tl.tensor,
    row: tl.tensor,
    SOFT: tl.constexpr,
    D: tl.constexpr,
    BITS: tl.constexpr,
) -> tl.tensor:
    """Return what is stored of narrow records, and their divisors."""
    return load_words(q, row, row >= 0, D, BITS), tl.load(divisors + row) if SOFT else 1


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
    ROUND: tl.constexpr,
) -> tl.tensor:
    """Return narrow records with entries FIRST to LAST as residuals, as ``GaussianCells.residuals``."""
    squared_norm = tl.zeros_like(q[0])
    residuals = ()
    for i in tl.static_range(FIRST, LAST):
        r = rounded(whitened_column(q, factors, offsets, n_cells, i, D, ROUND) * step)
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
    n_cells: tl.tensor,
    rows: tl.tensor,
    begins: tl.tensor,
    ends: tl.tensor,
    weights: tl.tensor,
    divisors: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    steps: tl.tensor,
    totals: tl.tensor,
    SOFT: tl.constexpr,
    RESIDUALS: tl.constexpr,
    FIRST: tl.constexpr,
    LAST: tl.constexpr,
    D: tl.constexpr,
    BITS: tl.constexpr,
    ROUND: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write count, sums and lower second moments of narrow records; every thread keeps sums of its own."""
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    begin, end, step = tl.load(begins + cell), tl.load(ends + cell), tl.load(steps + cell)
    sums = ()
    for _ in tl.static_range(1 + D + D * (D + 1) // 2):
        sums = sums + (tl.zeros((BLOCK,), tl.float64),)
    # Loads take longer than all else: records are loaded one turn ahead, and their rows two.
    first, stride = begin + program * BLOCK, programs * BLOCK
    place = first + tl.arange(0, BLOCK)
    row, weight = _listed(rows, weights, place, end, SOFT)
    words, divisor = _looked_up(q, divisors, row, SOFT, D, BITS)
    next_row, next_weight = _listed(rows, weights, place + stride, end, SOFT)
    for _ in range(first, end, stride):
        place += stride
        next_words, next_divisor = _looked_up(q, divisors, next_row, SOFT, D, BITS)
        far_row, far_weight = _listed(rows, weights, place + stride, end, SOFT)
        z = columns_of(words, D, BITS)
        if RESIDUALS:
            z = _residuals(z, factors + cell * D, offsets + cell * D, step, n_cells, FIRST, LAST, D, ROUND)
        sums = _added(sums, _share(weight, divisor, SOFT), z, D)
        words, divisor, weight = next_words, next_divisor, next_weight
        next_row, next_weight = far_row, far_weight
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
    n_cells: tl.tensor,
    rows: tl.tensor,
    begins: tl.tensor,
    ends: tl.tensor,
    weights: tl.tensor,
    divisors: tl.tensor,
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
    BITS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Write sums and all products of columns, row by row: ``(count, sums)`` above ``sum w z z^T``."""
    program, programs, cell = tl.program_id(0), tl.num_programs(0), tl.program_id(1)
    begin, end, step = tl.load(begins + cell), tl.load(ends + cell), tl.load(steps + cell)
    column = tl.arange(0, WIDTH)
    measured = ((column >= FIRST) & (column < LAST))[None, :]
    count, sums = tl.zeros((BLOCK,), tl.float64), tl.zeros((WIDTH,), tl.float64)
    products = tl.zeros((WIDTH, WIDTH), tl.float64)
    for start in range(begin + program * BLOCK, end, programs * BLOCK):
        row, weight = _listed(rows, weights, start + tl.arange(0, BLOCK), end, SOFT)
        share = _share(weight, tl.load(divisors + row) if SOFT else 1, SOFT)
        z = load_records(q, row, row >= 0, D, WIDTH, BITS)
        if RESIDUALS:
            v = whitened_tile(z, factors + cell * D, offsets + cell * D, n_cells, D, WIDTH)
            r = tl.where(measured, rounded(v * step), 0.0)
            shrink = shrinking(_squared_norms(r, WIDTH), _LARGEST_RESIDUAL)
            z = tl.where(measured, (r * shrink[:, None]).to(tl.int32).to(tl.float64), z)
        weighted = share[:, None] * z
        count += share
        sums += tl.sum(weighted, axis=0)
        products += tl.dot(tl.trans(weighted), z, out_dtype=tl.float64)
    here = totals + tl.cast(program * n_cells + cell, tl.int64) * ((1 + WIDTH) * WIDTH + 1)
    tl.store(here, tl.sum(count, axis=0).to(tl.int64))
    tl.store(here + 1 + column, sums.to(tl.int64))
    at = (1 + tl.arange(0, WIDTH)[:, None]) * WIDTH + column[None, :]
    tl.store(here + 1 + at, products.to(tl.int64))
