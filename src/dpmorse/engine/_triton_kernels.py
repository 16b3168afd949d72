"""One fused pass over a CUDA tensor: read, quantise, find the nearest cell, add up. Integers throughout.

Scores. ``y = offset + factor q`` is a product of matrices, which tensor cores compute from float16: q is
split into ``4 a + b``, both exact, and factors into two halves each. Where the bound that ``_fast_rule``
proves does not tell the nearest cell, a record is left out and listed, and plain torch adds it up exactly.

Sums. The products ``z_i z_j`` (with ``z_0 = 1``, so that counts and sums are among them) are integers up to
2^24. ``L z`` and ``R z``, where L and R pick coordinates, are computed by int8 tensor cores from
``z = 64 h + l``, which is exact by definition, and multiplied in int32. Each product plus 2^24 is cut into
digits of 8, 8 and 10 bits, written as the float16 numbers ``1024 + digit``, and multiplied by the one-hot
matrix of labels. Tensor cores add up float16 products "with at least single precision" (PTX ISA, mma and
wgmma); a sum of ``_ROWS_BEFORE_FLUSH`` integers below 1537 stays below 2^24, so that every partial sum is a
float32 number and no addition rounds, in whatever order. Then these sums are added to int64 totals.

Nothing is fused that is not written as ``tl.fma`` (``enable_fp_fusion=False``): a fused multiplication and
rounding in ``_quantise`` would skip a rounding that the plain form has.
"""

# Kernels have many arguments, and tuples grow in loops that the compiler unrolls.
# ruff: noqa: PLR0917, RUF005
# mypy: disable-error-code="assignment, unreachable"

import contextlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
import triton
import triton.language as tl

from dpmorse.engine import _tensor_passes as passes
from dpmorse.statistics.cells import LARGEST_RESIDUAL, ROUNDING_BITS, GaussianCells
from dpmorse.statistics.domain import GRID_BITS, Domain
from dpmorse.statistics.moments import CellMoments
from dpmorse.typing import FloatArray, IntArray

if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 6):
    raise ImportError("the fused kernel needs Triton 3.6 or newer")

Tensor = Any  # torch has no types where it is not installed
Function = TypeVar("Function", bound=Callable[..., Any])
jit: Callable[[Function], Function] = triton.jit
jit_any_size: Callable[[Callable[..., None]], Any] = triton.jit(
    do_not_specialize=["n_rows", "n_cells", "capacity"]
)

MOST_FEATURES = 16
MOST_CELLS = 64

_BLOCK = 64  # records at a time
_TILE = 64  # products at a time
_TRIED_ON = {(9, 0)}  # compute capabilities; plain torch is for all others
_WARPS = 4
_PROGRAMS_PER_PROCESSOR = 16  # four of them at a time; the others even out what is left at the end
_ROWS_BEFORE_FLUSH = 1 << 13
_ROWS_PER_DOUBTFUL = 64  # there is room for one listed record in as many
_LARGEST_KNOWN_STRIDE = 1 << 10

_ROUND_32 = tl.constexpr(1.5 * 2.0**23)  # adding this rounds a float32 below 2^22 to an integer ...
_BITS_32 = tl.constexpr(0x4B400000)  # ... which is added to these bits of it
_ROUND_64 = tl.constexpr(1.5 * 2.0**52)  # likewise for a float64 below 2^51
_ROUND_BOTH = tl.constexpr(1.5 * 2.0**52 + 0x4B400000)  # likewise; the low half is a rounded float32
_UNROUNDED = tl.constexpr(2.0**-ROUNDING_BITS)
_LARGEST_RESIDUAL = tl.constexpr(LARGEST_RESIDUAL)
_ONE = tl.constexpr(1 << 10)  # what a record has in the column that offsets are multiplied by
_UNSURE = tl.constexpr(1 << 10)  # the label of a record whose cell is not told by fast scores
_RAISED = tl.constexpr((1 << 2 * GRID_BITS) + (0x6400 << 16))  # products by 2^24, their highest digit by 1024
_BIAS = (1 << 2 * GRID_BITS) + 1024 * (1 + (1 << 8) + (1 << 16))  # what all three digits are raised by


# -- from records to integers -------------------------------------------------------------------------


