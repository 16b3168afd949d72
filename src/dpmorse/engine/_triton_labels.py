"""Parts of the fused kernel: from records to integers, and from integers to the cells they are in.

``y = offset + factor q`` is a product of matrices, which tensor cores compute from float16: q is split into
``4 a + b``, both exact, and factors into two halves each. Where two scores are within the bound that
``fast_rule`` proves, the record is left out and listed, and plain torch adds it up exactly.

Nothing may be fused that is not written as ``tl.fma``: a fused multiplication and rounding in ``quantise``
would skip a rounding that the plain form has.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

from collections.abc import Callable
from typing import Any, TypeVar

import triton
import triton.language as tl

from dpmorse.statistics import LARGEST_RESIDUAL, ROUNDING_BITS

if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 6):
    raise ImportError("the fused kernel needs Triton 3.6 or newer")

Function = TypeVar("Function", bound=Callable[..., Any])
jit: Callable[[Function], Function] = triton.jit

ROUND_32 = tl.constexpr(1.5 * 2.0**23)
"""Adding and subtracting this rounds a float32 below 2^22 to the nearest integer, ties to even: the spacing
of float32 numbers there is 1."""

UNSURE = tl.constexpr(1 << 10)
"""The label of a record whose cell is not decided by fast scores. It is larger than any cell's number."""

_ROUND_64 = tl.constexpr(1.5 * 2.0**52)
"""The same for a float64 below 2^51."""

_ROUND_BOTH = tl.constexpr(1.5 * 2.0**52 + 0x4B400000)
"""Rounds like ``_ROUND_64``. The lower 32 bits of the sum are then those of the integer plus ``ROUND_32`` in
float32, so that no conversion is needed."""

_UNROUNDED = tl.constexpr(2.0**-ROUNDING_BITS)
"""Factor from ``u`` to ``v`` before rounding (see ``GaussianCells``)."""

_LARGEST_RESIDUAL = tl.constexpr(LARGEST_RESIDUAL)
"""``LARGEST_RESIDUAL`` as a constant of the kernel."""

_ONE = tl.constexpr(1 << 10)
"""The entry of a record that offsets, which are divided by 2^10, are multiplied by."""


# -- from records to integers -------------------------------------------------------------------------


@jit
def load(
    X: tl.tensor,
    n_rows: tl.tensor,
    block: tl.tensor,
    row_stride: tl.tensor,
    at: tl.tensor,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
) -> tl.tensor:
    """Return a block of records, with zeros past the end."""
    start = tl.cast(block, tl.int64) * BLOCK
    row, column = tl.arange(0, BLOCK), tl.arange(0, at.shape[1])
    there = (row[:, None] < n_rows - start) & (column[None, :] < D)
    return tl.load(X + start * row_stride + at, mask=there, other=0.0, eviction_policy="evict_first")


@jit
def quantise(
    x: tl.tensor,
    centre: tl.tensor,
    half: tl.tensor,
    lowest: tl.tensor,
    steps: tl.tensor,
    SINGLE: tl.constexpr,
) -> tl.tensor:
    """Return coordinates as integers in float32; the same arithmetic as ``Domain.quantise``.

    In single precision, see ``_fused_pass``, products are exact and rounding them is all there is.
    """
    if SINGLE:
        inside = tl.maximum(tl.minimum(x, half.to(tl.float32)), lowest.to(tl.float32))  # never NaN
        q = tl.fma(inside, steps.to(tl.float32), ROUND_32) - ROUND_32
    else:
        offset = x.to(tl.float64) - centre
        offset = tl.where(offset < half, offset, half)  # NaN must not pass, see privacy.md
        offset = tl.where(offset > lowest, offset, lowest)
        low = (offset * steps + _ROUND_BOTH).to(tl.int64, bitcast=True).to(tl.int32)
        q = low.to(tl.float32, bitcast=True) - ROUND_32
    return q


@jit
def shrink(points: tl.tensor, squared_norm: tl.tensor, largest: tl.tensor) -> tl.tensor:
    """Shrink integer points to a squared norm of at most ``largest``, towards zero."""
    limit = tl.zeros_like(squared_norm) + largest
    factor = tl.sqrt(limit / tl.maximum(squared_norm, limit))
    return (points * factor[:, None]).to(tl.int32).to(tl.float32)


@jit
def _whitened(
    q: tl.tensor, row: tl.tensor, factors: tl.tensor, offsets: tl.tensor, D: tl.constexpr
) -> tl.tensor:
    """Return one coordinate, in float64, of each record in the coordinates of a cell: exact integers."""
    column = tl.arange(0, q.shape[1])
    factor = tl.load(factors + (row * D)[:, None] + column[None, :], mask=column[None, :] < D, other=0.0)
    u = tl.sum(q * factor, axis=1) + tl.load(offsets + row)
    return (u * _UNROUNDED + _ROUND_64) - _ROUND_64


@jit
def residuals(
    q: tl.tensor,
    label: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    steps: tl.tensor,
    D: tl.constexpr,
) -> tl.tensor:
    """Return records in the whitened coordinates of their cells, as ``GaussianCells.residuals``."""
    column = tl.arange(0, q.shape[1])
    step = tl.load(steps + label)
    residual = tl.zeros(q.shape, tl.float64)
    squared_norm = tl.zeros(label.shape, tl.float64)
    for i in range(D):
        v = _whitened(q, label * D + i, factors, offsets, D)
        r = (v * step + _ROUND_64) - _ROUND_64
        squared_norm += r * r
        residual = tl.where(column[None, :] == i, r[:, None], residual)
    return shrink(residual, squared_norm, _LARGEST_RESIDUAL)


