"""Profile cells: a record is measured where it is, in the cell of its clipped form, and moves sums by little."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmorse import GaussianMixture, MomentShares
from dpmorse.privacy import LAPLACE, Neighboring, Step
from dpmorse.privacy.exact import opened, sealed
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch
from dpmorse.records.persons.row_choice import used_rows
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    ROUNDING_BITS,
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    ProfileCells,
    RadiusHistograms,
    SecondMoments,
)
from plain import profile_moments, profile_statistics, radius_counts, random_mixture, random_profile, units

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
RELATIONS = [ADD_REMOVE, REPLACE_ONE]
STEP = 2.0**-GRID_BITS
ONE = 4**GRID_BITS


def round_cells(means, sd, radii=3.0, half_width=100.0):
    """Round cells of one size, given in the caller's units; the ball has radius 2 around the origin."""
    k, d = means.shape
    weights, covariances = np.full(k, 1 / k), np.tile(sd**2 * np.eye(d), (k, 1, 1))
    ball = Domain(np.full(d, -2.0), np.full(d, 2.0), 1.0, FINE_GRID_BITS)
    box = Domain(np.full(d, -half_width), np.full(d, half_width), None, FINE_GRID_BITS)
    clipped = ball.clip(means)
    return ProfileCells(
        GaussianCells.from_mixture(weights, clipped / 2, covariances / 4, grid_bits=FINE_GRID_BITS),
        ball,
        GaussianCells.from_mixture(
            weights, means / half_width, covariances / half_width**2, radii, FINE_GRID_BITS
        ),
        box,
    )


# -- what a record becomes ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2, 5, 9])
def test_residuals_are_whitened_coordinates_of_the_whole_record(rng, n_features):
    """L_k^-1 (x - m_k) up to one step of its grid, also for records that the ball moves."""
    weights, means, covariances = random_mixture(rng, 3, n_features)
    radius, box = 60.0, Domain(np.full(n_features, -9.0), np.full(n_features, 8.0), None, FINE_GRID_BITS)
    units_of_box = (means - box.centre) / box.unit, covariances / np.outer(box.unit, box.unit)
    cells = replace(
        random_profile(rng, 3, n_features),
        units=GaussianCells.from_mixture(weights, *units_of_box, radius, FINE_GRID_BITS),
        box=box,
    )
    X = rng.normal(size=(500, n_features)) * 2
    labels = cells.labels(X)
    factors = np.linalg.cholesky(covariances)[labels]
    expected = np.linalg.solve(factors, (X - means[labels])[:, :, None])[:, :, 0]
    inside = (np.linalg.norm(expected, axis=1) < 0.99 * radius) & (np.abs(X).max(axis=1) < 8)
    assert inside.sum() > 250
    assert np.any(np.linalg.norm(X[inside], axis=1) > 1.1), "outside of the ball"
    found = cells.residuals(X) * (radius * STEP)
    assert np.abs(found - expected)[inside].max() <= radius * STEP


@pytest.mark.parametrize("n_features", [1, 3, 8])
def test_squared_lengths_are_exact(rng, n_features):
    """The definition, in unbounded integers: shows that float64 loses nothing on the fine grid."""
    cells = random_profile(rng, 4, n_features)
    X = np.vstack([rng.normal(size=(20, n_features)) * 3, cells.box.upper, cells.box.lower])
    labels, q, rule = cells.labels(X), cells.box.quantise(X), cells.units
    for label, record, found in zip(labels, q, cells.squared_lengths(X), strict=True):
        u = [
            int(rule.offsets[label, i]) + sum(int(f) * int(x) for f, x in zip(row, record, strict=True))
            for i, row in enumerate(rule.factors[label])
        ]
        assert max(map(abs, u)) < 2**53
        assert int(found) == sum(round(Fraction(value, 1 << ROUNDING_BITS)) ** 2 for value in u) < 2**53


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_bins_begin_at_lengths_in_standard_deviations(n_features):
    statistic = RadiusHistograms(round_cells(np.zeros((1, n_features)), 0.01))
    edges = (math.sqrt(n_features) + 1) * 2.0 ** (np.arange(20) / 2)
    assert statistic.edges == pytest.approx([0.0, *edges], rel=1e-15)
    inside = edges[edges * 0.01 < 99]
    for factor, expected in ((0.99, np.arange(len(inside))), (1.01, np.arange(len(inside)) + 1)):
        X = np.zeros((len(inside), n_features))
        X[:, -1] = -0.01 * factor * inside
        assert statistic.bins(X).tolist() == expected.tolist()
    assert len(inside) == 20


