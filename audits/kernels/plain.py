"""Sums over records in plain NumPy and Python integers, which every engine must give; written for clarity."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import (
    GRID_BITS,
    LARGEST_RESIDUAL,
    N_BINS,
    ROUNDING_BITS,
    BinaryCodes,
    CellMoments,
    ExactMoments,
    GaussianCells,
    MagnitudeHistograms,
    ProfileCounts,
)
from dpmorse.statistics.counts import LARGEST_EXPONENT, N_MAGNITUDES, SMALLEST_EXPONENT
from dpmorse.typing import FloatArray, IntArray

_ROWS = 2000
"""Rows at a time: each has an entry for every cell and product."""


def sums(X: FloatArray, statistic: CellMoments, cells: Any) -> IntArray:
    """Return the sums of a statistic as the vector that would be released."""
    parts = [
        _moments(X[start : start + _ROWS], statistic, cells) for start in range(0, max(len(X), 1), _ROWS)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return opened(statistic.to_units(sealed(total)))


def _moments(X: FloatArray, statistic: CellMoments, cells: Any) -> ExactMoments:
    q = statistic.domain.quantise(X)
    labels = cells.labels(q)
    # a record without a cell has the label -1, and a row of zeros
    weights = (labels[:, None] == np.arange(cells.n_cells)).astype(np.int64)
    if statistic.weight_bits:
        weights = cells.responsibilities(q)
    added = np.einsum("nk,ni->ki", weights, q)
    z = np.repeat(q[:, None], cells.n_cells, axis=1)
    if statistic.of_residuals:
        z = _residuals(q, cells, statistic.measured)
        added[:, statistic.measured] = np.einsum("nk,nki->ki", weights, z)
    return ExactMoments(weights.sum(axis=0), added, np.einsum("nk,nki,nkj->kij", weights, z, z))


def _residuals(q: IntArray, rule: GaussianCells, measured: slice) -> IntArray:
    """Return entries in the coordinates of each cell, cut to a ball; others have no part in its length."""
    u = rule.offsets + np.einsum("kij,nj->nki", rule.factors, q.astype(np.float64))
    r = np.rint(np.rint(u * 2.0**-ROUNDING_BITS) * rule.residual_steps[:, None])[:, :, measured]
    squared = np.zeros(r.shape[:2])
    for column in range(r.shape[2]):  # in this order: beyond 2^53 sums are rounded
        squared += np.square(r[:, :, column])
    shrink = np.sqrt(LARGEST_RESIDUAL / np.maximum(squared, LARGEST_RESIDUAL))
    whole: IntArray = np.trunc(r * shrink[:, :, None]).astype(np.int64)
    return whole


def counts(X: FloatArray, histograms: Any) -> IntArray:
    """Return the number of records in each bin of each column or cell."""
    if isinstance(histograms, ProfileCounts):
        return _counts_of_cells(X, histograms)
    if isinstance(histograms, MagnitudeHistograms):
        bins = [[_magnitude(value) for value in row] for row in X]
    else:
        bins = _bins_of_columns(X, histograms)
    table = np.zeros((histograms.n_features, histograms.n_bins), dtype=np.int64)
    for record in bins:
        for j, place in enumerate(record):
            if place >= 0:
                table[j, place] += 1
    return table


def _bins_of_columns(X: FloatArray, histograms: Any) -> list[list[int]]:
    """Return the bin of each number, value by value, -1 where it is missing."""
    layout, box = histograms.layout, histograms.box
    q = box.quantise(X[:, layout.number_part])
    found = []
    for record, integers in zip(X.tolist(), q.tolist(), strict=True):
        places = []
        for j, value in enumerate(record[layout.number_part]):
            inside = min((integers[j] + (1 << GRID_BITS)) * N_BINS // (2 << GRID_BITS), N_BINS - 1)
            outside = N_BINS + 1 if value > box.upper[j] else N_BINS
            place = inside if box.lower[j] <= value <= box.upper[j] else outside
            places.append(-1 if j in layout.holes and record[layout.holes.index(j)] > 0 else place)
        found.append(places)
    return found


def _counts_of_cells(X: FloatArray, statistic: ProfileCounts) -> IntArray:
    """Return sizes and counts in bins, levels and missing values, record by record."""
    table = np.zeros((statistic.n_features, statistic.n_bins), dtype=np.int64)
    labels = _labels_of_profile(X, statistic)
    for label, record in zip(labels, statistic.box.quantise(X).tolist(), strict=True):
        table[label, [0, *_places(record, label, statistic)]] += 1
    return table


def _labels_of_profile(X: FloatArray, statistic: ProfileCounts) -> IntArray:
    """Return the cell of each record, each asked for by itself."""
    return np.array([statistic.labels(record[None])[0] for record in X], dtype=np.int64)


def _places(record: list[int], label: int, statistic: ProfileCounts) -> Iterator[int]:
    """Yield the entries in which a record counts, one for each column, walking along a row of them."""
    layout, start = statistic.layout, 1
    for j in range(layout.n_numbers):
        edges, may_miss = statistic.edges[label, j].tolist(), j in statistic.may_miss
        if not (j in layout.holes and record[layout.holes.index(j)] > 0):
            yield start + bisect_left(edges, record[layout.n_holes + j])
        elif may_miss:
            yield start + len(edges) + 1
        start += len(edges) + 1 + may_miss
    for i, j in enumerate(statistic.counted, layout.n_numbers):
        own, may_miss = layout.levels[j], i in statistic.may_miss
        levels = record[layout.level_part][own]
        there = [level for level, value in enumerate(levels) if value > 0]
        if there:
            yield start + there[0]
        elif may_miss:
            yield start + len(levels)
        start += len(levels) + may_miss


def _magnitude(value: float) -> int:
    """Return the bin of one value, by comparing it with every power of two."""
    size, step = abs(value), 0
    for exponent in range(SMALLEST_EXPONENT, LARGEST_EXPONENT + 1):
        step += size >= 2.0**exponent
    return N_MAGNITUDES + (step if value > 0 else -step)


def tally(X: FloatArray, codes: BinaryCodes) -> dict[int, int]:
    """Return the number of records of each code, by Python's own integers."""
    found: dict[int, int] = {}
    matrix = [[int(entry) for entry in row] for row in codes.projection]
    side = 1 << codes.bits
    for row in codes.domain.quantise(X).tolist():
        projected = [sum(a * b for a, b in zip(entries, row, strict=True)) for entries in matrix]
        cells = [min(max((y + codes.width * side // 2) // codes.width, 0), side - 1) for y in projected]
        code = 0
        for bit in reversed(range(codes.bits)):
            for cell in cells:
                code = 2 * code + (cell >> bit) % 2
        found[code] = found.get(code, 0) + 1
    return found


def swaps(
    points: IntArray, numbers: IntArray, candidates: IntArray, chosen: IntArray, limit: int
) -> list[int]:
    """Return the cost of every set of centres in which one is exchanged for a candidate."""
    costs = []
    for place in range(len(chosen)):
        for new in range(len(candidates)):
            centres = candidates[[*chosen[:place], new, *chosen[place + 1 :]]]
            nearest = np.square(points[:, None] - centres).sum(axis=2).min(axis=1)
            costs.append(int((numbers * np.minimum(nearest, limit)).sum()))
    return costs


def scores_are_exact(q: IntArray, rule: GaussianCells) -> bool:
    """Say whether the plain scores are those of integers of any size, rounded where the rule says so."""
    half, whole = 1 << (ROUNDING_BITS - 1), 1 << ROUNDING_BITS
    for k in range(rule.n_cells):
        factors, offsets = _of_any_size(rule.factors[k]), _of_any_size(rule.offsets[k])
        u = q.astype(object) @ factors.T + offsets
        v, rest = u // whole, u % whole
        v = v + ((rest > half) | ((rest == half) & (v % 2 == 1)))
        expected = (v * v).sum(axis=1) + int(rule.constants[k])
        if any(int(a) != b for a, b in zip(rule.scores(q)[:, k], expected, strict=True)):
            return False
    return True


def integrals_are_right(X: FloatArray, statistic: ProfileCounts) -> bool:
    """Say whether missing numbers are integrated out as rational numbers say, but for the last digits."""
    gaps = statistic.gaps
    if gaps is None:
        return True
    y = np.random.default_rng(0).normal(size=(statistic.n_features, gaps.whitening.shape[1]))
    patterns = np.unique(X[:, : len(gaps.holes)] > 0, axis=0)
    return all(
        math.isclose(
            gaps.change(k, y[k], gaps.holes[pattern]),
            integrated_out(gaps.whitening[k], y[k], gaps.holes[pattern]),
            rel_tol=1e-7,
            abs_tol=1e-7,
        )
        for pattern in patterns
        for k in range(statistic.n_features)
    )


def integrated_out(whitening: FloatArray, y: FloatArray, missing: IntArray) -> float:
    """Return what ``GapRule.change`` approximates: with A = W_m^T W_m and v = W_m^T y, of rational numbers.

    It is ``ln det A / 2 - sum_m ln W_jj - v^T A^-1 v``, by eliminating the missing numbers one by one.
    """
    W, own = [[Fraction(float(x)) for x in row] for row in whitening], missing.tolist()
    of_y = [Fraction(float(x)) for x in y]
    rows = [[sum((row[i] * row[j] for row in W), Fraction()) for j in own] for i in own]
    rest = [sum((row[i] * x for row, x in zip(W, of_y, strict=True)), Fraction()) for i in own]
    nats, squares = -sum(math.log(W[i][i]) for i in own), Fraction()
    for a, pivots in enumerate(rows):
        nats += math.log(pivots[a]) / 2
        squares += rest[a] ** 2 / pivots[a]
        for b in range(a + 1, len(own)):
            factor = rows[b][a] / pivots[a]
            rows[b] = [x - factor * z for x, z in zip(rows[b], pivots, strict=True)]
            rest[b] -= factor * rest[a]
    return nats - float(squares)


def _of_any_size(values: FloatArray) -> Any:
    return np.vectorize(int, otypes=[object])(values)
