"""Every mechanism of the library, with the neighbouring datasets that it protects worst."""

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpmorse.engine import InMemoryEngine
from dpmorse.privacy import GAUSSIAN, LAPLACE, Neighboring, PlannedChoice, PlannedRelease, accounting
from dpmorse.privacy.random_bytes import SeededBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    GroupCounts,
    MagnitudeHistograms,
    PrefixCells,
    SecondMoments,
    SwapCosts,
)
from dpmorse.statistics.cells import WEIGHT_BITS
from dpmorse.typing import IntArray

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
RELATIONS = (ADD_REMOVE, REPLACE_ONE)
MUS = (1.0, 2.0)
N_FEATURES = 2
_OTHERS = np.random.default_rng(0).uniform(-1, 1, size=(50, N_FEATURES))


@dataclass(frozen=True)
class Case:
    """A mechanism and the exact answers on two neighbouring datasets.

    ``reached`` is the part of the proved sensitivity that this pair reaches: 1, but where all records are in one
    cell and one is replaced. There the bound of Theorem 5 is not attained, and a search finds no worse pair.
    """

    name: str
    planned: PlannedRelease | PlannedChoice
    exact: IntArray
    neighbour: IntArray
    reached: float = 1.0


def seeded(seed):
    """Return a sampler for tests."""
    return NativeSampler(SeededBytes(np.random.SeedSequence(seed)))


def moments(kind, relation, mu, *, ball=False, residuals=False, soft=False):
    """Return moments of cells, with a record in a corner (or on the sphere) that is added or moved opposite."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES, 0.9 if ball else None)
    statistic = CellMoments(domain, 2, WEIGHT_BITS if soft else 0, kind, of_residuals=residuals)
    corner = np.array([[1.0, 0.0]]) if ball or residuals else np.ones((1, N_FEATURES))
    cells = _two_cells(0.5)
    if relation is REPLACE_ONE and kind is SecondMoments.NONE:
        cells = _two_cells(40.0)  # the worst replacement stays in its cell: opposite corners in the first one
    scales = statistic.calibrate(mu**2 / 2, relation)
    (planned,) = statistic.plan([f"moments {kind}"], scales, relation)
    words = ["ball" if ball else "box", "residuals" if residuals else "records", "soft" if soft else "hard"]
    return _case(f"moments ({kind}), {', '.join(words)}", planned, statistic, cells, corner, relation)


REACHED_IN_ONE_CELL = {"full": 0.85, "diagonal": 0.94, "trace": 0.94, "none": 1.0}


def one_cell(kind, mu):
    """Return moments of all records together, one of which is replaced by the opposite corner."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    statistic = CellMoments(domain, 1, second_moments=kind)
    (planned,) = statistic.plan(
        [f"one cell {kind}"], statistic.calibrate(mu**2 / 2, REPLACE_ONE), REPLACE_ONE
    )
    first, second = np.array([[1.0, -1.0]]), np.array([[1.0, 1.0]] if kind == "full" else [[-1.0, 1.0]])
    cells = GaussianCells.nearest(np.zeros((1, N_FEATURES)))
    exact, neighbour = (
        statistic.to_units(InMemoryEngine().reduce(np.vstack([_OTHERS, record]), statistic, cells))
        for record in (first, second)
    )
    name = f"moments ({kind}), box, one cell, replace-one"
    return Case(name, planned, exact, neighbour, REACHED_IN_ONE_CELL[kind])