def test_the_last_bin_has_no_end():
    statistic = RadiusHistograms(round_cells(np.zeros((1, 2)), 0.001), 5)
    assert statistic.edges[-1] == pytest.approx(2 * math.sqrt(2) * (math.sqrt(2) + 1))
    assert statistic.bins(np.array([[1.0, 0.0], [1e300, -np.inf], [0.0, 0.0]])).tolist() == [4, 4, 0]
    assert radius_counts(np.ones((7, 2)), statistic).tolist() == [[0, 0, 0, 0, 7]]


def test_a_cluster_outside_of_the_ball_is_described_as_it_is(rng):
    """Its records are labelled where the ball moves them to, and measured where they are."""
    far, sd, start = np.array([40.0, -30.0]), 0.5, np.array([39.0, -29.5])
    cells = round_cells(np.array([[0.0, 0.0], start]), sd, radii=10.0)
    X = np.vstack([rng.normal(size=(500, 2)) * 0.2, far + rng.normal(size=(2000, 2)) * sd])
    exact = profile_moments(X, cells)
    assert exact.counts.tolist() == [500, 2000]
    unit = 10.0 * sd * STEP
    mean = start + unit * exact.sums[1] / 2000
    variance = unit**2 * np.diag(exact.second_moments[1]) / 2000 - (mean - start) ** 2
    assert mean == pytest.approx(X[500:].mean(axis=0), abs=2e-3)
    assert np.sqrt(variance) == pytest.approx(X[500:].std(axis=0), rel=1e-2)


@pytest.mark.parametrize("n_features", [1, 2, 5, 9])
def test_labels_are_those_of_predict(rng, n_features):
    weights, means, covariances = random_mixture(rng, 8, n_features)
    ball = Domain(-np.ones(n_features), np.ones(n_features), 0.9, FINE_GRID_BITS)
    rule = GaussianCells.from_mixture(weights, means, covariances, grid_bits=FINE_GRID_BITS)
    cells = ProfileCells(rule, ball, rule, replace(ball, radius=None))
    X = rng.normal(size=(20_000, n_features))
    expected = GaussianMixture(weights, means, covariances).labels(ball.clip(X))
    assert np.mean(cells.labels(X) == expected) > 0.9998


VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(-20, 20), st.sampled_from([np.nan, 9.0, -8.0])
)


