"""Kernels: the members of soft cells, and their memberships as integers, exact as in ``_triton_cells``."""

# Kernels have many arguments.
# ruff: noqa: PLR0917
# mypy: disable-error-code="assignment, unreachable"

import triton.language as tl

from dpmorse.engine._triton_cells import jit, jit_any_size, load_records, score_of
from dpmorse.statistics import WEIGHT_BITS

_WEIGHT_ONE = tl.constexpr(2.0**WEIGHT_BITS)
"""The integer membership that represents 1."""


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
def membership(weight: tl.tensor, divisor: tl.tensor) -> tl.tensor:
    """Return ``weight`` of a sum of weights, from 1 to 2^31, as an integer membership, rounded down.

    By a reciprocal it may be off by one, which the remainder, an exact integer, tells.
    """
    dividend, divisor = weight.to(tl.float64) * _WEIGHT_ONE, divisor.to(tl.float64)
    quotient = tl.floor(dividend * (1.0 / divisor))
    left = tl.fma(-quotient, divisor, dividend)
    return quotient + tl.where(left >= divisor, 1.0, 0.0) - tl.where(left < 0, 1.0, 0.0)