# -- from integers to cells ---------------------------------------------------------------------------


@jit
def load_fast_rule(
    coefficients: tl.tensor, constants: tl.tensor, WIDTH: tl.constexpr, FOURS: tl.constexpr
) -> tl.tensor:
    """Return the matrices of every eight cells and of four that may be left, and the constants of fours."""
    row, column, cell = tl.arange(0, 4 * WIDTH)[:, None], tl.arange(0, 8 * WIDTH), tl.arange(0, 4)
    matrices, offsets = (), ()
    for pair in tl.static_range(FOURS // 2):
        eight = coefficients + pair * 32 * WIDTH * WIDTH + row * (8 * WIDTH) + column[None, :]
        matrices = matrices + (tl.load(eight),)
    if FOURS % 2 == 1:
        four = row * (4 * WIDTH) + tl.arange(0, 4 * WIDTH)[None, :]
        matrices = matrices + (tl.load(coefficients + (FOURS // 2) * 32 * WIDTH * WIDTH + four),)
    for four in tl.static_range(FOURS):
        offsets = offsets + (tl.load(constants + four * 4 + cell)[None, :],)
    return matrices, offsets


@jit
def _sum_of_squares(y: tl.tensor, BLOCK: tl.constexpr, WIDTH: tl.constexpr) -> tl.tensor:
    """Return |y|^2 for four cells, in the order of columns of ``_fused_tables``.

    That order is the one in which a thread holds all coordinates of a cell, so that nothing is exchanged.
    """
    parts = tl.split(tl.reshape(y, (BLOCK, WIDTH // 2, 4, 2)))
    for level in tl.static_range((WIDTH // 2).bit_length() - 1):
        halves = ()
        for i in tl.static_range(2 << level):
            in_two = tl.reshape(parts[i], (BLOCK, 2, (WIDTH // 4) >> level, 4))
            halves = halves + tl.split(tl.permute(in_two, (0, 2, 3, 1)))
        parts = halves
    total = parts[0] * parts[0]
    for i in tl.static_range(1, WIDTH):
        total = tl.fma(parts[i], parts[i], total)
    return tl.reshape(total, (BLOCK, 4))


@jit
def fast_labels(
    q: tl.tensor,
    rule: tl.tensor,
    bound: tl.tensor,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
    FOURS: tl.constexpr,
) -> tl.tensor:
    """Return the cell of the lowest score, or ``UNSURE`` if others are within the bound of it."""
    a = tl.fma(q, 0.25, ROUND_32) - ROUND_32
    b = tl.fma(a, -4.0, q).to(tl.float16)
    a = a.to(tl.float16)
    one = tl.full((BLOCK, WIDTH), _ONE, tl.float16)
    record = tl.reshape(tl.join(tl.join(a, b), tl.join(a, one)), (BLOCK, 4 * WIDTH))
    ys = ()
    for pair in tl.static_range(FOURS // 2):
        eight = tl.reshape(tl.dot(record, rule[0][pair]), (BLOCK, 2, 4 * WIDTH))
        ys = ys + tl.split(tl.permute(eight, (0, 2, 1)))
    if FOURS % 2 == 1:
        ys = ys + (tl.dot(record, rule[0][FOURS // 2]),)
    absolute, kept, scale = bound
    scores = ()
    lowest = tl.full((BLOCK, 4), float("inf"), tl.float32)
    for four in tl.static_range(FOURS):
        scores = scores + (tl.fma(_sum_of_squares(ys[four], BLOCK, WIDTH), scale, rule[1][four]),)
        lowest = tl.minimum(lowest, scores[four])
    lowest = tl.min(lowest, axis=1)[:, None]
    candidates = tl.zeros((BLOCK, 4), tl.int32)
    for four in tl.static_range(FOURS):
        near = tl.fma(scores[four], kept, -absolute) <= lowest
        candidates += tl.where(near, UNSURE + four * 4 + tl.arange(0, 4)[None, :], 0)
    return tl.minimum(tl.sum(candidates, axis=1) - UNSURE, UNSURE)


@jit
def exact_labels(
    q: tl.tensor,
    n_cells: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    D: tl.constexpr,
) -> tl.tensor:
    """Return the cell of the lowest exact score; ties go to the lowest index."""
    row = tl.zeros((q.shape[0],), tl.int32)
    label = row
    lowest = tl.full((q.shape[0],), float("inf"), tl.float64)
    for k in range(n_cells):
        score = tl.zeros((q.shape[0],), tl.float64) + tl.load(constants + k)
        for i in range(D):
            v = _whitened(q, row + k * D + i, factors, offsets, D)
            score += v * v
        label = tl.where(score < lowest, k, label)
        lowest = tl.minimum(score, lowest)
    return label


@jit
def list_unsure(
    unsure: tl.tensor,
    block: tl.tensor,
    n_blocks: tl.tensor,
    n_rows: tl.tensor,
    listed: tl.tensor,
    n_listed: tl.tensor,
    capacity: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    """List the rows whose bits are set; ``block`` has the highest of ``n_blocks`` bits."""
    for i in range(n_blocks):
        row = (tl.cast(block, tl.int64) + i * tl.num_programs(0)) * BLOCK + tl.arange(0, BLOCK)
        is_set = (((unsure >> (n_blocks - 1 - i)) & 1) > 0) & (row < n_rows)
        slot = tl.atomic_add(n_listed + tl.zeros_like(unsure), 1, mask=is_set, sem="relaxed")
        tl.store(listed + slot, row, mask=is_set & (slot < capacity))