@given(st.data(), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_whatever_a_record_holds_it_stays_in_the_ball(data, n_features, seed):
    """|z| <= 1, one cell, at most one bin; NaN is a record at the upper bounds."""
    rng = np.random.default_rng(seed)
    cells = random_profile(
        rng, 3, n_features, 10.0 ** rng.uniform(-3, 3, size=3), wide=10.0 ** rng.uniform(0, 6)
    )
    X = np.array([data.draw(st.lists(VALUES, min_size=n_features, max_size=n_features)) for _ in range(4)])
    residuals, statistic = cells.residuals(X), RadiusHistograms(cells)
    assert np.square(residuals).sum(axis=1).max() <= ONE
    assert set(cells.labels(X)) <= {0, 1, 2}
    assert np.all((statistic.bins(X) >= -1) & (statistic.bins(X) < statistic.n_bins))
    bounded = np.where(np.isnan(X), cells.box.upper, X)
    assert np.array_equal(cells.box.quantise(X), cells.box.quantise(bounded))
    assert np.array_equal(residuals, cells.residuals(bounded))
    assert np.array_equal(statistic.bins(X), statistic.bins(bounded))


# -- how far records move sums and counts -------------------------------------------------------------


@st.composite
def neighbours(draw, relation):
    """Two random neighbouring datasets, profile cells, a statistic and shares of its noise."""
    n_features, n_cells = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells = random_profile(rng, n_cells, n_features, 10.0 ** rng.uniform(-1, 2, size=n_cells))
    statistic = CellMoments(
        cells.box, n_cells, second_moments=draw(st.sampled_from(SecondMoments)), of_residuals=True
    )
    X = rng.normal(size=(draw(st.integers(1, 12)), n_features)) * draw(st.sampled_from([0.5, 4.0, 1e6]))
    X[0], other = rng.choice([-1.0, 1.0], size=(2, n_features)) * draw(st.sampled_from([0.3, 8.0, 1e300]))
    Y = X[1:].copy() if relation is ADD_REMOVE else np.vstack([other, X[1:]])
    block = np.array([draw(st.floats(0.1, 10)) for _ in range(3)])
    names = ("count", "sum", "second_moment")
    shares = MomentShares(**dict(zip(names, block / block.sum(), strict=True)))
    return statistic, cells, draw(st.sampled_from([None, shares])), X, Y


def moved(statistic, cells, scales, X, Y):
    """Squared distance between the statistics of two datasets, in units of the noise."""
    (planned,) = statistic.plan([Step("test")], scales, ADD_REMOVE)
    difference = units(X, statistic, cells) - units(Y, statistic, cells)
    return float(np.square(difference / planned.scales).sum())


@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_never_differ_by_more_than_declared(relation):
    @settings(max_examples=150)
    @given(neighbours(relation))
    def check(case):
        statistic, cells, shares, X, Y = case
        scales = statistic.calibrate(0.05, relation, shares)
        declared = 2 * statistic.cost(scales, relation)
        assert declared <= 0.1
        assert moved(statistic, cells, scales, X, Y) <= declared * (1 + 1e-12)

    check()


@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_never_differ_by_more_than_the_epsilon_of_laplace_noise(relation):
    @settings(max_examples=100)
    @given(neighbours(relation))
    def check(case):
        statistic, cells, shares, X, Y = case
        scales = statistic.calibrate(0.3, relation, shares, LAPLACE)
        (planned,) = statistic.plan([Step("test")], scales, relation, LAPLACE)
        difference = units(X, statistic, cells) - units(Y, statistic, cells)
        assert np.abs(difference / planned.scales).sum() <= planned.event.pure_epsilon * (1 + 1e-12)

    check()


@pytest.mark.parametrize("relation", RELATIONS)
def test_counts_of_neighbours_never_differ_by_more_than_declared(relation):
    @settings(max_examples=100)
    @given(neighbours(relation))
    def check(case):
        _, cells, _, X, Y = case
        statistic = RadiusHistograms(cells)
        difference = radius_counts(X, statistic) - radius_counts(Y, statistic)
        assert np.abs(difference).sum() <= statistic.counts.moved(relation)
        assert np.square(difference).sum() <= statistic.counts.moved(relation)
        assert statistic.counts.n_values == difference.size

    check()


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 9), st.sampled_from(SecondMoments))
def test_a_person_with_several_rows_moves_as_much_as_the_rows_that_are_used(seed, most, n_own, kind):
    """Lemma 4: m rows move a sum m times as far as one does, whatever else a person has."""
    rng = np.random.default_rng(seed)
    cells = random_profile(rng, 3, 2, radii=10.0 ** rng.uniform(-1, 1, size=3))
    X, owners = rng.normal(size=(30, 2)) * 4, rng.integers(0, 6, size=30)
    X[:n_own], owners[:n_own] = 9.0, 99
    with_person, without = (
        used_rows(Batch(X[rows], owners_of(owners[rows])), most, "groups")
        for rows in (owners >= 0, owners != 99)
    )
    statistic, radii = replace(profile_statistics(cells)[0], second_moments=kind), RadiusHistograms(cells)
    scales = statistic.calibrate(0.05, ADD_REMOVE)
    declared = most**2 * 2 * statistic.cost(scales, ADD_REMOVE)
    assert moved(statistic, cells, scales, with_person, without) <= declared * (1 + 1e-12)
    difference = radius_counts(with_person, radii) - radius_counts(without, radii)
    assert np.abs(difference).sum() <= most * radii.counts.moved(ADD_REMOVE)
    assert np.square(difference).sum() <= most**2 * radii.counts.moved(ADD_REMOVE)


