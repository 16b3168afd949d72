"""Compiled passes over a chunk of records: quantise, find the cell, add up. Integers throughout.

Layout. Records are taken in blocks of up to ``BLOCK``; a block is stored one column after the other, so that
the innermost loops run over records and vectorise. Columns are padded with zeros to a multiple of four.

Exactness. Quantised coordinates are integers up to 2^12, for profiles up to 2^20, kept in float32 (or
float64), which holds them exactly. What is added up is at most 2^12. Sums are accumulated in float64 over
at most one block, where they stay below 2^53, and then added to int64 totals. Only the search for the
nearest cell uses inexact arithmetic, and only to skip work: where float32 scores are closer than their
proved error bound, exact scores decide.

All compiled code is in this one file, because numba's cache notices changes per file.
"""

import math

import numpy as np
import numpy.typing as npt

from dpmorse._compile import compiled, compiled_any_order
from dpmorse.engine._layout import (
    FAR,
    Box,
    Counted,
    Gaps,
    Grid,
    Nearest,
    Numbers,
    Reals,
    Rule,
    Segments,
    SoftScratch,
    Span,
    Totals,
)
from dpmorse.statistics import (
    GRID_BITS,
    LARGEST_RESIDUAL,
    LEAST_PIVOT,
    LN_2,
    LOG_TERMS,
    ROUNDING_BITS,
    WEIGHT_BITS,
)
from dpmorse.typing import FloatArray, IntArray

BLOCK = 4096
"""Most records in a block, those of up to eight columns. Sums over a block stay below 2^53: products are at
most 2^24, times memberships of at most 2^12, times 2^12 records."""

_BLOCK_NUMBERS = 1 << 15
"""Numbers of a block where columns are more: 128 KB in float32, which stay in cache, ..."""

_SMALLEST_BLOCK = 512
"""... but no fewer records than this, so that loops over them pay."""

LANES = 8
"""Records in a vector of the loops that add up: eight float64 numbers are 512 bits, eight float32 numbers
256. The records of a cell are padded to a multiple of it, so that these loops have no remainder."""

_ROUNDING = 2.0**-ROUNDING_BITS
"""Factor from ``u`` to ``v = rint(2^-bits u)``, whose squares are added to scores (see ``GaussianCells``)."""

_WEIGHT_ONE = 2.0**WEIGHT_BITS
"""The integer membership that represents 1."""

_GRID_ONE = 1 << GRID_BITS
"""The largest quantised coordinate, which represents 1 in scaled units."""

_EIGHT_BITS = np.uint64(0x0102040810204080)
"""Times a word of eight bytes that are 0 or 1, this has them as bits in its highest byte."""

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")

_N_PLACES = _BITS.sum(axis=1, dtype=np.uint64)
"""How many of eight flags are set ..."""

_PLACES = np.argsort(1 - _BITS, axis=1, kind="stable").astype(np.uint8).view("<u8")[:, 0].astype(np.uint64)
"""... and their places, a byte each, the first in the lowest."""

