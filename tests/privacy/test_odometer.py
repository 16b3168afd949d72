"""What may be published of a ledger: a level of a fixed grid that has not been passed (Theorem 9)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmorse import Budget, DPMoGHard, Ledger
from dpmorse.privacy import LAPLACE, Composition, FileLedger, Neighboring, ReleaseEvent, Step, release_event
from dpmorse.privacy.ledger import levels, publishable_epsilon

BUDGET = Budget(2.0, 1e-6)


def event(rho):
    return ReleaseEvent(
        step=Step.parse("a release"),
        neighboring=Neighboring.ADD_REMOVE,
        rho=rho,
        n_draws=10,
        smallest_scale=2**24,
        noise_stddev={},
    )


def laplace(epsilon):
    return release_event(cost=epsilon, noise=LAPLACE, neighboring=Neighboring.ADD_REMOVE, n_draws=1)


def spend(ledger, *events):
    with ledger.reserve(events) as reservation:
        for one in events:
            reservation.record(one)


def test_levels_are_eighths_of_the_budget():
    assert levels(BUDGET) == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]


def test_nothing_released_costs_nothing():
    assert Ledger(BUDGET).odometer() == 0.0


def test_each_level_is_a_filter_with_an_eighth_of_delta():
    """At every level: what just passes is shown there, and a little more is shown one higher."""
    steps = [*levels(BUDGET), BUDGET.epsilon]
    for level, above in itertools.pairwise(steps):
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            fits = Composition.of([event(middle)]).in_one_curve().epsilon(BUDGET.delta / 8) <= level
            low, high = (middle, high) if fits else (low, middle)
        assert publishable_epsilon(Composition.of([event(low)]), BUDGET) == level
        assert publishable_epsilon(Composition.of([event(low * 1.001)]), BUDGET) == above


@given(st.lists(st.floats(1e-6, 0.02), max_size=8), st.floats(0.01, 20), st.sampled_from([1e-3, 1e-6, 1e-12]))
def test_it_grows_stays_within_the_budget_and_covers_what_is_spent(costs, epsilon, delta):
    ledger, before = Ledger(Budget(epsilon, delta)), 0.0
    for cost in costs:
        if Composition.of([*ledger.events, event(cost)]).in_one_curve().epsilon(delta) > epsilon:
            break
        spend(ledger, event(cost))
        shown = ledger.odometer()
        assert before <= shown <= epsilon
        assert shown in {*levels(ledger.budget), epsilon}
        assert shown >= ledger.spent.epsilon(delta), "never less than the account"
        before = shown


def test_never_below_what_one_of_the_fits_states(rng):
    ledger = Ledger(Budget(4.0))
    X = rng.uniform(-1, 1, size=(100, 2))
    for epsilon in (0.3, 1.0, 2.0):
        model = DPMoGHard(2, epsilon=epsilon, bounds=(-1, 1), n_iter=2, ledger=ledger).fit(X)
        assert model.privacy_.epsilon <= ledger.odometer() <= 4.0


def test_what_running_fits_reserved_counts(tmp_path):
    for ledger in (Ledger(BUDGET), FileLedger(tmp_path / "b", BUDGET)):
        with ledger.reserve([event(0.03)]) as reservation:
            running = ledger.odometer()
            reservation.record(event(0.0005))
            assert ledger.odometer() == running
        assert ledger.odometer() < running
        spend(ledger, event(0.0299))
        assert ledger.odometer() >= running


def test_the_sum_of_pure_epsilons_is_an_odometer_of_its_own():
    ledger = Ledger(Budget(1.0, 0))
    assert ledger.odometer() == 0.0
    spend(ledger, laplace(0.25))
    spend(ledger, laplace(0.125))
    assert ledger.odometer() == 0.375
    with ledger.reserve([laplace(0.5)]):
        assert ledger.odometer() == 0.875


def test_releases_with_a_pure_epsilon_may_pass_a_level_by_it():
    total = Composition.of([laplace(0.25)])
    assert total.in_one_curve().epsilon_zcdp(BUDGET.delta / 8) > 0.25
    assert publishable_epsilon(total, BUDGET) == 0.25


def test_where_an_eighth_of_delta_cannot_be_accounted_for_the_budget_is_published():
    ledger = Ledger(Budget(1.0, 1e-100))
    spend(ledger, event(1e-6))
    assert ledger.odometer() == pytest.approx(1.0)
