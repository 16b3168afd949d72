"""Every mechanism of the library, with the neighbouring datasets that it protects worst."""

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.attacks.sampler import seeded
from dpmorse.audit import AuditResult, audit_mechanism
from dpmorse.bases.tables.encoded import encoded_domain, whiten_numbers
from dpmorse.engine import InMemoryEngine
from dpmorse.privacy import (
    GAUSSIAN,
    LAPLACE,
    Neighboring,
    Noise,
    PlannedChoice,
    PlannedRelease,
    Step,
    accounting,
)
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
    TableMoments,
)
from dpmorse.statistics.cells import WEIGHT_BITS
from dpmorse.typing import FloatArray, IntArray

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
RELATIONS = (ADD_REMOVE, REPLACE_ONE)

MUS = (1.0, 2.0)
"""The budgets that are tried, as those of Gaussian mechanisms."""

N_FEATURES = 2
REACHED_IN_ONE_CELL = {"full": 0.85, "diagonal": 0.94, "trace": 0.94, "none": 1.0}
"""The part of the proved sensitivity that replacing a record reaches where all records share one cell."""

_OTHERS = np.random.default_rng(0).uniform(-1, 1, size=(50, N_FEATURES))


@dataclass(frozen=True)
class Case:
    """A mechanism and the exact answers on two neighbouring datasets.

    ``reached`` is the part of the proved sensitivity that this pair reaches: 1, but where all records are in
    one cell and one is replaced. There the bound of Theorem 5 is not attained, and a search finds no worse
    pair.
    """

    name: str
    planned: PlannedRelease | PlannedChoice
    exact: IntArray
    neighbour: IntArray
    reached: float = 1.0

    def with_noise(self, factor: float) -> "Case":
        """Return the same answers with noise that is so many times what its event says."""
        if isinstance(self.planned, PlannedChoice):
            raise TypeError("choices have no scales of noise")
        scales = np.ceil(factor * self.planned.scales).astype(np.int64)
        return replace(self, planned=PlannedRelease(scales, self.planned.event))

    def audited(self, *, runs: int, seed: int, confidence: float = 0.95) -> AuditResult:
        """Audit the mechanism on these answers."""
        return audit_mechanism(
            self.planned,
            self.exact,
            self.neighbour,
            runs=runs,
            confidence=confidence,
            sampler=seeded(seed),
        )


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
    answers = _answers(statistic, cells, _neighbours(corner, relation))
    return Case(f"moments ({kind}), {', '.join(words)}, {relation}", planned, *answers)


def one_cell(kind: SecondMoments, mu: float) -> Case:
    """Return moments of all records together, one of which is replaced by the opposite corner."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    statistic = CellMoments(domain, 1, second_moments=kind)
    (planned,) = statistic.plan(
        [Step(f"one cell {kind}")], statistic.calibrate(mu**2 / 2, REPLACE_ONE), REPLACE_ONE
    )
    first, second = np.array([[1.0, -1.0]]), np.array([[1.0, 1.0]] if kind == "full" else [[-1.0, 1.0]])
    cells = GaussianCells.nearest(np.zeros((1, N_FEATURES)))
    datasets = (np.vstack([_OTHERS, first]), np.vstack([_OTHERS, second]))
    name = f"moments ({kind}), box, one cell, replace-one"
    return Case(name, planned, *_answers(statistic, cells, datasets), REACHED_IN_ONE_CELL[kind])


def laplace_moments(relation: Neighboring, epsilon: float) -> Case:
    """Return counts and sums of one column in two cells with Laplace noise."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.NONE)
    scales = statistic.calibrate(epsilon, relation, noise=LAPLACE)
    (planned,) = statistic.plan([Step("moments, Laplace")], scales, relation, LAPLACE)
    corner = np.ones((1, N_FEATURES))
    answers = _answers(statistic, _two_cells(0.5), _neighbours(corner, relation))
    return Case(f"moments (none), Laplace, {relation}", planned, *answers)


