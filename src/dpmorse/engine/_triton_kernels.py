"""One fused pass over a CUDA tensor: read, quantise, find the nearest cell, add up. Integers throughout.

``_triton_labels`` finds the cells, ``_fused_pass`` runs the kernels.

The products ``z_i z_j`` (with ``z_0 = 1``, so that counts and sums are among them) are integers up to 2^24.
``L z`` and ``R z``, where L and R pick coordinates, are computed by int8 tensor cores from ``z = 64 h + l``,
which is exact by definition, and multiplied in int32. Each product plus 2^24 is cut into digits of 8, 8 and
10 bits, written as the float16 numbers ``1024 + digit``, and multiplied by the one-hot matrix of labels.
Tensor cores add up float16 products "with at least single precision" (PTX ISA, mma and wgmma); a sum of
``ROWS_BEFORE_FLUSH`` integers below 1537 stays below 2^24, so that every partial sum is a float32 number and
no addition rounds, in any order. Then these sums are added to int64 totals.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl

from dpmorse.engine._fused_tables import RAISED
from dpmorse.engine._triton_labels import (
    ROUND_32,
    UNSURE,
    exact_labels,
    fast_labels,
    jit,
    list_unsure,
    load,
    load_fast_rule,
    quantise,
    residuals,
    shrink,
)

jit_any_size: Callable[[Callable[..., None]], Any] = triton.jit(
    do_not_specialize=["n_rows", "n_cells", "capacity"]
)

ROWS_BEFORE_FLUSH = 1 << 13
"""Records whose digits are added up in float32 before the sums go to int64 totals: 2^13 numbers below 1537
add up to less than 2^24, up to which float32 holds every integer."""

_BITS_32 = tl.constexpr(0x4B400000)
"""The bits of ROUND_32 = 1.5 * 2^23. The bits of an integer plus ROUND_32 exceed these by the integer."""

_RAISED = tl.constexpr(RAISED)
"""``RAISED`` as a constant of the kernel."""


@jit
def _load_picks(picks: tl.tensor, WIDTH: tl.constexpr, TILE: tl.constexpr, TILES: tl.constexpr) -> tl.tensor:
    """Return L above R for every tile of products."""
    at = tl.arange(0, 2 * TILE)[:, None] * (4 * WIDTH) + tl.arange(0, 4 * WIDTH)[None, :]
    tiles = ()
    for tile in tl.static_range(TILES):
        tiles = tiles + (tl.load(picks + tile * 2 * TILE * 4 * WIDTH + at),)
    return tiles


@jit
def _halves(z: tl.tensor) -> tl.tensor:
    """Return ``h`` and ``l`` of ``z = 64 h + l`` and ones, as columns of int8."""
    whole = (z + ROUND_32).to(tl.int32, bitcast=True) - _BITS_32
    # Rounding to the nearest multiple of 64 leaves |l| <= 32 and |h| <= 64, which int8 holds.
    high = (whole + 32) >> 6
    low = (whole - (high << 6)).to(tl.int8)
    one = tl.full(z.shape, 1, tl.int8)
    halves = tl.join(tl.join(high.to(tl.int8), low), tl.join(one, one))
    return tl.reshape(halves, (z.shape[0], 4 * z.shape[1]))


@jit
def _digits(raised: tl.tensor, PACKED: tl.constexpr) -> tl.tensor:
    """Return three digits of products raised by ``_RAISED``, each as the float16 number 1024 + digit.

    The bits of that number are 0x6400 | digit; those of the highest digit are there already.
    """
    if PACKED:  # two numbers in one register, which the compiler does not find by itself
        return tl.inline_asm_elementwise(
            """
            {
            .reg .b32 two;
            prmt.b32 two, $3, $4, 0x5410;
            lop3.b32 $0, two, 0x00ff00ff, 0x64006400, 0xea;
            prmt.b32 two, $3, $4, 0x6521;
            lop3.b32 $1, two, 0x00ff00ff, 0x64006400, 0xea;
            prmt.b32 $2, $3, $4, 0x7632;
            }
            """,
            "=r,=r,=r,r,r",
            [raised],
            dtype=(tl.float16, tl.float16, tl.float16),
            is_pure=True,
            pack=2,
        )
    low, middle, high = (raised & 255) | 0x6400, ((raised >> 8) & 255) | 0x6400, raised >> 16
    return (
        low.to(tl.int16).to(tl.float16, bitcast=True),
        middle.to(tl.int16).to(tl.float16, bitcast=True),
        high.to(tl.int16).to(tl.float16, bitcast=True),
    )


@jit
def _add(
    sums: tl.tensor,
    halves: tl.tensor,
    one_hot: tl.tensor,
    picks: tl.tensor,
    TILE: tl.constexpr,
    TILES: tl.constexpr,
    PACKED: tl.constexpr,
) -> tl.tensor:
    """Return sums of digits of products, the lower two and the highest, with a block of records added."""
    added = ()
    for tile in tl.static_range(TILES):
        both = tl.dot(picks[tile], tl.trans(halves), out_dtype=tl.int32)
        one, other = tl.split(tl.permute(tl.reshape(both, (2, TILE, halves.shape[0])), (1, 2, 0)))
        low, middle, high = _digits(one * other + _RAISED, PACKED)
        lower = tl.reshape(tl.permute(tl.join(low, middle), (2, 0, 1)), (2 * TILE, halves.shape[0]))
        added = added + (tl.dot(lower, one_hot, sums[2 * tile]), tl.dot(high, one_hot, sums[2 * tile + 1]))
    return added


@jit_any_size
def hard_kernel(  # noqa: C901 - one loop over records, with variants that the compiler chooses
    X: tl.tensor,
    n_rows: tl.tensor,
    row_stride: tl.tensor,
    column_stride: tl.tensor,
    n_cells: tl.tensor,
    grid: tl.tensor,
    coefficients: tl.tensor,
    fast_constants: tl.tensor,
    bound: tl.tensor,
    factors: tl.tensor,
    offsets: tl.tensor,
    constants: tl.tensor,
    residual_steps: tl.tensor,
    picks: tl.tensor,
    totals: tl.tensor,
    listed: tl.tensor,
    n_listed: tl.tensor,
    capacity: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROW: tl.constexpr,
    SINGLE: tl.constexpr,
    BALL: tl.constexpr,
    RESIDUALS: tl.constexpr,
    EXACT: tl.constexpr,
    FOURS: tl.constexpr,
    CELLS: tl.constexpr,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
    TILES: tl.constexpr,
    BLOCKS_BEFORE_FLUSH: tl.constexpr,
    PACKED: tl.constexpr,
) -> None:
    """Add the records of every ``num_programs``-th block to the totals of this program."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    n_rows = tl.cast(n_rows, tl.int64)  # rounded up to whole blocks it may be 2^31
    row, column, cell = tl.arange(0, BLOCK), tl.arange(0, WIDTH), tl.arange(0, CELLS)
    centre, half = tl.load(grid + column)[None, :], tl.load(grid + WIDTH + column)[None, :]
    lowest, steps = tl.load(grid + 2 * WIDTH + column)[None, :], tl.load(grid + 3 * WIDTH + column)[None, :]
    squared_radius = tl.load(grid + 4 * WIDTH)
    if ROW > 0:  # known to the compiler, which can then load several columns at once
        at = row[:, None] * ROW + column[None, :]
        row_stride = row_stride * 0 + ROW
    else:
        at = row[:, None].to(tl.int64) * row_stride + column[None, :].to(tl.int64) * column_stride
    product = tl.arange(0, 2 * TILE)[:, None] * CELLS + cell[None, :]
    highest = tl.arange(0, TILE)[:, None] * CELLS + cell[None, :]
    bounds = (tl.load(bound), tl.load(bound + 1), tl.load(bound + 2))
    rule = load_fast_rule(coefficients, fast_constants, WIDTH, FOURS)
    pick = _load_picks(picks, WIDTH, TILE, TILES)
    n_blocks = tl.cdiv(n_rows, BLOCK).to(tl.int32)
    x_next = load(X, n_rows, program, row_stride, at, D, BLOCK)
    for first in range(program, n_blocks, programs * BLOCKS_BEFORE_FLUSH):
        sums = ()
        for _ in tl.static_range(TILES):
            sums = sums + (tl.zeros((2 * TILE, CELLS), tl.float32), tl.zeros((TILE, CELLS), tl.float32))
        end = min(first + programs * BLOCKS_BEFORE_FLUSH, n_blocks)
        for some in range(first, end, programs * 32):
            unsure = tl.zeros((BLOCK,), tl.int32)  # a bit of each row for each of the next 32 blocks
            for block in range(some, min(some + programs * 32, end), programs):
                x = x_next
                x_next = load(X, n_rows, block + programs, row_stride, at, D, BLOCK)
                q = quantise(x, centre, half, lowest, steps, SINGLE)
                if BALL:
                    wide = q.to(tl.float64)
                    q = shrink(wide, tl.sum(wide * wide, axis=1), squared_radius)
                if EXACT:
                    label = exact_labels(q.to(tl.float64), n_cells, factors, offsets, constants, D)
                else:
                    label = fast_labels(q, rule, bounds, BLOCK, WIDTH, FOURS)
                    unsure = (unsure << 1) | (label // UNSURE)
                there = row < n_rows - tl.cast(block, tl.int64) * BLOCK
                label = tl.where(there & (label < UNSURE), label, -1)
                if RESIDUALS:
                    own = tl.maximum(label, 0)
                    q = residuals(q.to(tl.float64), own, factors, offsets, residual_steps, D)
                one_hot = (label[:, None] == cell[None, :]).to(tl.float16)
                sums = _add(sums, _halves(q), one_hot, pick, TILE, TILES, PACKED)
            if tl.max((unsure != 0).to(tl.int32), axis=0) > 0:
                n_done = tl.cdiv(min(some + programs * 32, end) - some, programs)
                list_unsure(unsure, some, n_done, n_rows, listed, n_listed, capacity, BLOCK)
        for tile in tl.static_range(TILES):
            here = totals + (program.to(tl.int64) * TILES + tile) * (3 * TILE * CELLS)
            tl.store(here + product, tl.load(here + product) + sums[2 * tile].to(tl.int64))
            here += 2 * TILE * CELLS
            tl.store(here + highest, tl.load(here + highest) + sums[2 * tile + 1].to(tl.int64))
