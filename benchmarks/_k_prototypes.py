"""A known method for mixed tables, without privacy: k-prototypes (Huang 1998), a k-means with modes.

A record's distance to a prototype is the squared distance of its numbers plus a price for each category that
differs. Values that are missing cost nothing.
"""

import numpy as np

from benchmarks.generated.mixed_table import MixedTable
from dpmorse.typing import FloatArray, IntArray

_Parts = tuple[FloatArray, FloatArray, FloatArray]
"""Standardised numbers, 0 where missing; 1 where they are known; levels."""

_PRICE = 0.5
"""Of a category that differs, where numbers have a variance of 1: half their mean standard deviation."""


def k_prototypes(
    table: MixedTable, n_clusters: int, *, n_starts: int = 4, n_rounds: int = 50, random_state: int = 0
) -> IntArray:
    """Return the cluster of each record in the cheapest of several runs."""
    rng = np.random.default_rng(random_state)
    known = ~np.isnan(table.numbers)
    centre, scale = np.nanmean(table.numbers, axis=0), np.nanstd(table.numbers, axis=0)
    numbers = np.where(known, (table.numbers - centre) / scale, 0.0)
    parts = (numbers, 1.0 * known, table.encoded()[:, table.layout.level_part])
    runs = [_run(table, parts, n_clusters, n_rounds, rng) for _ in range(n_starts)]
    return min(runs, key=lambda run: run[0])[1]


def _run(
    table: MixedTable, parts: _Parts, k: int, n_rounds: int, rng: np.random.Generator
) -> tuple[float, IntArray]:
    """Return the cost that rounds from k random records reach, and the clusters."""
    start = rng.choice(len(table.y), k, replace=False)
    labels = _costs(*parts, parts[0][start], parts[2][start]).argmin(axis=1)
    for _ in range(n_rounds):
        costs = _costs(*parts, *_prototypes(table, parts, np.eye(k)[labels]))
        before, labels = labels, costs.argmin(axis=1)
        if np.array_equal(before, labels):
            break
    return float(costs.min(axis=1).sum()), labels


def _costs(
    numbers: FloatArray, known: FloatArray, levels: FloatArray, means: FloatArray, modes: FloatArray
) -> FloatArray:
    """Return the distance of every record to every prototype; of categories, those that agree are counted."""
    squares = np.square(numbers).sum(axis=1, keepdims=True) - 2 * numbers @ means.T
    differing = levels.sum(axis=1, keepdims=True) - levels @ modes.T
    return np.asarray(squares + known @ np.square(means).T + _PRICE * differing)


def _prototypes(table: MixedTable, parts: _Parts, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the numbers and the most frequent levels of each cluster, as 0 and 1."""
    numbers, known, levels = parts
    means = shares.T @ numbers / np.maximum(shares.T @ known, 1.0)
    counts, modes = shares.T @ levels, np.zeros((shares.shape[1], levels.shape[1]))
    for own in table.layout.levels:
        modes[np.arange(len(modes)), own.start + counts[:, own].argmax(axis=1)] = 1.0
    return means, modes