@jit
def _load(
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
def _quantise(
    x: tl.tensor,
    centre: tl.tensor,
    half: tl.tensor,
    lowest: tl.tensor,
    steps: tl.tensor,
    SINGLE: tl.constexpr,
) -> tl.tensor:
    """Return coordinates as integers in float32; the same arithmetic as ``Domain.quantise``.

    In single precision, see ``_is_single``, products are exact and rounding them is all there is.
    """
    if SINGLE:
        inside = tl.maximum(tl.minimum(x, half.to(tl.float32)), lowest.to(tl.float32))  # never NaN
        q = tl.fma(inside, steps.to(tl.float32), _ROUND_32) - _ROUND_32
    else:
        offset = x.to(tl.float64) - centre
        offset = tl.where(offset < half, offset, half)  # NaN must not pass, see privacy.md
        offset = tl.where(offset > lowest, offset, lowest)
        low = (offset * steps + _ROUND_BOTH).to(tl.int64, bitcast=True).to(tl.int32)
        q = low.to(tl.float32, bitcast=True) - _ROUND_32
    return q


@jit
def _shrink(points: tl.tensor, squared_norm: tl.tensor, largest: tl.tensor) -> tl.tensor:
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
def _residuals(
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
    return _shrink(residual, squared_norm, _LARGEST_RESIDUAL)


# -- from integers to cells ---------------------------------------------------------------------------


@jit
def _load_fast_rule(
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
    """Return |y|^2 for four cells, from columns in the order of ``_in_order_of_threads``.

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
def _fast_labels(
    q: tl.tensor,
    rule: tl.tensor,
    bound: tl.tensor,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
    FOURS: tl.constexpr,
) -> tl.tensor:
    """Return the cell of the lowest score, or ``_UNSURE`` if others are within the bound of it."""
    a = tl.fma(q, 0.25, _ROUND_32) - _ROUND_32
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
        candidates += tl.where(near, _UNSURE + four * 4 + tl.arange(0, 4)[None, :], 0)
    return tl.minimum(tl.sum(candidates, axis=1) - _UNSURE, _UNSURE)


@jit
def _exact_labels(
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
def _list(
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


# -- from cells to sums -------------------------------------------------------------------------------


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
    whole = (z + _ROUND_32).to(tl.int32, bitcast=True) - _BITS_32
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
    if PACKED:  # two numbers at once, since the compiler does not see that it can
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
def _hard_kernel(  # noqa: C901 - one loop over records, with variants that the compiler chooses
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
    row, column, cell = tl.arange(0, BLOCK), tl.arange(0, WIDTH), tl.arange(0, CELLS)
    centre, half = tl.load(grid + column)[None, :], tl.load(grid + WIDTH + column)[None, :]
    lowest, steps = tl.load(grid + 2 * WIDTH + column)[None, :], tl.load(grid + 3 * WIDTH + column)[None, :]
    squared_radius = tl.load(grid + 4 * WIDTH)
    if ROW > 0:  # known to the compiler, which can then load several columns at once
        at = row[:, None] * ROW + column[None, :]
        row_stride = row_stride * 0 + ROW
    else:
        at = row[:, None].to(tl.int64) * row_stride + column[None, :] * column_stride
    product = tl.arange(0, 2 * TILE)[:, None] * CELLS + cell[None, :]
    highest = tl.arange(0, TILE)[:, None] * CELLS + cell[None, :]
    bounds = (tl.load(bound), tl.load(bound + 1), tl.load(bound + 2))
    rule = _load_fast_rule(coefficients, fast_constants, WIDTH, FOURS)
    pick = _load_picks(picks, WIDTH, TILE, TILES)
    n_blocks = tl.cdiv(n_rows, BLOCK).to(tl.int32)
    x_next = _load(X, n_rows, program, row_stride, at, D, BLOCK)
    for first in range(program, n_blocks, programs * BLOCKS_BEFORE_FLUSH):
        sums = ()
        for _ in tl.static_range(TILES):
            sums = sums + (tl.zeros((2 * TILE, CELLS), tl.float32), tl.zeros((TILE, CELLS), tl.float32))
        end = min(first + programs * BLOCKS_BEFORE_FLUSH, n_blocks)
        for some in range(first, end, programs * 32):
            unsure = tl.zeros((BLOCK,), tl.int32)  # a bit of each row for each of the next 32 blocks
            for block in range(some, min(some + programs * 32, end), programs):
                x = x_next
                x_next = _load(X, n_rows, block + programs, row_stride, at, D, BLOCK)
                q = _quantise(x, centre, half, lowest, steps, SINGLE)
                if BALL:
                    wide = q.to(tl.float64)
                    q = _shrink(wide, tl.sum(wide * wide, axis=1), squared_radius)
                if EXACT:
                    label = _exact_labels(q.to(tl.float64), n_cells, factors, offsets, constants, D)
                else:
                    label = _fast_labels(q, rule, bounds, BLOCK, WIDTH, FOURS)
                    unsure = (unsure << 1) | (label // _UNSURE)
                there = row < n_rows - tl.cast(block, tl.int64) * BLOCK
                label = tl.where(there & (label < _UNSURE), label, -1)
                if RESIDUALS:
                    own = tl.maximum(label, 0)
                    q = _residuals(q.to(tl.float64), own, factors, offsets, residual_steps, D)
                one_hot = (label[:, None] == cell[None, :]).to(tl.float16)
                sums = _add(sums, _halves(q), one_hot, pick, TILE, TILES, PACKED)
            if tl.max((unsure != 0).to(tl.int32), axis=0) > 0:
                n_done = tl.cdiv(min(some + programs * 32, end) - some, programs)
                _list(unsure, some, n_done, n_rows, listed, n_listed, capacity, BLOCK)
        for tile in tl.static_range(TILES):
            here = totals + (program.to(tl.int64) * TILES + tile) * (3 * TILE * CELLS)
            tl.store(here + product, tl.load(here + product) + sums[2 * tile].to(tl.int64))
            here += 2 * TILE * CELLS
            tl.store(here + highest, tl.load(here + highest) + sums[2 * tile + 1].to(tl.int64))


# -- on the host --------------------------------------------------------------------------------------


class FastRule(NamedTuple):
    """Scores in float16 and float32, and the bound below which their order is not trusted.

    ``bound`` holds an absolute part, 1 minus a proportional part, and the unit of squares.
    """

    coefficients: npt.NDArray[np.float16]
    constants: npt.NDArray[np.float32]
    bound: npt.NDArray[np.float32]


def covers(records: Tensor, cells: GaussianCells) -> bool:
    """Say whether the kernel can run on these records, and is exact for these cells."""
    small = records.shape[1] <= MOST_FEATURES and cells.n_cells <= MOST_CELLS
    moderate = (
        float(cells.residual_steps.max()) < 2.0**23
    )  # _ROUND_64 takes less than 2^51; |v| is below 2^27
    return len(records) > 0 and small and moderate and _can_run_on(records.device)


def _can_run_on(device: Any) -> bool:
    if _is_interpreted():
        return True
    on_nvidia = device.type == "cuda" and torch.version.hip is None
    return on_nvidia and torch.cuda.get_device_capability(device) in _TRIED_ON


def _is_interpreted() -> bool:
    """Say whether kernels are run by Triton's interpreter, on the CPU."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def hard_moments(records: Tensor, statistic: CellMoments, cells: GaussianCells) -> IntArray:
    """Return counts, sums and lower second moments, one row for each cell.

    Records that fast scores leave in doubt are listed by the kernel and added up by plain torch. If they are
    too many, the kernel scores all records exactly instead.
    """
    device = records.device
    listed = torch.empty(len(records) // _ROWS_PER_DOUBTFUL + 1, dtype=torch.int64, device=device)
    n_listed = passes.zeros((1,), device)
    sums = _launch(records, statistic, cells, listed, n_listed, exact=False)
    n_left = int(n_listed.item())
    if n_left > len(listed):
        return _launch(records, statistic, cells, listed, n_listed, exact=True)
    return sums + _listed_moments(records, statistic, cells, listed[:n_left])


def _listed_moments(
    records: Tensor, statistic: CellMoments, cells: GaussianCells, listed: Tensor
) -> IntArray:
    """Add up some records in plain torch."""
    device, n_features = records.device, records.shape[1]
    total = passes.zeros((cells.n_cells, _n_sums(n_features)), device)
    if len(listed):
        grid, rule = passes.grid_of(statistic.domain, device), passes.rule_of(cells, device)
        for rows in listed.split(passes.rows_at_a_time(device, n_features, cells.n_cells)):
            q = passes.quantise(records[rows], grid)
            total += passes.hard_moments(q, rule, of_residuals=statistic.of_residuals)
    sums: IntArray = total.cpu().numpy()
    return sums


def _launch(
    records: Tensor,
    statistic: CellMoments,
    cells: GaussianCells,
    listed: Tensor,
    n_listed: Tensor,
    *,
    exact: bool,
) -> IntArray:
    """Run the kernel and return its sums."""
    device, n_features = records.device, records.shape[1]
    width = 8 if n_features <= 8 else 16
    picks = _picks(n_features, width)
    n_padded = max(16, 1 << (cells.n_cells - 1).bit_length())
    n_programs = min(-(-len(records) // _BLOCK), _PROGRAMS_PER_PROCESSOR * _processors(device))
    totals = passes.zeros((n_programs, len(picks), 3, _TILE, n_padded), device)
    of_cells = (cells.factors, cells.offsets, cells.constants, cells.residual_steps)
    tables = (_grid(statistic.domain, width), *_fast_rule(cells, width), *of_cells, picks)
    with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
        _hard_kernel[(n_programs,)](
            records,
            len(records),
            *records.stride(),
            cells.n_cells,
            *(passes.on_device(table, device) for table in tables),
            totals,
            listed,
            n_listed,
            len(listed),
            D=n_features,
            WIDTH=width,
            ROW=_known_stride(records),
            SINGLE=_is_single(records, statistic.domain),
            BALL=statistic.domain.radius is not None,
            RESIDUALS=statistic.of_residuals,
            EXACT=exact,
            FOURS=-(-cells.n_cells // 4),
            CELLS=n_padded,
            BLOCK=_BLOCK,
            TILE=_TILE,
            TILES=len(picks),
            BLOCKS_BEFORE_FLUSH=_ROWS_BEFORE_FLUSH // _BLOCK,
            PACKED=not _is_interpreted(),
            **_compilation(len(picks) * n_padded),
        )
    return _decode(totals.sum(dim=0).cpu().numpy(), n_features, cells.n_cells)


def _compilation(size: int) -> dict[str, Any]:
    """Return options for the compiler: few registers for a small kernel, so that four run at a time."""
    registers = {"maxnreg": 128} if size <= 16 else {}
    return {"num_warps": _WARPS, "num_stages": 1, "enable_fp_fusion": False, **registers}


def _processors(device: Any) -> int:
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def _known_stride(records: Tensor) -> int:
    """Return the distance between rows whose columns lie side by side, 0 for other layouts."""
    row, column = records.stride()
    return int(row) if column == 1 and 0 < row <= _LARGEST_KNOWN_STRIDE else 0


def _is_single(records: Tensor, domain: Domain) -> bool:
    """Say whether float32 is enough to quantise: a box around 0, as wide as powers of two.

    Then there is nothing to subtract, and scaling by a power of two is exact (or underflows: rounds to 0).
    """
    mantissa, exponent = np.frexp(domain.half_width)
    powers = np.all((mantissa == 0.5) | (domain.half_width == 0)) and np.all(np.abs(exponent) < 100)
    return bool(records.dtype == torch.float32 and np.all(domain.centre == 0) and powers)


def _n_sums(n_features: int) -> int:
    return 1 + n_features + n_features * (n_features + 1) // 2


# -- tables -------------------------------------------------------------------------------------------


def _grid(domain: Domain, width: int) -> FloatArray:
    """Return centre, largest and lowest offset from it, steps and squared radius, padded with zeros."""
    grid = np.zeros((5, width))
    half = domain.half_width
    grid[:4, : domain.n_features] = domain.centre, half, -half, domain.steps_per_unit
    grid[4] = domain.largest_squared_norm
    return grid


def _fast_rule(cells: GaussianCells, width: int) -> FastRule:
    r"""Return scores as products of float16 matrices, and what is known of their error.

    A record is ``(a_j, a_j, b_j, 2^10)`` for each column j, with ``q_j = 4 a_j + b_j``, ``|a_j| <= 2^10``
    and ``|b_j| <= 2``. Its coefficients are two halves of ``4 f_ij``, one of ``f_ij``, and three of
    ``2^-10 offset_i``, dealt out to the first columns; all are scaled by a power of two to be normal numbers.

    What is lost by these halves is known exactly. Products of float16 numbers are exact in float32, and their
    sum of n = 4 ``width`` terms is off by at most ``(n + 8) 2^-23`` times the sum of their sizes: additions
    have at least single precision, of unspecified rounding and order. This gives the error of each ``y_i``,
    hence ``d``, how far |y| is from the exact |v|, rounding to v included; from there on the argument is that
    of ``in_memory._single_precision``.
    """
    n_cells, d = cells.offsets.shape
    factors = np.zeros((n_cells + -n_cells % 4, width, width))
    offsets = np.zeros(factors.shape[:2])
    to_root_nats = 2.0 ** -(cells.score_bits + ROUNDING_BITS)
    factors[:n_cells, :d, :d] = cells.factors * to_root_nats
    offsets[:n_cells, :d] = cells.offsets * (to_root_nats / 1024)
    scale = 2.0 ** (15 - np.frexp(max(4 * np.abs(factors).max(), np.abs(offsets).max()))[1])
    coefficients, lost = _in_halves(factors * scale, offsets * scale)
    sizes = np.abs(coefficients).astype(np.float64) @ np.tile([1024, 1024, 2, 1024], width)
    off = lost + (4 * width + 8) * 2.0**-23 * sizes
    distance = np.linalg.norm(off, axis=1).max() / scale + 0.5 * np.sqrt(d) * 2.0**-cells.score_bits
    relative = 2 * (width + 4) * 2.0**-24
    absolute, proportional = 4 * (4 * distance + distance**2), 4 * (distance / 4 + relative)
    constants = np.full(len(factors), 1e30)  # so far away that nothing is nearest to them
    constants[:n_cells] = cells.constants * 4.0**-cells.score_bits
    bound = np.array([absolute, 1 - proportional, scale**-2], dtype=np.float32)
    return FastRule(_in_order_of_threads(coefficients), constants.astype(np.float32), bound)


def _in_halves(factors: FloatArray, offsets: FloatArray) -> tuple[npt.NDArray[np.float16], FloatArray]:
    """Return coefficients of shape (K, D, 4 D) and how much each row can lose by them."""
    first, single = _half(4 * factors), _half(factors)
    second = _half(4 * factors - first)
    coefficients = np.stack([first, second, single, np.zeros_like(single)], axis=3)
    rest = offsets
    for j in range(3):
        coefficients[:, :, j, 3] = _half(rest)
        rest = rest - coefficients[:, :, j, 3]
    lost = 1024 * np.abs(4 * factors - first - second.astype(np.float64)) + 2 * np.abs(factors - single)
    return coefficients.reshape(*offsets.shape, -1), lost.sum(axis=2) + 1024 * np.abs(rest)


def _half(values: FloatArray) -> npt.NDArray[np.float16]:
    """Round to float16, and to 0 what would not be a normal number: tensor cores need not know others."""
    rounded = values.astype(np.float16)
    return np.where(np.abs(rounded) < 2.0**-14, np.float16(0), rounded)


def _in_order_of_threads(coefficients: npt.NDArray[np.float16]) -> npt.NDArray[np.float16]:
    """Return a matrix for every eight cells, and for four that may be left, one after the other.

    In eight columns of a product of matrices, four threads of a warp hold two each: so for every four cells
    and two coordinates, there is a column for each cell and, beside it, one for its other coordinate.
    """
    width = coefficients.shape[1]
    fours = coefficients.reshape(-1, 4, width // 2, 2, 4 * width).transpose(0, 4, 2, 1, 3)
    fours = fours.reshape(-1, 4 * width, 4 * width)
    in_pairs = len(fours) // 2 * 2
    pairs = fours[:in_pairs].reshape(-1, 2, 4 * width, 4 * width).swapaxes(1, 2)
    return np.concatenate([pairs.ravel(), fours[in_pairs:].ravel()])


@cache
def _picks(n_features: int, width: int) -> npt.NDArray[np.int8]:
    """Return L and R, which pick the factors of products out of ``h``, ``l`` and 1; a pair for each tile."""
    coordinates = np.zeros((1 + n_features, 4 * width), dtype=np.int8)
    coordinates[0, 1] = 1
    for j in range(n_features):
        coordinates[1 + j, [4 * j, 4 * j + 2]] = 64, 1
    rows, columns = np.tril_indices(n_features)
    first = np.concatenate([np.arange(1 + n_features), 1 + rows])
    second = np.concatenate([np.zeros(1 + n_features, dtype=int), 1 + columns])
    both = np.stack([coordinates[first], coordinates[second]])
    padded = np.pad(both, ((0, 0), (0, -len(first) % _TILE), (0, 0)))
    return padded.reshape(2, -1, _TILE, 4 * width).swapaxes(0, 1)


def _decode(totals: IntArray, n_features: int, n_cells: int) -> IntArray:
    """Put digits together and take away what they were raised by, for every record of a cell."""
    low, middle, high = np.moveaxis(totals, 1, 0)
    raised = (low + (middle << 8) + (high << 16)).reshape(-1, totals.shape[-1])
    counts = raised[0] // (_BIAS + 1)  # the product 1 of every record
    sums: IntArray = (raised - counts * _BIAS)[: _n_sums(n_features), :n_cells].T
    return sums