def leaves(relation: Neighboring, mu: float) -> Case:
    """Return counts and sums of leaves to which a record need not belong."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    codes = BinaryCodes.rounded(domain, np.eye(N_FEATURES), reach=1.0, bits=1)
    cells = PrefixCells(codes, np.array([0, 3]), np.array([3, 4]))  # all but the upper right, the upper right
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.NONE, exhaustive=False)
    scales = statistic.calibrate(mu**2 / 2, relation)
    (planned,) = statistic.plan([Step("leaves")], scales, relation)
    answers = _answers(statistic, cells, _neighbours(np.array([[1.0, -1.0]]), relation))
    return Case(f"sums of leaves, {relation}", planned, *answers)


def tables(relation: Neighboring, mu: float, layout: Layout, *, soft: bool = False) -> Case:
    """Return sums of a table; the record has all holes and a level in each column, and its number is far out.

    Its neighbour, where there is one, is in another cell, or has other levels where there are no numbers.
    """
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    domain = encoded_domain(layout, lower, upper)
    statistic = TableMoments(domain, layout, 2, WEIGHT_BITS if soft else 0)
    shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5)
    if not layout.n_numbers:
        shares = MomentShares(count=0.5, sum=0.5)
    scales = statistic.calibrate(mu**2 / 2, relation, shares, 0.4, GAUSSIAN)
    (planned,) = statistic.plan([Step("table")], scales, relation)
    first, second = _far_record(layout, upper, 0), _far_record(layout, lower, 1)
    others = np.repeat(_far_record(layout, (lower + upper) / 2, 1), 50, axis=0)
    without = others if relation is ADD_REMOVE else np.vstack([others, second])
    answers = _answers(statistic, _cells_of_table(layout, domain), (without, np.vstack([others, first])))
    kinds = f"{layout.n_numbers} numbers, {layout.n_categories} categories, {'soft' if soft else 'hard'}"
    return Case(f"sums of tables, {kinds}, {relation}", planned, *answers)


def _far_record(layout: Layout, numbers: FloatArray, level: int) -> FloatArray:
    """Return one encoded record with all its holes, and the same level in every column of categories."""
    record, there = np.zeros((1, layout.width)), ~np.isin(np.arange(layout.n_numbers), layout.holes)
    record[:, layout.hole_part] = 1.0
    record[:, layout.number_part] = np.where(there, numbers, layout.middle)
    record[:, [layout.level_part.start + own.start + level for own in layout.levels]] = 1.0
    return record


def _cells_of_table(layout: Layout, domain: Domain) -> GaussianCells:
    """Return two cells, split by the sign of the first number, or by the first level where there is none."""
    k, d = 2, layout.n_numbers
    whiten, shift = np.zeros((k, layout.width, layout.width)), np.zeros((k, layout.width))
    if d:
        means = np.zeros((k, d))
        means[:, 0] = [-0.5, 0.5]
        whiten_numbers(layout, domain, means, np.tile(0.1 * np.eye(d), (k, 1, 1)), into=(whiten, shift))
    else:
        whiten[:, 0, 0], shift[:, 0] = 1.0, [-1.0, 0.0]
    return GaussianCells.from_scores(whiten, shift, np.zeros(k), 2.0, domain.grid_bits)


def counts(relation: Neighboring, cost: float, noise: Noise = GAUSSIAN, *, statistic: Any = None) -> Case:
    """Return counts of disjoint groups, or of the bins of a kind of histogram."""
    engine, corner = InMemoryEngine(), np.full((1, N_FEATURES), 0.99)
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    if statistic is None:
        groups = GroupCounts(4)
        exact, neighbour = np.array([5, 0, 0, 7]), np.array([5, 1, 0, 7 - (relation is REPLACE_ONE)])
    else:
        histograms = statistic(domain) if statistic is ColumnHistograms else statistic(N_FEATURES)
        groups = histograms.counts
        exact, neighbour = (
            opened(engine.count(X, histograms)).ravel() for X in _neighbours(corner, relation)
        )
    planned = groups.plan(Step("counts"), cost, relation, noise)
    name = "counts of groups" if statistic is None else statistic.__name__
    first, second = (opened(groups.to_units(sealed(counted))) for counted in (exact, neighbour))
    return Case(f"{name}, {noise.name}, {relation}", planned, first, second)


def choice(relation: Neighboring, mu: float) -> Case:
    """Return a choice of two sets of centres, whose order one record turns round."""
    limit = 1000
    cost = _rho_of_choice(mu)
    planned = SwapCosts.plan(Step("swap"), limit, cost, relation)
    if relation is ADD_REMOVE:
        return Case("choice, add-remove", planned, np.array([0, limit // 2]), np.array([limit, limit // 2]))
    return Case("choice, replace-one", planned, np.array([0, limit]), np.array([limit, 0]))


def all_moments(n_options: int = 8) -> list["partial[Case]"]:
    """Return what makes the cases of moments: all kinds, with so many of the 8 combinations of options."""
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
    """Return what makes the cases of counts, histograms, leaves and Laplace noise."""
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
    """Return what makes the cases of tables: numbers with and without holes, categories, and both."""
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
    """Return what makes the choices: these are drawn one at a time."""
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


def _neighbours(record: FloatArray, relation: Neighboring) -> tuple[FloatArray, FloatArray]:
    """Return datasets without a record, or with the opposite one, and with it."""
    without = _OTHERS if relation is ADD_REMOVE else np.vstack([_OTHERS, -record])
    return without, np.vstack([_OTHERS, record])


def _answers(
    statistic: CellMoments | TableMoments, cells: Any, datasets: tuple[FloatArray, FloatArray]
) -> tuple[IntArray, IntArray]:
    """Return what the mechanism is asked to release on each of two datasets."""
    exact, neighbour = (
        opened(statistic.to_units(InMemoryEngine().reduce(X, statistic, cells))) for X in datasets
    )
    return exact, neighbour
