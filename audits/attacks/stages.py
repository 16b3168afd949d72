"""The releases of the stages of the default bases, each on the neighbouring datasets that it protects worst.

Shares of the cost are those of the stages, so that the worst pair is the one of a fit.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from audits.attacks.cases import (
    MUS,
    RELATIONS,
    REPLACE_ONE,
    Case,
    Datasets,
    counts_of_bins,
    neighbours,
    parts_of,
    sums_of_cells,
)
from audits.attacks.mechanisms import far_record
from dpmorse.bases.staged.encoded import counted_of, encoded_domain, whiten_numbers
from dpmorse.bases.staged.histogram_with_missing import codes_with_missing, places_with_missing
from dpmorse.engine import InMemoryEngine
from dpmorse.privacy import Neighboring, PlannedRelease, Step
from dpmorse.privacy.exact import opened
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    MATRIX_BITS,
    WEIGHT_BITS,
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    GroupCounts,
    MomentShares,
    NearestCubes,
    ProfileCounts,
    Projection,
    SecondMoments,
    counts_starting_with,
)
from dpmorse.typing import FloatArray, IntArray

OF_CORESET = MomentShares(count=1 / 6, sum=2 / 3, second_moment=1 / 6)
OF_DIRECTIONS = MomentShares(count=0.01, sum=0.04, second_moment=0.95)
OF_LEVELS = MomentShares(count=0.2, sum=0.8)
"""Shares of counts, sums and second moments in stages of these names."""

MIXED = Layout((-8.0, -8.0), (8.0, 8.0), (1,), (3, 2))
CATEGORIES = Layout((), (), (), (3, 5))

_FAR = np.array([[8.0, 0.0]])
"""A record at the edge of the box in which profiles are counted, far outside of every cell."""


def profile(relation: Neighboring, mu: float) -> Case:
    """Return sizes and bins of profile cells, a record being far outside of what cells are found in."""
    statistic = _counts_of_profile(Layout((-8.0, -8.0), (8.0, 8.0)))
    datasets = neighbours(_few(2), _FAR, relation, -_FAR)
    return _profile("profile", (relation, mu), statistic, datasets)


def table_profile(relation: Neighboring, mu: float, *, missing: bool) -> Case:
    """Return the same of a table: a record counts in each column, by its value or because it is missing.

    The one in its place is of the other cell; where values are missing, all that may be are missing there.
    """
    statistic = _counts_of_profile(MIXED)
    record, other = (_of_table(sign * np.ones(2), int(sign > 0)) for sign in (1.0, -1.0))
    if missing:
        record[:, MIXED.hole_part], record[:, MIXED.level_part] = 1.0, 0.0
        record[:, MIXED.number_part] = [8.0, 0.0]
    others = np.repeat(_of_table(np.zeros(2), 1), 50, axis=0)
    name = f"table profile{', missing' if missing else ''}"
    return _profile(name, (relation, mu), statistic, neighbours(others, record, relation, other))


def ranges(relation: Neighboring, mu: float) -> Case:
    """Return histograms of numbers: one record has all of them outside of the bounds, the other inside."""
    histograms = ColumnHistograms(MIXED)
    planned = histograms.counts.plan(Step("ranges"), mu**2 / 2, relation)
    outside, inside = _of_table(np.array([1e300, -np.inf]), 0), _of_table(np.array([8.0, -8.0]), 0)
    datasets = neighbours(np.repeat(_of_table(np.zeros(2), 1), 50, axis=0), outside, relation, inside)
    return counts_of_bins(f"ranges, {relation}", planned, histograms, datasets)


def directions(relation: Neighboring, mu: float) -> Case:
    """Return count, sum and second moment of all records; a replaced one moves by the worst angle."""
    domain = Domain.from_bounds((-1.0, 1.0), 4, 1.0)
    statistic = CellMoments(domain, 1, of_residuals=True)
    planned = _planned(statistic, OF_DIRECTIONS, relation, mu)
    cosine = -OF_DIRECTIONS.sum / (2 * OF_DIRECTIONS.second_moment)  # the t of Theorem 5
    record = np.eye(4)[:1]
    other = np.array([[cosine, math.sqrt(1 - cosine**2), 0.0, 0.0]])
    cells = GaussianCells.nearest(np.zeros((1, 4)), 0.5)
    datasets = neighbours(_few(4), record, relation, other)
    return sums_of_cells(f"directions, {relation}", planned, (statistic, cells), datasets)


def levels(relation: Neighboring, mu: float, layout: Layout) -> Case:
    """Return counts of all missing values and levels of a table.

    The bound is that of vectors in a ball, of which two can be opposite; levels are not below 0, so that
    replacing a record reaches less of it.
    """
    statistic = CellMoments(counted_of(layout), 1, second_moments=SecondMoments.NONE)
    planned = _planned(statistic, OF_LEVELS, relation, mu)
    record, other = (far_record(layout, np.zeros(layout.n_numbers), level) for level in (0, 1))
    other[:, layout.hole_part] = 0.0
    cells = GaussianCells.nearest(np.zeros((1, layout.n_holes + layout.n_all_levels)))
    ones = layout.n_categories + layout.n_holes
    reached = math.sqrt((ones + layout.n_categories) / (4 * ones)) if relation is REPLACE_ONE else 1.0
    datasets = neighbours(np.repeat(other, 50, axis=0), record, relation, other)
    name = f"levels and missing values, {relation}"
    return sums_of_cells(name, planned, (statistic, cells), datasets, reached)


def coreset(relation: Neighboring, mu: float) -> Case:
    """Return counts, sums and traces of offsets from centres; the worst replacement stays in its cell."""
    domain = Domain.from_bounds((-1.0, 1.0), 2, 1.0)
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.TRACE, of_residuals=True)
    planned = _planned(statistic, OF_CORESET, relation, mu)
    record, cells = np.array([[1.0, 0.0]]), GaussianCells.nearest(np.array([[0.0, 0.0], [0.0, 9.0]]), 0.15)
    datasets = neighbours(_few(2), record, relation, -record)
    return sums_of_cells(f"coreset, {relation}", planned, (statistic, cells), datasets)


def along_directions(relation: Neighboring, mu: float) -> Case:
    """Return moments of residuals of soft cells, of records that are projected from 40 columns."""
    matrix = np.zeros((2, 40))
    matrix[0, ::2] = matrix[1, 1::2] = 2.0**MATRIX_BITS
    whole = Domain(-np.ones(40), np.ones(40), 1.0, FINE_GRID_BITS)
    reach = np.full(2, 2.0 ** (MATRIX_BITS + FINE_GRID_BITS))
    domain = Domain(-reach, reach, 1.0, projection=Projection(whole, matrix))
    statistic = CellMoments(domain, 2, WEIGHT_BITS, of_residuals=True)
    planned = _planned(statistic, None, relation, mu)
    record = np.tile([1.0, 0.0], 20)[None]
    datasets = neighbours(_few(40), record, relation, -record)
    return sums_of_cells(f"components along directions, {relation}", planned, (statistic, _apart()), datasets)


def recovery(relation: Neighboring, mu: float) -> Case:
    """Return counts and sums of cells of cubes; the worst replacement stays in its cell."""
    domain = Domain.from_bounds((-1.0, 1.0), 2)
    codes = BinaryCodes.rounded(domain, np.eye(2), reach=1.0, bits=3)
    cells = NearestCubes(codes, 3, np.array([[0, 0], [99, 99]]))
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.NONE)
    planned = _planned(statistic, None, relation, mu)
    datasets = neighbours(_few(2), np.ones((1, 2)), relation, -np.ones((1, 2)))
    return sums_of_cells(f"recovery of centres, {relation}", planned, (statistic, cells), datasets)


def joint_histogram(relation: Neighboring, mu: float) -> Case:
    """Return counts of all cells of a grid over two columns."""
    codes = BinaryCodes.rounded(Domain.from_bounds((-1.0, 1.0), 2, 1.0), np.eye(2), reach=1.0, bits=3)
    datasets = neighbours(_few(2), _FAR, relation, -_FAR)
    return _grid("joint histogram", (relation, mu), codes, np.arange(1 << codes.n_bits), datasets)


def histogram_with_missing(relation: Neighboring, mu: float) -> Case:
    """Return counts of a grid with cells for missing values; the worst replacement has no number at all."""
    layout = Layout((-1.0, -1.0), (1.0, 1.0), (0, 1))
    codes = codes_with_missing(layout, Domain.from_bounds((-1.0, 1.0), 2), 3)
    complete, nothing = np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 0.0, 0.0]])
    datasets = neighbours(np.hstack([np.zeros((50, 2)), _few(2)]), complete, relation, nothing)
    prefixes = codes.at(places_with_missing(layout, 3))
    return _grid("histogram with missing values", (relation, mu), codes, prefixes, datasets)


def _grid(
    name: str,
    at: tuple[Neighboring, float],
    codes: BinaryCodes,
    prefixes: IntArray,
    datasets: tuple[FloatArray, FloatArray],
) -> Case:
    relation, mu = at
    groups = GroupCounts(prefixes.size)
    planned = groups.plan(Step("joint histogram"), mu**2 / 2, relation)
    tallies = [InMemoryEngine().tally(X, codes) for X in datasets]
    first, second = (
        opened(groups.to_units(counts_starting_with(tally, prefixes, codes.n_bits))) for tally in tallies
    )
    return Case(f"{name}, {relation}", planned, first, second, attacked=parts_of(groups, codes))


def all_stages() -> list["partial[Case]"]:
    """Return the makers of the cases of stages."""
    stages: tuple[Callable[..., Case], ...] = (
        ranges,
        profile,
        partial(table_profile, missing=False),
        partial(table_profile, missing=True),
        directions,
        partial(levels, layout=MIXED),
        partial(levels, layout=CATEGORIES),
        coreset,
        along_directions,
        recovery,
        joint_histogram,
        histogram_with_missing,
    )
    return [partial(make, relation, mu) for make, relation, mu in itertools.product(stages, RELATIONS, MUS)]


def _planned(
    statistic: CellMoments, shares: MomentShares | None, relation: Neighboring, mu: float
) -> PlannedRelease:
    scales = statistic.calibrate(mu**2 / 2, relation, shares)
    (planned,) = statistic.plan([Step("stage")], scales, relation)
    return planned


def _few(n_features: int) -> FloatArray:
    """Return records that are neither at the bounds nor far from the cells."""
    return np.asarray(np.random.default_rng(0).uniform(-1, 1, size=(50, n_features)))


def _apart() -> GaussianCells:
    """Return two narrow cells, split by the sign of the first coordinate."""
    means = np.array([[-0.5, 0.0], [0.5, 0.0]])
    covariances = np.tile(0.01 * np.eye(2), (2, 1, 1))
    return GaussianCells.from_mixture(np.full(2, 0.5), means, covariances, 2.0)


def _counts_of_profile(layout: Layout) -> ProfileCounts:
    """Return counts in bins of the bounds of two numbers; two cells are in a box an eighth as wide."""
    ball, box = (
        encoded_domain(layout, -size * np.ones(2), size * np.ones(2), FINE_GRID_BITS) for size in (1.0, 8.0)
    )
    means, factors = np.array([[-0.5, 0.0], [0.5, 0.0]]), np.tile(0.1 * np.eye(2), (2, 1, 1))
    whiten, shift = whiten_numbers(layout, ball, means, factors)
    rule = GaussianCells.from_scores(whiten, shift, np.zeros(2), 1.0, FINE_GRID_BITS)
    edges = np.tile(np.arange(-3, 4) << (FINE_GRID_BITS - 2), (2, 2, 1))
    counted = tuple(range(layout.n_categories))
    may_miss = (*layout.holes, *range(2, 2 + layout.n_categories))
    return ProfileCounts(rule, ball, box, layout, edges, counted, may_miss)


def _profile(name: str, at: tuple[Neighboring, float], statistic: ProfileCounts, datasets: Datasets) -> Case:
    relation, mu = at
    planned = statistic.plan(Step("profile"), mu**2 / 2, relation)
    return counts_of_bins(f"{name}, {relation}", planned, statistic, datasets)


def _of_table(numbers: FloatArray, level: int) -> FloatArray:
    """Return one encoded record without missing values, and with the same level in every category."""
    record = np.zeros((1, MIXED.width))
    record[:, MIXED.number_part] = numbers
    record[:, [MIXED.level_part.start + own.start + level for own in MIXED.levels]] = 1.0
    return record