@pytest.mark.parametrize("kind", SecondMoments)
@pytest.mark.parametrize("n_features", [1, 3])
def test_far_records_reach_what_is_declared(kind, n_features):
    """At least 95 % of the declared (unsquared) sensitivity: nothing is paid for the width of the box."""
    means = np.zeros((2, n_features))
    means[:, 0] = [-1.0, 1.0]
    cells = round_cells(means, 0.1, radii=2.0)
    statistic = CellMoments(cells.box, 2, second_moments=kind, of_residuals=True)
    far = np.zeros((1, n_features))
    far[0, 0] = 90.0
    for relation, other in ((ADD_REMOVE, far[:0]), (REPLACE_ONE, -far)):
        scales = statistic.calibrate(0.05, relation)
        declared = float(2 * statistic.cost(scales, relation))
        # without second moments the worst replacement stays in one cell, which these two do not
        least = 0.85 if kind is SecondMoments.NONE else 0.95
        assert least <= math.sqrt(moved(statistic, cells, scales, far, other) / declared) <= 1 + 1e-12


@pytest.mark.parametrize("relation", RELATIONS)
def test_counts_reach_what_is_declared(relation):
    statistic = RadiusHistograms(round_cells(np.array([[-1.0, 0.0], [1.0, 0.0]]), 0.1))
    X = np.array([[50.0, 0.0], [1.0, 0.0]])
    Y = X[1:] if relation is ADD_REMOVE else np.array([[-50.0, 0.0], [1.0, 0.0]])
    planned = statistic.counts.plan(Step("test"), 0.01, relation)
    in_units = [opened(statistic.counts.to_units(sealed(radius_counts(rows, statistic)))) for rows in (X, Y)]
    difference = np.square((in_units[0] - in_units[1]) / planned.scales).sum()
    assert difference == pytest.approx(2 * planned.event.rho, rel=1e-9)


# -- what does not fit together -----------------------------------------------------------------------


def test_parts_that_do_not_fit_together_are_refused(rng):
    cells, wider, more = random_profile(rng, 3, 2), random_profile(rng, 3, 4), random_profile(rng, 5, 2)
    for other in (wider, more):
        for part in ("partition", "units"):
            with pytest.raises(ValueError, match=r"the same cells|the columns and the grid of its domain"):
                replace(cells, **{part: getattr(other, part)})
    for part in ("ball", "box"):
        with pytest.raises(ValueError, match="ball and box must have the same columns"):
            replace(cells, **{part: getattr(wider, part)})
        with pytest.raises(ValueError, match="the grid of its domain"):
            replace(cells, **{part: replace(getattr(cells, part), grid_bits=GRID_BITS)})


def test_records_themselves_are_not_added_up_on_the_fine_grid(rng):
    """There |z_j| <= 1 does not hold in the units of the sums; only residuals have a grid of their own."""
    box = random_profile(rng, 3, 2).box
    assert CellMoments(box, 3, of_residuals=True).largest_squared_norm == 1
    for make in (
        lambda: CellMoments(box, 3),
        lambda: ColumnHistograms(box),
        lambda: BinaryCodes.rounded(box, np.eye(2), 1.0, 3),
    ):
        with pytest.raises(ValueError, match="on the usual grid only"):
            make()