Words = npt.NDArray[np.uint64]
Labels = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@compiled
def _rows_of_a_block(n_columns: int) -> int:
    return min(BLOCK, max(_BLOCK_NUMBERS // n_columns, _SMALLEST_BLOCK))


@compiled
def count_pass(X: Reals, start: int, stop: int, numbers: Numbers, shift: int, counts: IntArray) -> None:
    """Add rows ``start:stop`` of X to the histograms of its numbers, see ``ColumnHistograms``."""
    last = counts.shape[1] - 3
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        for j in range(counts.shape[0]):
            column, row, hole = X[:, numbers.first + j], counts[j], numbers.holes[j]
            lower, upper, middle = numbers.lower[j], numbers.upper[j], numbers.box.centre[j]
            half, step = numbers.box.half_width[j], numbers.box.steps_per_unit[j]
            for r in range(begin, end):
                if hole >= 0 and X[r, hole] > 0:
                    continue
                x = np.float64(column[r])
                if lower <= x <= upper:
                    offset = min(max(x - middle, -half), half)
                    row[min((np.int64(np.rint(offset * step)) + _GRID_ONE) >> shift, last)] += 1
                else:  # NaN, which nothing lets pass, would count as below
                    row[last + 2 if x > upper else last + 1] += 1


@compiled
def profile_pass(
    X: Reals, start: int, stop: int, nearest: Nearest, counted: Counted, counts: IntArray
) -> None:
    """Add rows ``start:stop`` of X to the counts of their cells, see ``ProfileCounts``."""
    width = counted.grid.box.centre.shape[0]
    block = _rows_of_a_block(width)
    columns = np.zeros((nearest.exact.offsets.shape[1], block), np.float32)
    whole = np.zeros((width, block), np.float32)
    u, score = np.empty((4, block), np.float32), np.empty(block, np.float32)
    best, second = np.empty(block, np.float32), np.empty(block, np.float32)
    in_doubt, labels = np.empty(block, np.bool_), np.empty(block, np.int32)
    for begin in range(start, stop, block):
        n = min(block, stop - begin)
        _quantise(X, begin, begin + n, nearest.grid, columns)
        _nearest_fast(columns, nearest.fast, u, score, best, second, labels)
        _settle(columns, n, nearest.exact, nearest.bound, best, second, in_doubt, labels)
        if counted.gaps.holes.size:
            _settle_gaps(columns, n, nearest.exact, counted.gaps, labels)
        _quantise(X, begin, begin + n, counted.grid, whole)
        for r in range(n):
            counts[labels[r], 0] += 1
        for j in range(counted.holes.size):
            hole = counted.holes[j]
            gap = whole[hole] if hole >= 0 else whole[counted.first + j]
            _count_bins(whole[counted.first + j], gap, hole >= 0, n, labels, j, counted, counts)
        for j in range(counted.levels.shape[0]):
            _count_levels(whole, n, labels, j, counted, counts)


@compiled
def hard_pass(
    X: Reals,
    start: int,
    stop: int,
    nearest: Nearest,
    residual_steps: FloatArray,
    whitened: Span,
    totals: Totals,
) -> None:
    """Add rows ``start:stop`` of X to the totals, each in its nearest cell.

    With ``residual_steps`` it is their residuals that are added, see ``GaussianCells.residuals``.
    """
    n_cells, width = nearest.exact.offsets.shape
    block = _rows_of_a_block(width)
    room = block + n_cells * LANES
    columns, by_cell = np.zeros((width, block), np.float32), np.zeros((width, room), np.float32)
    u, score = np.empty((4, block), np.float32), np.empty(block, np.float32)
    best, second = np.empty(block, np.float32), np.empty(block, np.float32)
    in_doubt, labels = np.empty(block, np.bool_), np.empty(block, np.int32)
    segments = Segments(
        np.zeros(n_cells + 1, np.int64), np.empty(n_cells, np.int64), np.empty(block, np.int64)
    )
    scratch, ones = np.empty((width + 1, room)), np.ones(room)
    for begin in range(start, stop, block):
        n = min(block, stop - begin)
        _quantise(X, begin, begin + n, nearest.grid, columns)
        _nearest_fast(columns, nearest.fast, u, score, best, second, labels)
        _settle(columns, n, nearest.exact, nearest.bound, best, second, in_doubt, labels)
        _sort_by_cell(columns, n, labels, segments, by_cell)
        if residual_steps.size:
            for k in range(n_cells):
                first, last = segments.begins[k], segments.ends[k]
                _residuals(
                    by_cell, first, last, nearest.exact, k, residual_steps[k], scratch, by_cell, whitened
                )
        _add_hard(by_cell, segments, ones, totals)


@compiled
def grid_pass(X: Reals, start: int, stop: int, grid: Grid, integers: IntArray, place: int) -> None:
    """Write rows ``start:stop`` of X as integers, one column after the other, from ``place`` on."""
    n_features = integers.shape[0]
    block = _rows_of_a_block(n_features)
    columns = np.empty((n_features, block), np.float32)
    for begin in range(start, stop, block):
        n, to = min(block, stop - begin), place + begin - start
        _quantise(X, begin, begin + n, grid, columns)
        for j in range(n_features):
            column, row = columns[j], integers[j][to : to + n]
            for r in range(n):
                row[r] = column[r]


@compiled
def soft_pass(
    integers: IntArray,
    start: int,
    stop: int,
    nearest: Nearest,
    steps: float,
    table: FloatArray,
    residual_steps: FloatArray,
    whitened: Span,
    scratch: SoftScratch,
    totals: Totals,
) -> None:
    """Add records ``start:stop`` on the grid, or their residuals, to the totals: to all cells by memberships.

    Most records have a share in few cells. Those that may have one are found by float32 scores and packed
    side by side; all else is done for these, exactly.
    """
    n_cells, width = nearest.exact.offsets.shape
    columns, fast_u, fast_scores, best = scratch.columns, scratch.fast_u, scratch.fast_scores, scratch.best
    near, members, sizes, scores = scratch.near, scratch.members, scratch.sizes, scratch.scores
    packed, measured, block = scratch.packed, scratch.measured, scratch.best.shape[0]
    lowest, total, shrink = scratch.lowest, scratch.total, scratch.shrink
    kept = whitened if residual_steps.size else (0, 0)
    for begin in range(start, stop, block):
        n = min(block, stop - begin)
        _load(integers, begin, n, columns)
        _scores_fast(columns, nearest.fast, fast_u, fast_scores, best)
        lowest[:] = np.inf
        used = 0
        for k in range(n_cells):
            sizes[k] = _find_near(fast_scores[k], best, n, nearest.bound, near, members[k])
            size = _pack(columns, members[k], sizes[k], packed)
            rows = measured[used : used + width * size].reshape((width, size))
            _score_members(packed, nearest.exact, k, scores[k], kept, rows)
            _lower(scores[k], members[k], sizes[k], lowest)
            used += width * size
        _memberships(scores, members, sizes, steps, table, lowest, total)
        used = 0
        for k in range(n_cells):
            size = _whole_vectors(sizes[k])
            rows = measured[used : used + width * size].reshape((width, size))
            if residual_steps.size:
                _shrink_residuals(rows, residual_steps[k], whitened, shrink)
            _add_soft(rows, scores[k], totals, k)
            used += width * size


# -- from records to integers -------------------------------------------------------------------------


@compiled
def _load(integers: IntArray, begin: int, n: int, columns: Reals) -> None:
    """Copy a block of integers."""
    for j in range(integers.shape[0]):
        row, column = integers[j][begin : begin + n], columns[j]
        for r in range(n):
            column[r] = row[r]


@compiled
def _quantise(X: Reals, start: int, stop: int, grid: Grid, columns: Reals) -> None:
    """Write rows ``start:stop`` of X as integers; the same arithmetic as ``Domain.quantise``."""
    if not grid.matrix.size:
        _clip(X, start, stop, grid.box, columns)
        return
    n = stop - start
    whole, projected = np.empty((X.shape[1], n)), np.empty((n, grid.matrix.shape[0]))
    _clip(X, start, stop, grid.before, whole)
    for i in range(projected.shape[1]):
        row = np.zeros(n)
        for j in range(whole.shape[0]):  # integers below 2^53 with all partial sums
            _add_multiple(row, grid.matrix[i, j], whole[j])
        # A loop: numba takes seconds to compile an assignment of arrays, with all that may be wrong.
        for r in range(n):
            projected[r, i] = row[r]
    _clip(projected, 0, n, grid.box, columns)


@compiled
def _clip(X: Reals, start: int, stop: int, box: Box, columns: Reals) -> None:
    """Clip and round rows ``start:stop`` of X in a box, and shrink them to its ball."""
    # Subtraction, comparisons, multiplication and rint are each correctly rounded, in this order: every
    # engine gets the same integers.
    n = stop - start
    n_features = X.shape[1]
    for j in range(n_features):
        x, column = X[:, j][start:stop], columns[j]
        middle, half, step = box.centre[j], box.half_width[j], box.steps_per_unit[j]
        for r in range(n):
            offset = np.float64(x[r]) - middle
            offset = offset if offset < half else half  # noqa: FURB136 - NaN must not pass, see privacy.md
            offset = offset if offset > -half else -half  # noqa: FURB136
            column[r] = np.rint(offset * step)
    if box.squared_radius > 0:
        _shrink_to_ball(columns, n, n_features, box.squared_radius)


@compiled
def _shrink_to_ball(columns: Reals, n: int, n_features: int, squared_radius: float) -> None:
    # A vector is multiplied by sqrt(R^2 / max(|q|^2, R^2)), which is exactly 1 inside the ball, and truncated
    # towards zero: rounding to nearest could make it longer than R.
    shrink = np.zeros(n)
    for j in range(n_features):
        column = columns[j]
        for r in range(n):
            q = np.float64(column[r])
            shrink[r] += q * q
    for r in range(n):
        shrink[r] = np.sqrt(squared_radius / max(shrink[r], squared_radius))
    for j in range(n_features):
        column = columns[j]
        for r in range(n):
            column[r] = np.trunc(np.float64(column[r]) * shrink[r])


# -- from integers to cells ---------------------------------------------------------------------------


@compiled_any_order
def _nearest_fast(
    columns: Reals, rule: Rule, u: Reals, score: Reals, best: Reals, second: Reals, labels: Labels
) -> None:
    """Find the lowest and second lowest float32 score of each record."""
    best[:] = FAR
    second[:] = FAR
    for k in range(rule.constants.shape[0]):
        _score_fast(score, u, rule, k, columns)
        _compare(score, k, best, second, labels)
    if not rule.constants.size:
        for k in range(0, rule.offsets.shape[1], 4):
            _score_linear(u, rule, k, columns)
            _compare_four(u, k, best, second, labels)


@compiled_any_order
def _compare(score: Reals, k: int, best: Reals, second: Reals, labels: Labels) -> None:
    """Take the scores of cell k into account."""
    cell = np.int32(k)
    for r in range(score.shape[0]):
        # Selections instead of branches, so that the loop vectorises.
        value, lowest = score[r], best[r]
        nearer = value < lowest
        second[r] = min(second[r], max(value, lowest))
        labels[r] = cell if nearer else labels[r]
        best[r] = value if nearer else lowest


@compiled_any_order
def _compare_four(scores: Reals, k: int, best: Reals, second: Reals, labels: Labels) -> None:
    """Take the scores of cells k..k+3 into account, as ``_compare`` does one after the other."""
    s0, s1, s2, s3 = scores[0], scores[1], scores[2], scores[3]
    k0, k1, k2, k3 = np.int32(k), np.int32(k + 1), np.int32(k + 2), np.int32(k + 3)
    for r in range(best.shape[0]):
        lowest, other, label = best[r], second[r], labels[r]
        other, label = min(other, max(s0[r], lowest)), k0 if s0[r] < lowest else label
        lowest = min(s0[r], lowest)
        other, label = min(other, max(s1[r], lowest)), k1 if s1[r] < lowest else label
        lowest = min(s1[r], lowest)
        other, label = min(other, max(s2[r], lowest)), k2 if s2[r] < lowest else label
        lowest = min(s2[r], lowest)
        other, label = min(other, max(s3[r], lowest)), k3 if s3[r] < lowest else label
        best[r], second[r], labels[r] = min(s3[r], lowest), other, label


@compiled_any_order
def _score_fast(score: Reals, u: Reals, rule: Rule, k: int, columns: Reals) -> None:
    """Write the float32 scores of one cell; rows of the factor are finished in groups of four."""
    _first_rows(score, rule.constants[k], rule.offsets[k], rule.factors[k], columns)
    for i in range(4, columns.shape[0], 4):
        for j in range(0, i, 4):
            _multiply_add(u, rule, k, i, j, columns, 0, score.shape[0])
        _last_block(score, u, rule.factors[k], i, columns)


@compiled_any_order
def _score_linear(scores: Reals, rule: Rule, k: int, columns: Reals) -> None:
    """Write the linear scores of cells k..k+3, which are rows of one factor."""
    for j in range(0, columns.shape[0], 4):
        _multiply_add(scores, rule, 0, k, j, columns, 0, scores.shape[1])


@compiled_any_order
def _first_rows(score: Reals, constant: float, offsets: Reals, factors: Reals, columns: Reals) -> None:
    """Start the score with the squares of rows 0..3, which need no other block."""
    q0, q1, q2, q3 = columns[0], columns[1], columns[2], columns[3]
    o0, o1, o2, o3 = offsets[0], offsets[1], offsets[2], offsets[3]
    f00, f10, f11 = factors[0, 0], factors[1, 0], factors[1, 1]
    f20, f21, f22 = factors[2, 0], factors[2, 1], factors[2, 2]
    f30, f31, f32, f33 = factors[3, 0], factors[3, 1], factors[3, 2], factors[3, 3]
    for r in range(score.shape[0]):
        x0, x1, x2, x3 = q0[r], q1[r], q2[r], q3[r]
        y0 = o0 + f00 * x0
        y1 = o1 + f10 * x0 + f11 * x1
        y2 = o2 + f20 * x0 + f21 * x1 + f22 * x2
        y3 = o3 + f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3
        score[r] = constant + y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3


@compiled_any_order
def _multiply_add(u: Reals, rule: Rule, k: int, i: int, j: int, columns: Reals, begin: int, end: int) -> None:
    """Add the 4 x 4 block (i, j) of a cell's factor, times four columns, to u; block (i, 0) starts it.

    Blocks of zeros are skipped: those of levels of tables, and all but the diagonal for round cells.
    """
    offsets, factors = rule.offsets[k], rule.factors[k]
    if not rule.filled[k, i // 4, j // 4]:
        if j == 0:
            for a in range(4):
                u[a, begin:end] = offsets[i + a]
        return
    n = end - begin
    q0, q1 = columns[j, begin:end], columns[j + 1, begin:end]
    q2, q3 = columns[j + 2, begin:end], columns[j + 3, begin:end]
    u0, u1, u2, u3 = u[0, begin:end], u[1, begin:end], u[2, begin:end], u[3, begin:end]
    row0, row1, row2, row3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
    f00, f01, f02, f03 = row0[j], row0[j + 1], row0[j + 2], row0[j + 3]
    f10, f11, f12, f13 = row1[j], row1[j + 1], row1[j + 2], row1[j + 3]
    f20, f21, f22, f23 = row2[j], row2[j + 1], row2[j + 2], row2[j + 3]
    f30, f31, f32, f33 = row3[j], row3[j + 1], row3[j + 2], row3[j + 3]
    if j == 0:
        o0, o1, o2, o3 = offsets[i], offsets[i + 1], offsets[i + 2], offsets[i + 3]
        for r in range(n):
            x0, x1, x2, x3 = q0[r], q1[r], q2[r], q3[r]
            u0[r] = o0 + f00 * x0 + f01 * x1 + f02 * x2 + f03 * x3
            u1[r] = o1 + f10 * x0 + f11 * x1 + f12 * x2 + f13 * x3
            u2[r] = o2 + f20 * x0 + f21 * x1 + f22 * x2 + f23 * x3
            u3[r] = o3 + f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3
    else:
        for r in range(n):
            x0, x1, x2, x3 = q0[r], q1[r], q2[r], q3[r]
            u0[r] += f00 * x0 + f01 * x1 + f02 * x2 + f03 * x3
            u1[r] += f10 * x0 + f11 * x1 + f12 * x2 + f13 * x3
            u2[r] += f20 * x0 + f21 * x1 + f22 * x2 + f23 * x3
            u3[r] += f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3


@compiled_any_order
def _last_block(score: Reals, u: Reals, factors: Reals, i: int, columns: Reals) -> None:
    """Add the triangular block (i, i) to rows i..i+3, and their squares to the score."""
    q0, q1, q2, q3 = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    f00, f10, f11 = factors[i, i], factors[i + 1, i], factors[i + 1, i + 1]
    f20, f21, f22 = factors[i + 2, i], factors[i + 2, i + 1], factors[i + 2, i + 2]
    f30, f31, f32 = factors[i + 3, i], factors[i + 3, i + 1], factors[i + 3, i + 2]
    f33 = factors[i + 3, i + 3]
    for r in range(score.shape[0]):
        x0, x1, x2, x3 = q0[r], q1[r], q2[r], q3[r]
        y0 = u0[r] + f00 * x0
        y1 = u1[r] + f10 * x0 + f11 * x1
        y2 = u2[r] + f20 * x0 + f21 * x1 + f22 * x2
        y3 = u3[r] + f30 * x0 + f31 * x1 + f32 * x2 + f33 * x3
        score[r] += y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3


@compiled
def _settle(
    columns: Reals,
    n: int,
    rule: Rule,
    bound: Reals,
    best: Reals,
    second: Reals,
    in_doubt: Flags,
    labels: Labels,
) -> None:
    """Decide exactly where the two lowest float32 scores are within their error bound."""
    # Each score s is off by at most a + b s; the bound, proved in `_rules._single_precision`, covers two
    # of them.
    for r in range(n):
        in_doubt[r] = second[r] - best[r] <= bound[0] + bound[1] * second[r]
    for r in range(n):
        if in_doubt[r]:
            labels[r] = _nearest_exact(columns, r, rule)


@compiled
def _nearest_exact(columns: Reals, r: int, rule: Rule) -> int:
    """Return the cell with the lowest exact score; ties go to the lowest index."""
    n_cells, width = rule.offsets.shape
    nearest, lowest = 0, np.inf
    for k in range(n_cells):
        score = rule.constants[k]
        for i in range(width):
            u = rule.offsets[k, i]
            for j in range(i + 1):
                u += rule.factors[k, i, j] * columns[j, r]
            # u is an integer below 2^53, exact in float64; scaling by a power of two is exact, and so are the
            # squares.
            v = np.rint(u * _ROUNDING)
            score += v * v
        if score < lowest:
            nearest, lowest = k, score
    return nearest


@compiled
def _settle_gaps(columns: Reals, n: int, rule: Rule, gaps: Gaps, labels: Labels) -> None:
    """Find the cells of records whose missing numbers have to be integrated out, see ``GapRule``."""
    members = np.empty(n, np.int32)
    n_members = 0
    for r in range(n):
        for i in range(gaps.holes.size):
            if columns[i, r] > 0:
                members[n_members], labels[r] = r, 0
                n_members += 1
                break
    packed = np.zeros((columns.shape[0], _whole_vectors(n_members)))
    size = _pack(columns, members, n_members, packed)
    rows, scores, lowest = np.empty((columns.shape[0], size)), np.empty(size), np.full(size, np.inf)
    for k in range(rule.constants.shape[0]):
        _score_members(packed, rule, k, scores, (gaps.first, gaps.last), rows)
        _integrate_out(packed, n_members, gaps, k, rows[gaps.first : gaps.last], scores)
        for r in range(n_members):
            if scores[r] < lowest[r]:
                labels[members[r]], lowest[r] = k, scores[r]


@compiled
def _integrate_out(packed: Reals, n: int, gaps: Gaps, k: int, whitened: Reals, scores: Reals) -> None:
    """Turn scores in cell k into nats, and add what integrating out the missing numbers of a record adds."""
    d, unit = whitened.shape[0], gaps.unit
    holes, whitening, products, logs = gaps.holes, gaps.whitening[k], gaps.products[k], gaps.logs[k]
    missing, y, solved, root = np.empty(d, np.int64), np.empty(d), np.empty(d), np.empty((d, d))
    for r in range(n):
        n_missing = 0
        for i in range(holes.size):
            if packed[i, r] > 0:
                missing[n_missing] = holes[i]
                n_missing += 1
        for j in range(d):
            y[j] = whitened[j, r] * unit
        change = _change(whitening, products, logs, y, missing[:n_missing], solved, root)
        scores[r] = scores[r] * unit * unit + change


@compiled
def _change(
    whitening: Reals, products: Reals, logs: Reals, y: Reals, missing: IntArray, solved: Reals, root: Reals
) -> float:
    """Return the change of the score of one record, as ``GapRule.change`` does, in the same order."""
    total, squares = 0.0, 0.0
    for a in range(missing.size):
        i = missing[a]
        v = 0.0
        for j in range(i, y.size):
            v += whitening[j, i] * y[j]
        for b in range(a + 1):
            rest = products[i, missing[b]]
            for c in range(b):
                rest -= root[a, c] * root[b, c]
            root[a, b] = np.sqrt(max(rest, LEAST_PIVOT)) if a == b else rest / root[b, b]
        for c in range(a):
            v -= root[a, c] * solved[c]
        solved[a] = v / root[a, a]
        squares += solved[a] * solved[a]
        total += _natural_log(root[a, a]) - logs[i]
    return total - squares


@compiled
def _natural_log(x: float) -> float:
    """Return ln x as ``natural_log`` does, step by step."""
    part, exponent = math.frexp(x)
    if part < 0.7071067811865476:
        part, exponent = 2 * part, exponent - 1
    ratio = (part - 1) / (part + 1)
    square, series = ratio * ratio, 0.0
    for i in range(LOG_TERMS - 1, -1, -1):
        series = series * square + 1 / (2 * i + 1)
    return 2 * ratio * series + exponent * LN_2


@compiled_any_order
def _scores_fast(columns: Reals, rule: Rule, u: Reals, scores: Reals, best: Reals) -> None:
    """Write the float32 scores of every record and cell, and the lowest of each record."""
    best[:] = FAR
    for k in range(scores.shape[0]):
        score = scores[k]
        if rule.constants.size:
            _score_fast(score, u, rule, k, columns)
        else:
            if k % 4 == 0:
                _score_linear(u, rule, k, columns)
            row = u[k % 4]
            for r in range(score.shape[0]):
                score[r] = row[r]
        for r in range(best.shape[0]):
            best[r] = min(best[r], score[r])


@compiled
def _find_near(score: Reals, best: Reals, n: int, bound: Reals, near: Flags, members: Labels) -> int:
    """List the records that may have a share in a cell; return how many there are.

    ``bound`` is that of ``_settle``, plus the nats beyond which a membership is rounded to nothing.
    """
    absolute, proportional = bound[0], bound[1]
    for r in range(n):
        near[r] = score[r] - best[r] <= absolute + proportional * score[r]
    near[n : _whole_vectors(n)] = False
    return _list_members(near.view(np.uint64)[: _whole_vectors(n) // 8], members)


@compiled
def _list_members(near: Words, members: Labels) -> int:
    """List the places of flags that are set, of which a word holds eight; return how many there are.

    Up to eight places are written for a word, never beyond its own: no more are set than were looked at.
    """
    n_members = np.uint64(0)
    for i in range(near.shape[0]):
        flags = near[i] * _EIGHT_BITS >> np.uint64(56)
        places, first, n = _PLACES[flags], np.int32(8 * i), _N_PLACES[flags]
        # Two are written always, and counted if they are members: a branch would often be mispredicted. Of
        # eight records seldom more than two are members of one cell.
        members[n_members] = first + _place(places, 0)
        members[n_members + np.uint64(1)] = first + _place(places, 1)
        if n > 2:
            for a in range(2, 8):
                members[n_members + np.uint64(a)] = first + _place(places, a)
        n_members += n
    return int(n_members)


@compiled
def _place(places: np.uint64, a: int) -> np.int32:
    return np.int32((places >> np.uint64(8 * a)) & np.uint64(7))


@compiled
def _whole_vectors(n: int) -> int:
    return n + -n % LANES


@compiled
def _pack(columns: Reals, members: Labels, n_members: int, packed: Reals) -> int:
    """Copy the members side by side, followed by zeros up to whole vectors; return how many that makes."""
    size = _whole_vectors(n_members)
    for j in range(0, columns.shape[0], 4):
        from0, from1, from2, from3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        to0, to1, to2, to3 = packed[j], packed[j + 1], packed[j + 2], packed[j + 3]
        for r in range(n_members):
            member = members[r]
            to0[r], to1[r], to2[r], to3[r] = from0[member], from1[member], from2[member], from3[member]
        for r in range(n_members, size):
            to0[r] = to1[r] = to2[r] = to3[r] = 0.0
    return size


@compiled_any_order
def _score_members(packed: Reals, rule: Rule, k: int, score: Reals, whitened: Span, rows: Reals) -> None:
    """Write exact scores in cell k, and what is measured there: whitened entries, others as they are."""
    size = rows.shape[1]
    score[:size] = rule.constants[k]
    for i in range(0, packed.shape[0], 4):
        u = rows[i : i + 4]
        for j in range(0, i + 4, 4):
            _multiply_add(u, rule, k, i, j, packed, 0, size)
        _add_squares(u, score)
    for i in range(packed.shape[0]):
        if not whitened[0] <= i < whitened[1]:
            row, column = rows[i], packed[i]
            for r in range(size):
                row[r] = column[r]


@compiled_any_order
def _add_squares(u: Reals, score: Reals) -> None:
    """Round four rows to ``v``, and add their squares to the score.

    ``u`` holds integers below 2^53, exact in float64; scaling by a power of two is exact, and so are squares.
    """
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    for r in range(u.shape[1]):
        v0, v1 = np.rint(u0[r] * _ROUNDING), np.rint(u1[r] * _ROUNDING)
        v2, v3 = np.rint(u2[r] * _ROUNDING), np.rint(u3[r] * _ROUNDING)
        score[r] += v0 * v0 + v1 * v1 + v2 * v2 + v3 * v3
        u0[r], u1[r], u2[r], u3[r] = v0, v1, v2, v3


@compiled
def _lower(score: Reals, members: Labels, n_members: int, lowest: Reals) -> None:
    """Lower the lowest score of each member."""
    for r in range(n_members):
        lowest[members[r]] = min(lowest[members[r]], score[r])


@compiled
def _memberships(
    scores: Reals,
    members: npt.NDArray[np.int32],
    sizes: IntArray,
    steps: float,
    table: FloatArray,
    lowest: Reals,
    total: Reals,
) -> None:
    """Turn exact scores of members into integer memberships, as ``GaussianCells.responsibilities`` does.

    The last entry of the table is 0 and stands for all larger steps: a branch would often be mispredicted.
    What pads members to whole vectors gets the membership 0. ``lowest`` is written over.
    """
    last = np.float64(table.shape[0] - 1)
    total[:] = 0.0
    for k in range(scores.shape[0]):
        score, own = scores[k], members[k]
        for r in range(sizes[k]):
            member = own[r]
            # Not negative, so that cutting off rounds down.
            weight = table[np.int64(min((score[r] - lowest[member]) * steps, last))]
            score[r] = weight
            total[member] += weight
    for k in range(scores.shape[0]):
        score, own, divisors = scores[k], members[k], lowest
        for r in range(sizes[k]):
            divisors[r] = total[own[r]]
        for r in range(sizes[k]):
            # Rounding down keeps the memberships of one record at a sum of at most 1, which sensitivity
            # relies on.
            score[r] = np.floor(score[r] * _WEIGHT_ONE / divisors[r])
        score[sizes[k] : _whole_vectors(sizes[k])] = 0.0


@compiled
def _residuals(
    columns: Reals,
    begin: int,
    end: int,
    rule: Rule,
    k: int,
    steps: float,
    scratch: Reals,
    residuals: Reals,
    whitened: Span,
) -> None:
    """Write records ``begin:end`` in the whitened coordinates of cell k, as ``GaussianCells.residuals``.

    Only entries that are ``whitened`` are written. ``scratch`` has one row more than there are columns: the
    shrinking of each record is kept there.
    """
    width = rule.offsets.shape[1]
    shrink = scratch[width, begin:end]
    shrink[:] = 0.0
    for i in range(whitened[0] // 4 * 4, whitened[1], 4):
        u = scratch[i : i + 4]
        for j in range(0, i + 4, 4):
            _multiply_add(u, rule, k, i, j, columns, begin, end)
        for a in range(max(whitened[0] - i, 0), min(whitened[1] - i, 4)):
            _round_residual(u[a, begin:end], steps, shrink)
    for r in range(end - begin):
        shrink[r] = np.sqrt(LARGEST_RESIDUAL / max(shrink[r], LARGEST_RESIDUAL))
    for i in range(whitened[0], whitened[1]):
        u, row = scratch[i, begin:end], residuals[i, begin:end]
        for r in range(end - begin):
            row[r] = np.trunc(u[r] * shrink[r])


@compiled
def _round_residual(u: Reals, steps: float, squared: Reals) -> None:
    """Round a coordinate twice, as in the plain form: to v, which scores use as well, then to steps."""
    for r in range(u.shape[0]):
        u[r] = np.rint(np.rint(u[r] * _ROUNDING) * steps)
        squared[r] += u[r] * u[r]


@compiled
def _shrink_residuals(rows: Reals, steps: float, whitened: Span, shrink: Reals) -> None:
    """Turn whitened rows into residuals, as ``GaussianCells.residuals``."""
    size = rows.shape[1]
    shrink[:size] = 0.0
    for i in range(whitened[0], whitened[1]):
        row = rows[i]
        for r in range(size):
            row[r] = np.rint(row[r] * steps)
            shrink[r] += row[r] * row[r]
    for r in range(size):
        shrink[r] = np.sqrt(LARGEST_RESIDUAL / max(shrink[r], LARGEST_RESIDUAL))
    for i in range(whitened[0], whitened[1]):
        row = rows[i]
        for r in range(size):
            row[r] = np.trunc(row[r] * shrink[r])


@compiled
def _add_multiple(u: Reals, factor: float, column: Reals) -> None:
    """Add a multiple of a column to u; factors of round cells are mostly 0."""
    if factor != 0:
        for r in range(u.shape[0]):
            u[r] += factor * column[r]


# -- from cells to counts -----------------------------------------------------------------------------


@compiled
def _count_bins(
    column: Reals,
    gap: Reals,
    may_miss: bool,
    n: int,
    labels: Labels,
    j: int,
    counted: Counted,
    counts: IntArray,
) -> None:
    """Count the values of one number in the bins of their cells, or as missing."""
    start, missing_at = counted.starts[j], counted.missing_at[j]
    for r in range(n):
        k = labels[r]
        if may_miss and gap[r] > 0:
            if missing_at >= 0:
                counts[k, missing_at] += 1
            continue
        edges, value = counted.edges[k, j], np.float64(column[r])
        low, high = 0, edges.size  # the number of edges below the value lies between these
        while low < high:
            middle = (low + high) >> 1
            if edges[middle] < value:
                low = middle + 1
            else:
                high = middle
        counts[k, start + low] += 1


@compiled
def _count_levels(whole: Reals, n: int, labels: Labels, j: int, counted: Counted, counts: IntArray) -> None:
    """Count the levels of one category, or that it is missing."""
    column = counted.holes.size + j
    start, missing_at = counted.starts[column], counted.missing_at[column]
    first, last = counted.levels[j, 0], counted.levels[j, 1]
    for r in range(n):
        place = missing_at
        for i in range(first, last):
            if whole[i, r] > 0:
                place = start + i - first
                break
        if place >= 0:
            counts[labels[r], place] += 1


# -- from cells to sums -------------------------------------------------------------------------------


@compiled
def _sort_by_cell(columns: Reals, n: int, labels: Labels, segments: Segments, by_cell: Reals) -> None:
    """Copy the block with the records of a cell side by side, followed by zeros up to whole vectors."""
    begins, ends, places = segments
    ends[:] = 0
    for r in range(n):
        ends[labels[r]] += 1
    for k in range(ends.shape[0]):
        begins[k + 1] = begins[k] + ends[k] + -ends[k] % LANES
        ends[k] = begins[k]
    for r in range(n):
        k = labels[r]
        places[r] = ends[k]
        ends[k] += 1
    for j in range(0, columns.shape[0], 4):
        from0, from1, from2, from3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        to0, to1, to2, to3 = by_cell[j], by_cell[j + 1], by_cell[j + 2], by_cell[j + 3]
        for r in range(n):
            place = places[r]
            to0[place], to1[place], to2[place], to3[place] = from0[r], from1[r], from2[r], from3[r]
    # Zeros, which add nothing, follow the records of each cell, so that loops have no remainder.
    for k in range(ends.shape[0]):
        for j in range(by_cell.shape[0]):
            by_cell[j, ends[k] : begins[k + 1]] = 0


@compiled_any_order
def _add_hard(by_cell: Reals, segments: Segments, ones: Reals, totals: Totals) -> None:
    """Add count, sum and lower second moments of each cell of a sorted block."""
    begins, ends, _ = segments
    for k in range(ends.shape[0]):
        if ends[k] > begins[k]:
            totals.counts[k] += ends[k] - begins[k]
            _add_moments(by_cell, ones, begins[k], begins[k + 1], totals.sums[k], totals.second_moments[k])


@compiled_any_order
def _add_soft(rows: Reals, weight: Reals, totals: Totals, k: int) -> None:
    """Add the weighted count, sum and lower second moments of the members of cell k."""
    total = 0.0
    for r in range(rows.shape[1]):
        total += weight[r]
    totals.counts[k] += np.int64(total)
    _add_moments(rows, weight, 0, rows.shape[1], totals.sums[k], totals.second_moments[k])


@compiled_any_order
def _add_moments(
    x: Reals, weight: Reals, begin: int, end: int, sums: IntArray, second_moments: IntArray
) -> None:
    """Add weighted sums of x, and of its products, if wanted, in blocks of 4 x 4 up to the diagonal."""
    for i in range(0, x.shape[0], 4):
        if i >= second_moments.shape[1]:
            _add_sums(x, weight, i, begin, end, sums)
            continue
        for j in range(0, i, 4):
            _add_products(x, weight, i, j, begin, end, second_moments)
        _add_diagonal(x, weight, i, begin, end, sums, second_moments)


@compiled_any_order
def _add_sums(x: Reals, weight: Reals, i: int, begin: int, end: int, sums: IntArray) -> None:
    x0, x1, x2, x3 = x[i, begin:end], x[i + 1, begin:end], x[i + 2, begin:end], x[i + 3, begin:end]
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for r in range(end - begin):
        w = weight[r]
        t0 += w * x0[r]
        t1 += w * x1[r]
        t2 += w * x2[r]
        t3 += w * x3[r]
    _add_row(sums, i, t0, t1, t2, t3)


@compiled_any_order
def _add_products(
    x: Reals, weight: Reals, i: int, j: int, begin: int, end: int, second_moments: IntArray
) -> None:
    """Add block (i, j) of sum_r w_r x[:, r] x[:, r]^T; sixteen running sums stay in registers."""
    x0, x1, x2, x3 = x[i, begin:end], x[i + 1, begin:end], x[i + 2, begin:end], x[i + 3, begin:end]
    y0, y1, y2, y3 = x[j, begin:end], x[j + 1, begin:end], x[j + 2, begin:end], x[j + 3, begin:end]
    # Sums of integers below 2^53 are exact in float64 in any order, so that the compiler may reorder them.
    t00 = t01 = t02 = t03 = t10 = t11 = t12 = t13 = 0.0
    t20 = t21 = t22 = t23 = t30 = t31 = t32 = t33 = 0.0
    for r in range(end - begin):
        w = weight[r]
        a0, a1, a2, a3 = w * x0[r], w * x1[r], w * x2[r], w * x3[r]
        b0, b1, b2, b3 = np.float64(y0[r]), np.float64(y1[r]), np.float64(y2[r]), np.float64(y3[r])
        t00, t01, t02, t03 = t00 + a0 * b0, t01 + a0 * b1, t02 + a0 * b2, t03 + a0 * b3
        t10, t11, t12, t13 = t10 + a1 * b0, t11 + a1 * b1, t12 + a1 * b2, t13 + a1 * b3
        t20, t21, t22, t23 = t20 + a2 * b0, t21 + a2 * b1, t22 + a2 * b2, t23 + a2 * b3
        t30, t31, t32, t33 = t30 + a3 * b0, t31 + a3 * b1, t32 + a3 * b2, t33 + a3 * b3
    _add_row(second_moments[i], j, t00, t01, t02, t03)
    _add_row(second_moments[i + 1], j, t10, t11, t12, t13)
    _add_row(second_moments[i + 2], j, t20, t21, t22, t23)
    _add_row(second_moments[i + 3], j, t30, t31, t32, t33)


@compiled_any_order
def _add_diagonal(
    x: Reals, weight: Reals, i: int, begin: int, end: int, sums: IntArray, second_moments: IntArray
) -> None:
    """Add the lower triangle of block (i, i), and the sums of its four rows."""
    x0, x1, x2, x3 = x[i, begin:end], x[i + 1, begin:end], x[i + 2, begin:end], x[i + 3, begin:end]
    t0 = t1 = t2 = t3 = t00 = t10 = t11 = t20 = t21 = t22 = t30 = t31 = t32 = t33 = 0.0
    for r in range(end - begin):
        w = weight[r]
        b0, b1, b2, b3 = np.float64(x0[r]), np.float64(x1[r]), np.float64(x2[r]), np.float64(x3[r])
        a0, a1, a2, a3 = w * b0, w * b1, w * b2, w * b3
        t0, t1, t2, t3 = t0 + a0, t1 + a1, t2 + a2, t3 + a3
        t00 += a0 * b0
        t10, t11 = t10 + a1 * b0, t11 + a1 * b1
        t20, t21, t22 = t20 + a2 * b0, t21 + a2 * b1, t22 + a2 * b2
        t30, t31, t32, t33 = t30 + a3 * b0, t31 + a3 * b1, t32 + a3 * b2, t33 + a3 * b3
    _add_row(sums, i, t0, t1, t2, t3)
    _add_row(second_moments[i], i, t00, 0.0, 0.0, 0.0)
    _add_row(second_moments[i + 1], i, t10, t11, 0.0, 0.0)
    _add_row(second_moments[i + 2], i, t20, t21, t22, 0.0)
    _add_row(second_moments[i + 3], i, t30, t31, t32, t33)


@compiled
def _add_row(row: IntArray, j: int, t0: float, t1: float, t2: float, t3: float) -> None:
    row[j] += np.int64(t0)
    row[j + 1] += np.int64(t1)
    row[j + 2] += np.int64(t2)
    row[j + 3] += np.int64(t3)
