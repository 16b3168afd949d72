"""Every mechanism of the library, with the neighbouring datasets that it protects worst."""

import itertools
from functools import partial
from typing import Any

import numpy as np

from audits.attacks.cases import (
    ADD_REMOVE,
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
from dpmorse.bases.staged.encoded import encoded_domain, whiten_numbers
from dpmorse.engine import InMemoryEngine
from dpmorse.privacy import GAUSSIAN, LAPLACE, Neighboring, Noise, Step, accounting
from dpmorse.privacy.exact import opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    GroupCounts,
    MagnitudeHistograms,
    MomentShares,
    PrefixCells,
    SecondMoments,
    SwapCosts,
)
from dpmorse.statistics.cells import WEIGHT_BITS
from dpmorse.typing import FloatArray

N_FEATURES = 2
REACHED_IN_ONE_CELL = {"full": 0.85, "diagonal": 0.94, "trace": 0.94, "none": 1.0}
"""The part of the proved sensitivity that replacing a record reaches where all records share one cell."""

_BOX = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
_OTHERS = np.random.default_rng(0).uniform(-1, 1, size=(50, N_FEATURES))


def moments(
    kind: SecondMoments,
    relation: Neighboring,
    mu: float,
    *,
    ball: bool = False,
    residuals: bool = False,
    soft: bool = False,
) -> Case:
    """Return moments of cells; a record in a corner or on the sphere is added, or moved opposite."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES, 0.9 if ball else None)
    statistic = CellMoments(domain, 2, WEIGHT_BITS if soft else 0, kind, of_residuals=residuals)
    corner = np.array([[1.0, 0.0]]) if ball or residuals else np.ones((1, N_FEATURES))
    cells = _two_cells(0.5)
    if relation is REPLACE_ONE and kind is SecondMoments.NONE:
        cells = _two_cells(40.0)  # the worst replacement stays in its cell: opposite corners in the first one
    scales = statistic.calibrate(mu**2 / 2, relation)
    (planned,) = statistic.plan([Step(f"moments {kind}")], scales, relation)
    words = ["ball" if ball else "box", "residuals" if residuals else "records", "soft" if soft else "hard"]
    name = f"moments ({kind}), {', '.join(words)}, {relation}"
    return sums_of_cells(name, planned, (statistic, cells), _neighbours(corner, relation))


def one_cell(kind: SecondMoments, mu: float) -> Case:
    """Return moments of all records together, one of which is replaced by the opposite corner."""
    statistic = CellMoments(_BOX, 1, second_moments=kind)
    (planned,) = statistic.plan(
        [Step(f"one cell {kind}")], statistic.calibrate(mu**2 / 2, REPLACE_ONE), REPLACE_ONE
    )
    first, second = np.array([[1.0, -1.0]]), np.array([[1.0, 1.0]] if kind == "full" else [[-1.0, 1.0]])
    cells = GaussianCells.nearest(np.zeros((1, N_FEATURES)))
    datasets = (np.vstack([_OTHERS, first]), np.vstack([_OTHERS, second]))
    name = f"moments ({kind}), box, one cell, replace-one"
    return sums_of_cells(name, planned, (statistic, cells), datasets, REACHED_IN_ONE_CELL[kind])


def laplace_moments(relation: Neighboring, epsilon: float) -> Case:
    """Return counts and sums of one column in two cells with Laplace noise."""
    statistic = CellMoments(_BOX, 2, second_moments=SecondMoments.NONE)
    scales = statistic.calibrate(epsilon, relation, noise=LAPLACE)
    (planned,) = statistic.plan([Step("moments, Laplace")], scales, relation, LAPLACE)
    datasets = _neighbours(np.ones((1, N_FEATURES)), relation)
    return sums_of_cells(
        f"moments (none), Laplace, {relation}", planned, (statistic, _two_cells(0.5)), datasets
    )


def leaves(relation: Neighboring, mu: float) -> Case:
    """Return counts and sums of leaves to which a record need not belong."""
    codes = BinaryCodes.rounded(_BOX, np.eye(N_FEATURES), reach=1.0, bits=1)
    cells = PrefixCells(codes, np.array([0, 3]), np.array([3, 4]))  # all but the upper right, the upper right
    statistic = CellMoments(_BOX, 2, second_moments=SecondMoments.NONE, exhaustive=False)
    scales = statistic.calibrate(mu**2 / 2, relation)
    (planned,) = statistic.plan([Step("leaves")], scales, relation)
    datasets = _neighbours(np.array([[1.0, -1.0]]), relation)
    return sums_of_cells(f"sums of leaves, {relation}", planned, (statistic, cells), datasets)


def tables(relation: Neighboring, mu: float, layout: Layout, *, soft: bool = False) -> Case:
    """Return sums of a table; all that can be missing is, each column has a level, and the number is far out.

    Its neighbour, where there is one, is in another cell, or has other levels where there are no numbers.
    """
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    domain = encoded_domain(layout, lower, upper)
    statistic = CellMoments(domain, 2, WEIGHT_BITS if soft else 0, of_residuals=True, layout=layout)
    shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5, levels=0.4)
    if not layout.n_numbers:
        shares = MomentShares(count=0.5, sum=0.5, levels=0.4)
    scales = statistic.calibrate(mu**2 / 2, relation, shares)
    (planned,) = statistic.plan([Step("table")], scales, relation)
    first, second = far_record(layout, upper, 0), far_record(layout, lower, 1)
    others = np.repeat(far_record(layout, (lower + upper) / 2, 1), 50, axis=0)
    kinds = f"{layout.n_numbers} numbers, {layout.n_categories} categories, {'soft' if soft else 'hard'}"
    datasets = neighbours(others, first, relation, second)
    cells = _cells_of_table(layout, domain)
    return sums_of_cells(f"sums of tables, {kinds}, {relation}", planned, (statistic, cells), datasets)


def far_record(layout: Layout, numbers: FloatArray, level: int) -> FloatArray:
    """Return one encoded record without numbers, and with the same level in every column of categories."""
    record, there = np.zeros((1, layout.width)), ~np.isin(np.arange(layout.n_numbers), layout.holes)
    record[:, layout.hole_part] = 1.0
    record[:, layout.number_part] = np.where(there, numbers, layout.middle)
    record[:, [layout.level_part.start + own.start + level for own in layout.levels]] = 1.0
    return record


def _cells_of_table(layout: Layout, domain: Domain) -> GaussianCells:
    """Return two cells, split by the sign of the first number, or by the first level where there is none."""
    k, d = 2, layout.n_numbers
    if d:
        means = np.zeros((k, d))
        means[:, 0] = [-0.5, 0.5]
        whiten, shift = whiten_numbers(layout, domain, means, np.tile(0.1 * np.eye(d), (k, 1, 1)))
    else:
        whiten, shift = np.zeros((k, layout.width, layout.width)), np.zeros((k, layout.width))
        whiten[:, 0, 0], shift[:, 0] = 1.0, [-1.0, 0.0]
    return GaussianCells.from_scores(whiten, shift, np.zeros(k), 2.0, domain.grid_bits)


def counts(relation: Neighboring, cost: float, noise: Noise = GAUSSIAN, *, statistic: Any = None) -> Case:
    """Return counts of disjoint groups, or of the bins of a kind of histogram."""
    if statistic is not None:
        layout = Layout((-1.0,) * N_FEATURES, (1.0,) * N_FEATURES)
        histograms = statistic(layout if statistic is ColumnHistograms else N_FEATURES)
        planned = histograms.counts.plan(Step("counts"), cost, relation, noise)
        datasets = _neighbours(np.full((1, N_FEATURES), 0.99), relation)
        name = f"{statistic.__name__}, {noise.name}, {relation}"
        return counts_of_bins(name, planned, histograms, datasets)
    groups = GroupCounts(4)
    exact, neighbour = np.array([5, 0, 0, 7]), np.array([5, 1, 0, 7 - (relation is REPLACE_ONE)])
    planned = groups.plan(Step("counts"), cost, relation, noise)
    first, second = (opened(groups.to_units(sealed(counted))) for counted in (exact, neighbour))
    name = f"counts of groups, {noise.name}, {relation}"
    return Case(name, planned, first, second, attacked=parts_of(groups))


def choice(relation: Neighboring, mu: float) -> Case:
    """Return a choice of one of two centres, whose order one record turns round.

    Places are in halves of the smallest cubes. The limit of a squared distance is 40, and 100 lie between the
    centres; a record at -1 makes the first better by half the limit, one at 5 makes the second better by all
    of it.
    """
    codes = BinaryCodes.rounded(Domain.from_bounds((-1.0, 1.0), 1), np.eye(1), reach=1.0, bits=4)
    centres, limit = np.array([[-5], [5]]), 40
    planned = SwapCosts.plan(Step("swap"), limit, _rho_of_choice(mu), relation)
    half, first, second = (np.array([[place / 16]]) for place in (-1, -5, 5))
    datasets = (half, np.vstack([half, second])) if relation is ADD_REMOVE else (first, second)
    costs = [SwapCosts.of(InMemoryEngine().tally(X, codes), codes, 4, limit) for X in datasets]
    exact, neighbour = (opened(of_data.after_swaps(centres, np.array([0]))) for of_data in costs)
    return Case(f"choice, {relation}", planned, exact, neighbour, attacked=(SwapCosts, *parts_of(codes)))


def all_moments(n_options: int = 8) -> list["partial[Case]"]:
    """Return the makers of the cases of moments: all kinds, each with ``n_options`` of the 8 combinations."""
    options = list(itertools.product([False, True], repeat=3))
    found = []
    for i, (kind, relation, mu) in enumerate(itertools.product(SecondMoments, RELATIONS, MUS)):
        turned = options[(i + i // 8) % 8 :] + options[: (i + i // 8) % 8]
        for ball, residuals, soft in turned[:: 8 // n_options]:
            found.append(partial(moments, kind, relation, mu, ball=ball, residuals=residuals, soft=soft))
    return found + [
        partial(one_cell, *case) for case in itertools.product(SecondMoments, MUS[: 1 + (n_options > 1)])
    ]


def all_others() -> list["partial[Case]"]:
    """Return the makers of the cases of counts, histograms, leaves and Laplace noise."""
    return [
        make
        for relation, value in itertools.product(RELATIONS, MUS)
        for make in (
            partial(counts, relation, value**2 / 2),
            partial(counts, relation, value**2 / 2, statistic=ColumnHistograms),
            partial(counts, relation, value**2 / 2, statistic=MagnitudeHistograms),
            partial(leaves, relation, value),
            partial(counts, relation, value, LAPLACE),
            partial(laplace_moments, relation, value),
        )
    ]


def all_tables() -> list["partial[Case]"]:
    """Return the makers of the cases of tables: numbers with and without missing values, categories, both."""
    layouts = (
        Layout((-1.0, -1.0), (1.0, 1.0), (1,), (3, 2, 4)),
        Layout((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0), (1, 2)),
        Layout((), (), (), (3, 5)),
    )
    return [
        partial(tables, relation, mu, layout, soft=mu == MUS[0] and layout.n_numbers > 0)
        for relation, mu, layout in itertools.product(RELATIONS, MUS, layouts)
    ]


def all_choices() -> list["partial[Case]"]:
    """Return the makers of the choices, which are drawn one at a time."""
    return [partial(choice, relation, mu) for relation, mu in itertools.product(RELATIONS, MUS)]


def _rho_of_choice(mu: float) -> float:
    """Return the cost that buys a choice of this mu."""
    low, high = 0.0, 10.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        bought = accounting.bounded_range_mu(accounting.largest_range(middle)) if middle else 0.0
        low, high = (middle, high) if bought < mu else (low, middle)
    return low


def _two_cells(distance: float) -> GaussianCells:
    """Return cells split by the sign of the first coordinate; with a large distance the first one has all."""
    means = np.zeros((2, N_FEATURES))
    means[:, 0] = [-0.5, 0.5] if distance < 1 else [0.0, distance]
    covariances = np.tile((0.01 if distance < 1 else 1.0) * np.eye(N_FEATURES), (2, 1, 1))
    return GaussianCells.from_mixture(np.full(2, 0.5), means, covariances, 2.0 if distance < 1 else 0.5)


def _neighbours(record: FloatArray, relation: Neighboring) -> Datasets:
    """Return datasets without a record, or with the opposite one, and with it."""
    return neighbours(_OTHERS, record, relation, -record)
