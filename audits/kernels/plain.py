"""Sums over records in plain NumPy and Python integers, which every engine must give; written for clarity."""

from typing import Any

import numpy as np

from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import (
    LARGEST_RESIDUAL,
    N_BINS,
    ROUNDING_BITS,
    BinaryCodes,
    CellMoments,
    ExactMoments,
    GaussianCells,
    MagnitudeHistograms,
    ProfileCells,
    RadiusHistograms,
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
    labels = cells.labels(X if isinstance(cells, ProfileCells) else q)
    # a record without a cell has the label -1, and a row of zeros
    weights = (labels[:, None] == np.arange(cells.n_cells)).astype(np.int64)
    if statistic.weight_bits:
        weights = cells.responsibilities(q)
    added = np.einsum("nk,ni->ki", weights, q)
    z = np.repeat(q[:, None], cells.n_cells, axis=1)
    if statistic.of_residuals:
        z = _residuals(q, cells.units if isinstance(cells, ProfileCells) else cells, statistic.measured)
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
    if isinstance(histograms, RadiusHistograms):
        table = np.zeros((histograms.n_features, histograms.n_bins), dtype=np.int64)
        places = histograms.bins(X)
        np.add.at(table, (histograms.cells.labels(X)[places >= 0], places[places >= 0]), 1)
        return table
    if isinstance(histograms, MagnitudeHistograms):
        bins, n_bins = np.array([[_magnitude(value) for value in row] for row in X]), histograms.n_bins
    else:
        bins, n_bins = histograms.bins(histograms.domain.quantise(X)), N_BINS
    return np.array([np.bincount(column, minlength=n_bins) for column in bins.T])


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


def _of_any_size(values: FloatArray) -> Any:
    return np.vectorize(int, otypes=[object])(values)
