"""Counts of groups and costs of swaps: how far one record moves them, and what a release of them costs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmorse import InvalidParameterError
from dpmorse.privacy import (
    CHOICE,
    GAUSSIAN,
    LAPLACE,
    LARGEST_SCALE,
    SMALLEST_SCALE,
    Neighboring,
    Step,
    accounting,
)
from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import GroupCounts, SwapCosts
from dpmorse.statistics.moments import UNIT_BITS

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
RELATIONS = [ADD_REMOVE, REPLACE_ONE]
NOISES = [GAUSSIAN, LAPLACE]
BOTH = pytest.mark.parametrize("relation", RELATIONS)
EITHER = pytest.mark.parametrize("noise", NOISES)

# Counts of groups


def cost_of(event):
    """The cost in the unit in which it was asked for."""
    return event.rho if event.noise == GAUSSIAN else event.pure_epsilon


def moved(statistic, planned, first, second):
    """What a change of counts costs with this noise: rho, or epsilon."""
    difference = opened(statistic.to_units(sealed(first))) - opened(statistic.to_units(sealed(second)))
    ratios = [Fraction(int(v), int(s)) for v, s in zip(difference, planned.scales, strict=True)]
    if planned.event.noise == LAPLACE:
        return sum(abs(ratio) for ratio in ratios)
    return sum(ratio**2 for ratio in ratios) / 2


@st.composite
def neighbours(draw, relation):
    """Groups that each record is in, for two random neighbouring datasets."""
    n_values = draw(st.integers(1, 6))
    most = draw(st.integers(1, n_values))
    record = st.lists(st.integers(0, n_values - 1), max_size=most, unique=True)
    X = draw(st.lists(record, min_size=1, max_size=8))
    Y = X[1:] if relation is ADD_REMOVE else [draw(record), *X[1:]]
    return GroupCounts(n_values, most), X, Y


def counts_of(records, n_values):
    groups = [group for record in records for group in record]
    return np.bincount(np.array(groups, dtype=np.int64), minlength=n_values)


@BOTH
@EITHER
def test_neighbours_never_differ_by_more_than_was_planned_for(relation, noise):
    @settings(max_examples=150)
    @given(neighbours(relation), st.floats(1e-4, 10))
    def check(case, cost):
        statistic, X, Y = case
        planned = statistic.plan(Step("test"), cost, relation, noise)
        found = moved(statistic, planned, *(counts_of(rows, statistic.n_values) for rows in (X, Y)))
        assert found <= Fraction(cost_of(planned.event)) <= Fraction(cost)

    check()


@BOTH
@EITHER
@pytest.mark.parametrize("n_groups", [1, 3])
def test_the_worst_neighbours_differ_by_what_was_planned_for(relation, noise, n_groups):
    """A record in as many groups as may be, replaced by one in as many others."""
    statistic = GroupCounts(7, n_groups)
    planned = statistic.plan(Step("test"), 0.01, relation, noise)
    without, counts = np.zeros((2, 7), dtype=np.int64)
    counts[:n_groups] = 1
    if relation is REPLACE_ONE:
        without[n_groups : 2 * n_groups] = 1
    assert float(moved(statistic, planned, counts, without)) == pytest.approx(
        cost_of(planned.event), rel=1e-14
    )
    assert statistic.moved(relation) == np.abs(counts - without).sum() == np.square(counts - without).sum()


@BOTH
@EITHER
@pytest.mark.parametrize("n_groups", [1, 2, 7, 64])
def test_a_plan_spends_what_it_may_and_no_more(relation, noise, n_groups):
    statistic = GroupCounts(100, n_groups)
    for cost in np.geomspace(1e-6, 100, 60):
        planned = statistic.plan(Step("test"), cost, relation, noise)
        spent, scale = cost_of(planned.event), planned.event.smallest_scale
        assert spent <= cost
        assert spent >= cost * (1 - 1e-6) or scale == SMALLEST_SCALE
        assert planned.scales.tolist() == [scale] * 100
        assert SMALLEST_SCALE <= scale <= LARGEST_SCALE


@EITHER
def test_an_event_says_what_will_be_drawn(noise):
    planned = GroupCounts(12, 3).plan(Step.parse("level 2"), 0.5, REPLACE_ONE, noise)
    event = planned.event
    assert (event.name, event.noise, event.neighboring, event.n_draws) == ("level 2", noise, REPLACE_ONE, 12)
    assert planned.scales.dtype == np.int64
    assert planned.scales.shape == (12,)
    one = event.smallest_scale / 2.0**UNIT_BITS  # the scale in records
    if noise == GAUSSIAN:
        assert event.pure_epsilon == math.inf
        assert event.rho == pytest.approx(6 / (2 * one**2), rel=1e-12)
        assert event.noise_stddev == {"count": pytest.approx(one)}
    else:
        assert event.pure_epsilon == pytest.approx(6 / one, rel=1e-12)
        assert event.rho == pytest.approx(event.pure_epsilon**2 / 2, rel=1e-12)
        assert event.noise_stddev == {"count": pytest.approx(math.sqrt(2) * one)}


def test_a_large_cost_buys_no_finer_noise_than_the_smallest_scale():
    """Which keeps the discreteness term of Gaussian noise negligible; what is not needed is not charged."""
    for noise, own in (
        (GAUSSIAN, 2.0**55 / SMALLEST_SCALE**2),
        (LAPLACE, 2.0**28 / SMALLEST_SCALE),
    ):
        planned = GroupCounts(3).plan(Step("test"), 1e6, ADD_REMOVE, noise)
        assert planned.event.smallest_scale == SMALLEST_SCALE
        assert cost_of(planned.event) == own


@pytest.mark.parametrize(("noise", "smallest"), [(LAPLACE, 2.0**-28), (GAUSSIAN, 2.0**-57)])
def test_costs_too_small_for_64_bits_are_refused(noise, smallest):
    """The least cost is that of one record, 2^28 units, with noise of the largest scale."""
    statistic = GroupCounts(3)
    enough = statistic.plan(Step("test"), smallest * (1 + 1e-12), ADD_REMOVE, noise)
    assert enough.event.smallest_scale == pytest.approx(LARGEST_SCALE, rel=1e-9)
    for cost in (smallest * (1 - 1e-12), smallest / 2, 1e-30, 5e-324):
        with pytest.raises(InvalidParameterError, match="epsilon is too small"):
            statistic.plan(Step("test"), cost, ADD_REMOVE, noise)
    with pytest.raises(InvalidParameterError, match="epsilon is too small"):
        statistic.plan(Step("test"), smallest * (1 + 1e-12), REPLACE_ONE, noise)


def test_counts_come_back_from_the_unit_of_the_noise(rng):
    statistic = GroupCounts(12)
    exact = rng.integers(0, 2**33, size=(3, 4))
    exact[0] = [0, 1, 2**33, 2**34 - 1]
    units = opened(statistic.to_units(sealed(exact)))
    assert units.dtype == np.int64
    assert units.tolist() == [int(count) * 2**28 for count in exact.ravel()]
    assert statistic.from_units(units).tolist() == exact.ravel().tolist()
    assert statistic.from_units(units + 2**27)[0] == 0.5
    assert statistic.from_units(units - 2**30)[0] == -4, "noise may bring a count below zero"
    narrow = np.array([3, 2**31 - 1], dtype=np.int32)
    assert opened(statistic.to_units(sealed(narrow))).tolist() == [3 * 2**28, (2**31 - 1) * 2**28], (
        "widened before it is scaled"
    )


# Costs of swaps


def plain_cost(points, counts, limit, centres):
    """Sum over all records of the squared distance to the nearest centre, cut off at the limit."""
    total = 0
    for point, count in zip(points.tolist(), counts.tolist(), strict=True):
        distances = [sum((a - b) ** 2 for a, b in zip(point, centre, strict=True)) for centre in centres]
        total += count * min(*distances, limit)
    return total


def plain_swaps(points, counts, limit, candidates, chosen):
    """The cost after each exchange, every one of them from the beginning."""
    after = [[0] * len(candidates) for _ in chosen]
    for i, j in itertools.product(range(len(chosen)), range(len(candidates))):
        swapped = [*chosen[:i], j, *chosen[i + 1 :]]
        after[i][j] = plain_cost(points, counts, limit, candidates[swapped].tolist())
    return after


@st.composite
def searches(draw):
    """Points, counts, a limit, candidates and a choice of them; equal ones are common."""
    n_axes, reach = draw(st.integers(1, 3)), draw(st.sampled_from([2, 30, 1000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_points, n_candidates = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    limit = draw(st.sampled_from([1, reach, reach**2, 100 * reach**2]))
    return (
        rng.integers(-reach, reach + 1, size=(n_points, n_axes)),
        rng.integers(1, 5, size=n_points),
        limit,
        rng.integers(-reach, reach + 1, size=(n_candidates, n_axes)),
        rng.integers(0, n_candidates, size=draw(st.integers(1, 4))),
    )


def costs_after(places, limit, candidates, chosen):
    """Return the costs of all swaps, a row for each centre that is given away."""
    costs = SwapCosts(sealed(tuple(places)), limit).after_swaps(candidates, chosen)
    return opened(costs).reshape(len(chosen), len(candidates))


@settings(max_examples=200)
@given(searches())
def test_costs_after_swaps_equal_those_from_the_beginning(case):
    points, counts, limit, candidates, chosen = case
    found = costs_after((points, counts), limit, candidates, chosen)
    assert found.dtype == np.int64
    assert found.tolist() == plain_swaps(points, counts, limit, candidates, chosen.tolist())


def test_costs_after_swaps_of_one_centre_are_those_of_the_candidates_alone(rng):
    """With k = 1 nothing of the old centre may be left in the cost."""
    points, candidates = rng.integers(-50, 51, size=(40, 2)), rng.integers(-50, 51, size=(9, 2))
    counts = rng.integers(1, 100, size=40)
    found = costs_after((points, counts), 3_000, candidates, np.array([4]))
    assert found.tolist() == [[plain_cost(points, counts, 3_000, [c]) for c in candidates.tolist()]]


def test_a_centre_exchanged_for_itself_costs_what_it_did(rng):
    points, candidates = rng.integers(-50, 51, size=(30, 2)), rng.integers(-50, 51, size=(8, 2))
    counts, chosen = np.ones(30, dtype=np.int64), np.array([2, 5, 7])
    found = costs_after((points, counts), 10**6, candidates, chosen)
    now = plain_cost(points, counts, 10**6, candidates[chosen].tolist())
    assert [found[i, j] for i, j in enumerate(chosen)] == [now] * 3


def test_chosen_sets_with_duplicates_lose_nothing_by_giving_one_away(rng):
    """Giving away one of two equal centres cannot raise the cost."""
    points, candidates = rng.integers(-50, 51, size=(30, 2)), rng.integers(-50, 51, size=(8, 2))
    counts, chosen = rng.integers(1, 9, size=30), [3, 3, 1, 3]
    found = costs_after((points, counts), 2_000, candidates, np.array(chosen))
    assert found.tolist() == plain_swaps(points, counts, 2_000, candidates, chosen)
    assert np.all(found[[0, 1, 3]] <= plain_cost(points, counts, 2_000, candidates[chosen].tolist()))


def test_large_costs_are_exact():
    """Ten million records a thousand steps away: every sum is an integer that a float64 holds exactly."""
    points, counts = np.array([[0, 0], [2047, -2047], [1, 5]]), np.array([10_000_019, 9_999_991, 3])
    candidates, chosen = np.array([[1024, 1023], [-2048, 2047], [0, 1], [777, -999]]), [0, 1]
    found = costs_after((points, counts), 2**23, candidates, np.array(chosen))
    assert found.tolist() == plain_swaps(points, counts, 2**23, candidates, chosen)
    assert found.max() > 2**43


def test_the_order_of_points_and_how_they_are_counted_does_not_matter(rng):
    points, candidates = rng.integers(-50, 51, size=(60, 3)), rng.integers(-50, 51, size=(10, 3))
    counts, chosen, order = rng.integers(1, 4, size=60), np.array([0, 4, 9]), rng.permutation(60)
    expected = costs_after((points, counts), 5_000, candidates, chosen)
    shuffled = costs_after((points[order], counts[order]), 5_000, candidates, chosen)
    one_by_one = np.repeat(points, counts, axis=0), np.ones(counts.sum(), dtype=np.int64)
    assert np.array_equal(shuffled, expected)
    assert np.array_equal(costs_after(one_by_one, 5_000, candidates, chosen), expected)


def test_no_records_cost_nothing():
    empty, candidates = (
        (np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)),
        np.zeros((3, 2), dtype=np.int64),
    )
    assert costs_after(empty, 10, candidates, np.array([0, 1])).tolist() == [[0] * 3] * 2


def with_record(points, counts, record):
    return np.vstack([points, record]), np.append(counts, 1)


@settings(max_examples=150)
@given(searches(), st.integers(0, 2**32 - 1))
def test_one_record_more_raises_every_cost_by_at_most_the_limit(case, seed):
    """Also one far outside, and by no less than nothing: this is the range that Theorem 7 needs."""
    points, counts, limit, candidates, chosen = case
    record = np.random.default_rng(seed).integers(-3000, 3001, size=points.shape[1])
    before = costs_after((points, counts), limit, candidates, chosen)
    after = costs_after(with_record(points, counts, record), limit, candidates, chosen)
    assert np.all((after - before >= 0) & (after - before <= limit))
    again = costs_after(with_record(points, counts, points[0]), limit, candidates, chosen)
    counts[0] += 1
    assert np.array_equal(again, costs_after((points, counts), limit, candidates, chosen))


def log_probabilities(costs, rate):
    exponents = -float(rate) * (costs - costs.min())
    return exponents.ravel() - np.logaddexp.reduce(exponents.ravel())


@BOTH
@pytest.mark.parametrize("pure", [False, True])
def test_choices_on_neighbours_are_as_hard_to_tell_apart_as_was_planned_for(relation, pure):
    """The log-likelihood ratios of all options span at most the range that the event states."""

    @settings(max_examples=150)
    @given(searches(), st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.1, 1.0]))
    def check(case, seed, cost):
        points, counts, limit, candidates, chosen = case
        records = np.random.default_rng(seed).integers(-3000, 3001, size=(2, points.shape[1]))
        X = with_record(points, counts, records[0])
        Y = (points, counts) if relation is ADD_REMOVE else with_record(points, counts, records[1])
        planned = SwapCosts.plan(Step("swap"), limit, cost, relation, LAPLACE if pure else GAUSSIAN)
        first, second = (costs_after(rows, limit, candidates, chosen) for rows in (X, Y))
        change = [int(x) - int(y) for x, y in zip(first.ravel(), second.ravel(), strict=True)]
        assert planned.rate * (max(change) - min(change)) <= Fraction(planned.event.pure_epsilon)
        loss = log_probabilities(first, planned.rate) - log_probabilities(second, planned.rate)
        assert loss.max() - loss.min() <= planned.event.pure_epsilon * (1 + 1e-6) + 1e-9
        assert np.abs(loss).max() <= planned.event.pure_epsilon * (1 + 1e-6) + 1e-9

    check()


@BOTH
def test_the_worst_neighbours_reach_the_range_that_was_planned_for(relation):
    """One record at one option and far from another, replaced by one the other way round."""
    limit, candidates, chosen = 100, np.array([[-50], [50]]), np.array([0])
    planned = SwapCosts.plan(Step("swap"), limit, 0.05, relation)
    X = np.array([[0], [-50]]), np.array([3, 1])
    Y = (X[0][:1], X[1][:1]) if relation is ADD_REMOVE else (np.array([[0], [50]]), X[1])
    first, second = (costs_after(rows, limit, candidates, chosen).ravel() for rows in (X, Y))
    change = (first - second).tolist()
    assert planned.rate * (max(change) - min(change)) == Fraction(planned.event.pure_epsilon)


@BOTH
@pytest.mark.parametrize("limit", [1, 77, 2**40])
@pytest.mark.parametrize("cost", [1e-6, 0.01, 0.5, 3.0])
def test_the_pure_epsilon_of_a_choice_is_the_rate_times_what_a_record_moves(relation, limit, cost):
    factor = 1 if relation is ADD_REMOVE else 2
    for pure in (False, True):
        planned = SwapCosts.plan(Step.parse("swap 1"), limit, cost, relation, LAPLACE if pure else GAUSSIAN)
        event = planned.event
        assert isinstance(planned.rate, Fraction)
        assert planned.rate * limit * factor == Fraction(event.pure_epsilon)
        assert (event.name, event.noise, event.neighboring, event.n_draws) == (
            "swap 1",
            CHOICE,
            relation,
            1,
        )


@BOTH
@pytest.mark.parametrize("cost", np.geomspace(1e-8, 5, 15))
def test_a_choice_spends_what_it_may_and_no_more(relation, cost):
    """Pure: exactly epsilon. Otherwise rho at most in both curves, and nearly in one."""
    assert SwapCosts.plan(Step.parse("swap"), 50, cost, relation, LAPLACE).event.pure_epsilon == cost
    event = SwapCosts.plan(Step.parse("swap"), 50, cost, relation).event
    assert event.rho <= cost
    assert event.gaussian_rho <= cost
    assert max(event.rho, event.gaussian_rho) >= cost * (1 - 1e-6)
    assert event.pure_epsilon == accounting.largest_range(cost)
