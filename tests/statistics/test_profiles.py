"""Profiles: a record counts once in each column, in the cell of its clipped form, and moves counts by that."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from audits.attacks.tables import TABLES
from audits.kernels import hostile
from audits.kernels.plain import counts, integrated_out
from contracts.test_table_engines import LAYOUTS, random_products, table_of
from dpmorse import Budget, GaussianMixture, InvalidParameterError
from dpmorse.bases.staged.products import cells_of
from dpmorse.privacy import GAUSSIAN, LAPLACE, Neighboring, Step
from dpmorse.privacy.exact import opened, sealed
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch
from dpmorse.records.persons.row_choice import used_rows
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    BinaryCodes,
    CellMoments,
    Domain,
    GapRule,
    GaussianCells,
    ProfileCounts,
)
from dpmorse.statistics.profiles import OF_SIZES, natural_log
from plain import profile_of, projected_profile, random_mixture, random_profile
from plain_tables import encoded_records
from profile_checks import records_of_table, table_profile

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
BOTH = pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE])
EITHER = pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])


# -- where a record counts ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2, 5, 9])
def test_labels_are_those_of_predict(rng, n_features):
    weights, means, covariances = random_mixture(rng, 8, n_features)
    ball = Domain(-np.ones(n_features), np.ones(n_features), 0.9, FINE_GRID_BITS)
    statistic = profile_of(rng, (weights, means, covariances), ball, replace(ball, radius=None))
    X = rng.normal(size=(20_000, n_features))
    expected = GaussianMixture(weights, means, covariances).labels(ball.clip(X))
    assert np.mean(statistic.labels(X) == expected) > 0.9998


@pytest.mark.parametrize("name", ["all", "numbers"])
def test_labels_of_records_with_missing_values_are_those_of_predict(rng, name):
    """Numbers go together, so that it matters that the missing ones are integrated out, and not at the mean."""
    layout = LAYOUTS[name]
    table, products = table_of(layout), random_products(layout, 6, rng)
    ball = replace(table.domain, grid_bits=FINE_GRID_BITS)
    edges = np.zeros((6, layout.n_numbers, 1), np.int64)
    statistic = ProfileCounts(cells_of(products, table, FINE_GRID_BITS), ball, ball, layout, edges)
    E = encoded_records(layout, 4000, rng)
    log_joint = products.mixture(table).log_joint(table.domain.clip(E))
    behind = log_joint.max(axis=1) - log_joint[np.arange(len(E)), statistic.labels(E)]
    assert behind.max() < 1e-3, "a label is the most probable one, or as good as that"
    at_the_mean = statistic.rule.labels(ball.quantise(E))
    assert np.mean(at_the_mean != log_joint.argmax(axis=1)) > 0.02


@pytest.mark.parametrize("together", [1e-3, 0.1, 1.0])
def test_scores_of_records_with_missing_numbers_are_marginal_densities(rng, together):
    """Beside scipy, up to a number that is the same for all cells."""
    d, k = 4, 3
    layout = Layout((-3.0,) * d, (3.0,) * d, tuple(range(d)))
    ball = hostile.encoded_domain(layout, np.full(d, -3.0), np.full(d, 3.0), FINE_GRID_BITS)
    common = rng.normal(size=(k, d, 1))
    covariances = common @ common.transpose(0, 2, 1) + together**2 * np.eye(d)
    means = rng.normal(size=(k, d))
    rule = rule_of_numbers(layout, ball, means, covariances)
    gaps, unit = GapRule.of(rule, layout), 2.0**-rule.score_bits
    for missing in ([0], [3], [1, 2], [0, 1, 3], [0, 1, 2, 3]):
        there = [j for j in range(d) if j not in missing]
        record = np.zeros((1, layout.width))
        record[0, missing] = 1.0
        record[0, [d + j for j in there]] = rng.normal(size=len(there))
        q = ball.quantise(record)
        u = (rule.offsets + rule.factors @ q[0].astype(np.float64)) * 2.0**-25
        scores = rule.scores(q)[0] * unit**2
        found = [scores[i] + gaps.change(i, np.rint(u[i])[d:] * unit, np.array(missing)) for i in range(k)]
        exact = [
            -multivariate_normal(means[i, there], covariances[i][np.ix_(there, there)]).logpdf(
                record[0, [d + j for j in there]]
            )
            if there
            else 0.0
            for i in range(k)
        ]
        apart = np.subtract(found, exact)
        # The grid moves a record by a part of 2^-20 of the box, and its score by a multiple of that.
        assert np.ptp(apart) < 1e-4 / together**2


def rule_of_numbers(layout, ball, means, covariances):
    """The rule that ``cells_of`` makes, without categories, of parameters in units of the box of 3."""
    factors = np.linalg.cholesky(covariances) / 3
    whiten, shift = hostile.whiten_numbers(layout, ball, means / 3, factors)
    logs, own = np.log(np.diagonal(factors, axis1=1, axis2=2)), np.arange(layout.n_holes)
    whiten[:, own, own] = 1.0
    shift[:, own] = ((logs.max(axis=0) - logs) - 1) / 2
    constants = logs.sum(axis=1) - np.square(shift[:, own]).sum(axis=1)
    return GaussianCells.from_scores(whiten, shift, constants, 1.0, FINE_GRID_BITS)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.floats(-4, 0))
def test_what_is_integrated_out_is_that_of_rational_numbers(seed, d, log_together):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(1, d, 1))
    covariances = common @ common.transpose(0, 2, 1) + 10.0 ** (2 * log_together) * np.eye(d)
    whitening = np.linalg.inv(np.linalg.cholesky(covariances)) * 0.7 ** rng.integers(40)
    logs = np.log(np.diagonal(whitening, axis1=1, axis2=2))
    products = whitening.transpose(0, 2, 1) @ whitening
    gaps = GapRule(np.arange(d), (0, d), whitening, products, logs)
    y, missing = rng.normal(size=d) * 10.0 ** rng.uniform(-2, 3), np.flatnonzero(rng.random(d) < 0.7)
    exact = integrated_out(whitening[0], y, missing)
    largest = float(np.square(y).sum()) + 1
    assert abs(gaps.change(0, y, missing) - exact) < 1e-14 * 10.0 ** (-2 * log_together) * largest * d**2
    assert gaps.change(0, y, missing[:0]) == 0.0


def test_logarithms_are_right_but_for_the_last_digits(rng):
    values = np.exp(rng.uniform(-345, 345, 5000)).tolist() + (1 + rng.uniform(-1e-3, 1e-3, 5000)).tolist()
    assert max(abs(natural_log(x) - math.log(x)) / abs(math.log(x)) for x in values if x != 1) < 6e-16
    assert [natural_log(x) for x in (1.0, 2.0)] == [0.0, math.log(2)]


def test_a_record_without_any_number_has_the_cell_of_its_levels_and_the_weights(rng):
    layout = LAYOUTS["all"]
    table, products = table_of(layout), random_products(layout, 5, rng)
    ball = replace(table.domain, grid_bits=FINE_GRID_BITS)
    E = encoded_records(layout, 300, rng)
    every = replace(layout, holes=(0, 1, 2))
    E = np.hstack([np.ones((300, 3)), E[:, layout.n_holes :]])
    E[:, every.number_part] = every.middle
    table = replace(table, layout=every)
    ball = replace(table.domain, grid_bits=FINE_GRID_BITS)
    edges = np.zeros((5, 3, 1), np.int64)
    statistic = ProfileCounts(cells_of(products, table, FINE_GRID_BITS), ball, ball, every, edges)
    expected = products.gaussians.weights * np.exp(E[:, every.level_part] @ np.log(products.probabilities).T)
    assert np.mean(statistic.labels(E) == expected.argmax(axis=1)) > 0.99


VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(-20, 20), st.sampled_from([np.nan, 9.0, -8.0])
)


@given(st.data(), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_whatever_a_record_holds_it_counts_once_in_each_column(data, n_features, seed):
    """NaN is a record at the upper bounds."""
    rng = np.random.default_rng(seed)
    statistic = random_profile(rng, 3, n_features, wide=10.0 ** rng.uniform(0, 6))
    X = np.array([data.draw(st.lists(VALUES, min_size=n_features, max_size=n_features)) for _ in range(4)])
    for record in X:
        found = statistic.counts(record[None])
        assert found.sum() == 1 + n_features
        assert found.max() == 1
        assert np.count_nonzero(found.sum(axis=1)) == 1, "in one cell"
        assert np.add.reduceat(found.sum(axis=0), statistic.starts[:-1]).tolist() == [1] * n_features
    bounded = np.where(np.isnan(X), statistic.box.upper, X)
    assert np.array_equal(statistic.counts(X), statistic.counts(bounded))


@pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES)
def test_both_plain_forms_agree(rng, columns):
    """One adds up columns, the other one looks at one record after the other."""
    statistic, E = table_profile(rng, columns, 4), records_of_table(rng, columns, 600)
    found = statistic.counts(E)
    assert np.array_equal(found, counts(E, statistic))
    of_columns = np.add.reduceat(found, statistic.starts[:-1], axis=1)[:, : statistic.n_counted_columns]
    has_missing = list(statistic.may_miss)
    assert np.all(of_columns[:, has_missing] == found[:, :1]), "a record counts once in each column"
    assert np.all(of_columns <= found[:, :1]), "or never, where nothing says what it lacks"


def test_missing_values_that_may_not_be_are_in_no_bin(rng):
    columns = TABLES["numbers, categories, missing values"]
    statistic, E = table_profile(rng, columns, 4), records_of_table(rng, columns, 600)
    with_all, without = statistic.counts(E), replace(statistic, may_miss=()).counts(E)
    kept = np.ones(statistic.n_bins, dtype=bool)
    kept[statistic.missing_at[statistic.missing_at >= 0]] = False
    assert np.array_equal(with_all[:, kept], without)
    assert with_all[:, ~kept].any()


# -- how far records move counts ----------------------------------------------------------------------


@st.composite
def profiles(draw):
    """Counts of numbers, of projected ones, or of tables, and something that draws hostile records."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind, k = draw(st.sampled_from(["numbers", "projected", "table"])), draw(st.integers(1, 5))
    if kind == "table":
        layout = hostile.layout(rng)
        statistic = hostile.table_profile(rng, layout, k)
        return statistic, lambda n: hostile.at_edges(rng, hostile.encoded(rng, layout, n), statistic)
    d = draw(st.integers(2, 40) if kind == "projected" else st.integers(1, 6))
    statistic = projected_profile(rng, k, d, 1 + d // 2) if kind == "projected" else random_profile(rng, k, d)
    return statistic, lambda n: hostile.at_edges(rng, hostile.records(rng, n, statistic.box), statistic)


def cost_of(event):
    """The cost in the unit in which it was asked for."""
    return Fraction(event.rho if event.noise == GAUSSIAN else event.pure_epsilon)


def spent(statistic, planned, first, second):
    """What the difference of two tables of counts costs with this noise: rho, or epsilon."""
    vectors = [opened(statistic.to_units(sealed(table))) for table in (first, second)]
    moved = [
        Fraction(int(v), int(s)) for v, s in zip(np.subtract(*vectors), planned.scales, strict=True) if v
    ]
    if planned.event.noise == LAPLACE:
        return sum(map(abs, moved), Fraction())
    return sum((ratio**2 for ratio in moved), Fraction()) / 2


@BOTH
@EITHER
def test_neighbours_never_differ_by_more_than_was_planned_for(relation, noise):
    @settings(max_examples=60)
    @given(profiles(), st.floats(1e-3, 3))
    def check(case, cost):
        statistic, draw = case
        planned = statistic.plan(Step("test"), cost, relation, noise)
        X, others = draw(12), draw(6)
        for i, other in enumerate(others):
            Y = np.delete(X, i, axis=0)
            if relation is REPLACE_ONE:
                Y = np.vstack([Y, other])
            found = spent(statistic, planned, statistic.counts(X), statistic.counts(Y))
            assert found <= cost_of(planned.event) <= Fraction(cost)

    check()


@settings(max_examples=40)
@given(profiles(), st.integers(1, 4), st.integers(1, 9), st.booleans())
def test_a_person_with_several_rows_moves_as_much_as_the_rows_that_are_used(case, most, n_own, same):
    """Lemma 4: m rows move counts m times as far as one does, whatever else a person has."""
    statistic, draw = case
    X, owners = np.nan_to_num(draw(30), nan=0.0), np.arange(30) % 6
    X[:n_own], owners[:n_own] = (X[:1] if same else X[:n_own]), 99
    with_person, without = (
        used_rows(Batch(X[rows], owners_of(owners[rows])), most, "groups")
        for rows in (owners >= 0, owners != 99)
    )
    planned = statistic.plan(Step("test"), 0.05 / most**2, ADD_REMOVE)
    of_person = planned.for_groups(
        Budget(1.0, neighboring=Neighboring.ADD_REMOVE_GROUP, max_rows_per_group=most)
    )
    found = spent(statistic, planned, statistic.counts(with_person), statistic.counts(without))
    assert found <= cost_of(of_person.event) <= Fraction(0.05) * (1 + Fraction(1, 10**12))


def far_apart(layout):
    """Counts of a table in two cells, and two records that have nothing in common but their being there."""
    rng = np.random.default_rng(0)
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    ball = hostile.encoded_domain(layout, lower, upper, FINE_GRID_BITS)
    means = np.zeros((2, layout.n_numbers))
    means[:, 0] = [-0.5, 0.5]
    whiten, shift = hostile.whiten_numbers(
        layout, ball, means, np.tile(0.2 * np.eye(layout.n_numbers), (2, 1, 1))
    )
    rule = GaussianCells.from_scores(whiten, shift, np.zeros(2), 1.0, FINE_GRID_BITS)
    edges = np.sort(rng.integers(-1000, 1000, size=(2, layout.n_numbers, 5)), axis=2)
    counted = tuple(range(layout.n_categories))
    statistic = ProfileCounts(rule, ball, ball, layout, edges, counted)
    records = np.zeros((2, layout.width))
    records[0, layout.number_part], records[1, layout.number_part] = -1e300, 1e300
    for own in layout.levels:
        records[[0, 1], [layout.level_part.start + own.start + i for i in (0, 1)]] = 1.0
    return statistic, records[:1], records[1:]


@BOTH
@EITHER
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    "layout",
    [
        Layout((-1.0,), (1.0,)),
        Layout((-1.0,) * 7, (1.0,) * 7),
        Layout((-1.0,) * 2, (1.0,) * 2, (1,), (3, 2, 2)),
    ],
    ids=["one number", "numbers", "table"],
)
def test_the_worst_neighbours_differ_by_what_was_planned_for(layout, relation, noise, rows):
    """Nothing is paid for that no record needs: neither for the width of the bounds nor for many bins."""
    statistic, one, other = far_apart(layout)
    planned = statistic.plan(Step("test"), 0.01, relation, noise)
    empty = one[:0] if relation is ADD_REMOVE else other
    tables = [statistic.counts(np.repeat(X, rows, axis=0)) for X in (one, empty)]
    wanted = rows ** (2 if noise == GAUSSIAN else 1) * cost_of(planned.event)
    assert float(spent(statistic, planned, *tables)) == pytest.approx(float(wanted), rel=1e-12)