def laplace_moments(relation, epsilon):
    """Return counts and sums of one column in two cells with Laplace noise."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.NONE)
    scales = statistic.calibrate(epsilon, relation, noise=LAPLACE)
    (planned,) = statistic.plan(["moments, Laplace"], scales, relation, LAPLACE)
    corner = np.ones((1, N_FEATURES))
    return _case("moments (none), Laplace", planned, statistic, _two_cells(0.5), corner, relation)


def leaves(relation, mu):
    """Return counts and sums of leaves to which a record need not belong."""
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    codes = BinaryCodes.rounded(domain, np.eye(N_FEATURES), reach=1.0, bits=1)
    cells = PrefixCells(codes, np.array([0, 3]), np.array([3, 4]))  # all but the upper right, the upper right
    statistic = CellMoments(domain, 2, second_moments=SecondMoments.NONE, exhaustive=False)
    scales = statistic.calibrate(mu**2 / 2, relation)
    (planned,) = statistic.plan(["leaves"], scales, relation)
    return _case("sums of leaves", planned, statistic, cells, np.array([[1.0, -1.0]]), relation)


def counts(relation, cost, noise=GAUSSIAN, *, statistic=None):
    """Return histograms of columns, or counts of disjoint groups."""
    engine, corner = InMemoryEngine(), np.full((1, N_FEATURES), 0.99)
    domain = Domain.from_bounds((-1.0, 1.0), N_FEATURES)
    if statistic is None:
        groups = GroupCounts(4)
        exact, neighbour = np.array([5, 0, 0, 7]), np.array([5, 1, 0, 7 - (relation is REPLACE_ONE)])
    else:
        histograms = statistic(domain) if statistic is ColumnHistograms else statistic(N_FEATURES)
        groups = histograms.counts
        exact, neighbour = (
            engine.count(X, histograms).ravel() for X in _neighbours(_OTHERS, corner, relation)
        )
    planned = groups.plan("counts", cost, relation, noise)
    name = "counts of groups" if statistic is None else statistic.__name__
    return Case(f"{name}, {noise}, {relation}", planned, groups.to_units(exact), groups.to_units(neighbour))


def choice(relation, mu):
    """Return a choice of two sets of centres, whose order one record turns round."""
    limit = 1000
    cost = _rho_of_choice(mu)
    planned = SwapCosts.plan("swap", limit, cost, relation)
    if relation is ADD_REMOVE:
        return Case("choice, add-remove", planned, np.array([0, limit // 2]), np.array([limit, limit // 2]))
    return Case("choice, replace-one", planned, np.array([0, limit]), np.array([limit, 0]))


def all_moments(n_options=8):
    """Return what makes the cases of moments: all kinds, each with so many of the eight combinations of options."""
    options = list(itertools.product([False, True], repeat=3))
    found = []
    for i, (kind, relation, mu) in enumerate(itertools.product(SecondMoments, RELATIONS, MUS)):
        turned = options[(i + i // 8) % 8 :] + options[: (i + i // 8) % 8]
        for ball, residuals, soft in turned[:: 8 // n_options]:
            found.append(partial(moments, kind, relation, mu, ball=ball, residuals=residuals, soft=soft))
    return found + [
        partial(one_cell, *case) for case in itertools.product(SecondMoments, MUS[: 1 + (n_options > 1)])
    ]


def all_others():
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


def all_choices():
    """Return what makes the choices: these are drawn one at a time."""
    return [partial(choice, relation, mu) for relation, mu in itertools.product(RELATIONS, MUS)]


def _rho_of_choice(mu):
    """Return the cost that buys a choice of this mu."""
    low, high = 0.0, 10.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        bought = accounting.bounded_range_mu(accounting.largest_range(middle)) if middle else 0.0
        low, high = (middle, high) if bought < mu else (low, middle)
    return low


def _two_cells(distance):
    """Return cells split by the sign of the first coordinate; with a large distance the first one has all."""
    means = np.zeros((2, N_FEATURES))
    means[:, 0] = [-0.5, 0.5] if distance < 1 else [0.0, distance]
    covariances = np.tile((0.01 if distance < 1 else 1.0) * np.eye(N_FEATURES), (2, 1, 1))
    return GaussianCells.from_mixture(np.full(2, 0.5), means, covariances, 2.0 if distance < 1 else 0.5)


def _neighbours(others, record, relation):
    if relation is ADD_REMOVE:
        return others, np.vstack([others, record])
    return np.vstack([others, -record]), np.vstack([others, record])


def _case(name, planned, statistic, cells, record, relation):
    engine = InMemoryEngine()
    exact, neighbour = (
        statistic.to_units(engine.reduce(X, statistic, cells)) for X in _neighbours(_OTHERS, record, relation)
    )
    return Case(f"{name}, {relation}", planned, exact, neighbour)
