"""What a released mixture lets one expect of the records that it labels: no data, no budget.

A record belongs to its most probable component alone. Where components overlap, the records of one are fewer,
more narrowly spread and elsewhere than the component says: its neighbours have the others. Labelling points
that are drawn from the mixture tells how many, and where they lie in every column.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.synthetic import make_holes
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.schema import Schema
from dpmorse.statistics import Domain
from dpmorse.typing import BoolArray, FloatArray, IntArray

_POINTS = (200, 2000)
"""Fewest and most points that are drawn from each component."""

_VALUES = 1 << 28
"""Products of points, components and squared columns: more points than the fewest are drawn up to this."""

_LEAST_LABELLED = 50
"""Points that a component must label; of one that labels fewer its own points are looked at."""

N_STEPS = 48
"""Steps of the curves: many numbers divide it, so that bins of equal parts end at points of a curve."""


_PATTERNS = 32
"""Patterns of missing values that the points have; a column is missing in the part of them that is known."""


@dataclass(frozen=True)
class Predicted:
    """What is expected of the records that each component labels.

    Attributes
    ----------
    shares : ndarray of shape (n_components,)
        Parts of all records.
    curves : ndarray of shape (n_components, n_numbers, N_STEPS + 1)
        Values of each number at equal steps of its distribution function.
    levels : ndarray of shape (n_components, n_all_levels)
        Parts of the records with each level.
    missing : ndarray of shape (n_components, n_columns)
        Parts of the records in which a column is missing: numbers first, then categories. Records of which
        little is known belong to large components.
    """

    shares: FloatArray
    curves: FloatArray
    levels: FloatArray
    missing: FloatArray


def predict_records(
    partition: GaussianMixture | ProductMixture,
    ball: Domain,
    schema: Schema,
    missing: FloatArray,
    rng: np.random.Generator,
) -> Predicted:
    """Draw as many points from each component, label them as records are, and describe what each labels.

    ``missing`` has the part of all records in which a column is missing.
    """
    (k, d), layout = partition.means.shape, schema.layout
    has_holes = bool(missing.any() or schema.tracked)
    # A density takes as many steps as the width of a whitener, and where values are missing a factorisation.
    per = int(np.clip(_VALUES // (k * k * max(d, 1) ** (2 + has_holes)), *_POINTS))
    per = per // 2 if has_holes else per
    records, drawn = _equally(partition, per, rng)
    numbers, holes = partition.numbers_of(records).copy(), np.zeros((len(records), len(missing)), np.bool_)
    if has_holes:
        holes = _patterns(missing, rng)[rng.integers(_PATTERNS, size=len(records))]
        make_holes(records, holes, schema)
        holes[:, list(layout.holes)] = records[:, layout.hole_part] > 0
    labels, levels = partition.labels(ball.clip(records)), records[:, layout.level_part]
    weights = partition.weights[drawn] / per
    shares, curves = np.zeros(k), np.zeros((k, d, N_STEPS + 1))
    of_levels, of_holes = np.zeros((k, layout.n_all_levels)), np.zeros((k, len(missing)))
    for i in range(k):
        own = np.flatnonzero(labels == i)
        shares[i] = weights[own].sum()
        if len(own) < _LEAST_LABELLED or not shares[i]:
            own = np.flatnonzero(drawn == i)
        parts = weights[own] if weights[own].any() else np.ones(len(own))
        parts = parts / parts.sum()
        for j in range(d):
            there = np.flatnonzero(~holes[own, j] & (parts > 0))
            there = there if len(there) >= _LEAST_LABELLED else np.arange(len(own))
            curves[i, j] = _curve(numbers[own[there], j], parts[there])
        of_levels[i], of_holes[i] = parts @ levels[own], parts @ holes[own]
    shares = np.maximum(shares, 1e-12)
    return Predicted(shares / shares.sum(), curves, of_levels, of_holes)


def _patterns(missing: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Return patterns of missing values, in which columns are missing independently of one another."""
    order = np.argsort(rng.random((_PATTERNS, len(missing))), axis=0)
    patterns: BoolArray = order < np.rint(missing * _PATTERNS)
    return patterns


def _equally(
    mixture: GaussianMixture | ProductMixture, per: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw about ``per`` points from each component, whatever its weight."""
    k = mixture.n_components
    equal: GaussianMixture | ProductMixture = replace(mixture, weights=np.full(k, 1 / k))
    return equal.sample(per * k, rng)


def _curve(values: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the quantiles of weighted values at equal steps."""
    order = np.argsort(values)
    below = np.cumsum(parts[order]) - parts[order] / 2
    found: FloatArray = np.interp(np.linspace(0, 1, N_STEPS + 1), below / parts.sum(), values[order])
    return found