@EITHER
def test_an_event_says_what_will_be_drawn(rng, noise):
    statistic = table_profile(rng, TABLES["numbers, categories, missing values"], 4)
    planned = statistic.plan(Step("profile"), 0.5, ADD_REMOVE, noise)
    scales = planned.scales.reshape(4, statistic.n_bins)
    assert planned.scales.dtype == np.int64
    assert planned.event.n_draws == planned.scales.size
    assert planned.event.smallest_scale == planned.scales.min()
    stddevs, unit = dict(planned.event.noise_stddev), noise.unit_stddev * 2.0**-28
    for name, part in (("count", scales[:, :1]), ("bin", scales[:, 1:])):
        assert np.all(part == part[0, 0])
        assert stddevs.pop(name) == pytest.approx(part[0, 0] * unit)
    assert not stddevs
    c, b = (noise.unit_stddev / planned.event.noise_stddev[name] for name in ("count", "bin"))
    size, bins = c**noise.degree / noise.degree, statistic.n_counted_columns * b**noise.degree / noise.degree
    assert size == pytest.approx(OF_SIZES * 0.5, rel=1e-6)
    assert bins == pytest.approx((1 - OF_SIZES) * 0.5, rel=1e-6)
    assert float(cost_of(planned.event)) == pytest.approx(0.5, rel=1e-6)


def test_a_cost_of_nothing_is_refused(rng):
    with pytest.raises(InvalidParameterError, match="epsilon is too small"):
        random_profile(rng, 2, 2).plan(Step("test"), 0.0, ADD_REMOVE)


def test_units_there_and_back(rng):
    statistic = random_profile(rng, 3, 2)
    table = rng.integers(0, 1000, size=(3, statistic.n_bins))
    assert np.array_equal(statistic.from_units(opened(statistic.to_units(sealed(table)))), table)


def test_what_travels_to_other_machines_is_not_made_anew_there(rng):
    """What integrates missing numbers out is made of released values by a library, once."""
    statistic = table_profile(rng, TABLES["numbers with missing values"], 4)
    products = statistic.gaps.products.copy()
    statistic.gaps.products[0, 0, 0] += 1.0  # as another library might, if much less
    arrived = pickle.loads(pickle.dumps(statistic))
    assert np.array_equal(arrived.gaps.products, statistic.gaps.products)
    assert not np.array_equal(arrived.gaps.products, products)


# -- what does not fit together -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {"ball": random_profile(np.random.default_rng(0), 3, 4).ball}, "same columns"),
        (lambda s: {"box": random_profile(np.random.default_rng(0), 3, 4).box}, "same columns"),
        (lambda s: {"layout": Layout((0.0,), (1.0,))}, "same columns"),
        (lambda s: {"box": replace(s.box, radius=1.0)}, "counted in a box, where they are"),
        (lambda s: {"ball": replace(s.ball, grid_bits=GRID_BITS)}, "the grid of the ball"),
        (lambda s: {"rule": random_profile(np.random.default_rng(0), 3, 3).rule}, "columns and the grid"),
        (lambda s: {"rule": random_profile(np.random.default_rng(0), 5, 2).rule}, "each cell and number"),
        (lambda s: {"edges": s.edges[:2]}, "each cell and number"),
        (lambda s: {"edges": s.edges[0]}, "each cell and number"),
        (lambda s: {"edges": s.edges[:, :, ::-1]}, "ascending"),
        (lambda s: {"edges": s.edges.astype(np.float64)}, "integers on the grid"),
        (lambda s: {"edges": s.edges + (2 << FINE_GRID_BITS)}, "integers on the grid"),
        (lambda s: {"counted": (0,)}, "those of the layout"),
        (lambda s: {"may_miss": (0,)}, "may be missing must be those"),
        (lambda s: {"may_miss": (7,)}, "may be missing must be those"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(rng, change, message):
    statistic = random_profile(rng, 3, 2)
    with pytest.raises(ValueError, match=message):
        replace(statistic, **change(statistic))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counted": (0, 0)}, "counted once"),
        ({"counted": (0, 2)}, "those of the layout"),
        ({"counted": (-1,)}, "those of the layout"),
        ({"may_miss": (1, 1)}, "counted once"),
        ({"may_miss": (0,)}, "may be missing must be those"),
        ({"may_miss": (4,)}, "may be missing must be those"),
        ({"may_miss": (-1,)}, "may be missing must be those"),
    ],
)
def test_no_column_is_counted_twice(change, message):
    statistic, _, _ = far_apart(Layout((-1.0,) * 2, (1.0,) * 2, (1,), (3, 2)))
    with pytest.raises(ValueError, match=message):
        replace(statistic, **change)


def test_missing_numbers_need_a_rule_that_whitens_numbers_and_nothing_else(rng):
    """Compiled code reads the rows of numbers alone, and would read beside those of projected records."""
    statistic, _, _ = far_apart(Layout((-1.0,) * 2, (1.0,) * 2, (1,), (3, 2)))
    factors = statistic.rule.factors
    for place, value in (((0, 4, 3), 1.0), ((0, 1, 1), 0.0), ((1, 2, 2), -1.0)):
        other = factors.copy()
        other[place] = value
        with pytest.raises(ValueError, match="whiten numbers and nothing else"):
            replace(statistic, rule=replace(statistic.rule, factors=other))
    projected = projected_profile(rng, 2, statistic.layout.width, 3)
    with pytest.raises(ValueError, match="one of encoded records"):
        replace(statistic, ball=projected.ball, rule=projected.rule)


def test_records_themselves_are_not_added_up_on_the_fine_grid(rng):
    """There |z_j| <= 1 does not hold in the units of the sums; only residuals have a grid of their own."""
    box = random_profile(rng, 3, 2).box
    assert CellMoments(box, 3, of_residuals=True).largest_squared_norm == 1
    for make in (lambda: CellMoments(box, 3), lambda: BinaryCodes.rounded(box, np.eye(2), 1.0, 3)):
        with pytest.raises(ValueError, match="on the usual grid only"):
            make()
