"""Budgets are checked when made; ledgers derive what was spent and refuse what would go over."""

import copy
import math
import os
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from dpmorse import (
    Budget,
    BudgetExceededError,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
)
from dpmorse.privacy import Composition, Neighboring, ReleaseEvent, Step, accounting
from dpmorse.privacy.events import round_up


def event(rho=0.001, n_draws=100, smallest_scale=2**28, neighboring=Neighboring.ADD_REMOVE):
    return ReleaseEvent(
        step=Step.parse("test"),
        neighboring=neighboring,
        rho=rho,
        n_draws=n_draws,
        smallest_scale=smallest_scale,
        noise_stddev={"count": 1.0},
    )


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, -math.inf, 10**400])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(InvalidParameterError, match="epsilon must be a finite number > 0"):
        Budget(epsilon)


@pytest.mark.parametrize("epsilon", [True, "1", None, 1j, [1.0]])
def test_epsilon_of_the_wrong_type(epsilon):
    with pytest.raises(InvalidTypeError, match="epsilon must be a number > 0"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [1, -0.1, 1.5, math.nan, math.inf])
def test_delta_out_of_range(delta):
    with pytest.raises(InvalidParameterError, match="delta must lie strictly between 0 and 1"):
        Budget(1.0, delta)


@pytest.mark.parametrize("delta", [False, "1e-6", None])
def test_delta_of_the_wrong_type(delta):
    with pytest.raises(InvalidTypeError, match="delta must be a number"):
        Budget(1.0, delta)


def test_budgets_too_small_to_account_for():
    with pytest.raises(InvalidParameterError, match=r"epsilon must be at least 0\.0001"):
        Budget(1e-5)
    with pytest.raises(InvalidParameterError, match="delta must be at least 1e-100"):
        Budget(1.0, 1e-200)


def test_relation_must_be_known():
    with pytest.raises(
        InvalidParameterError, match=r"neighboring must be one of 'add-remove', .* got 'both'"
    ):
        Budget(1.0, neighboring="both")


def spend(ledger, *events):
    with ledger.reserve(events) as reservation:
        for each in events:
            reservation.record(each)


def test_spend_is_derived_from_events():
    ledger = Ledger(Budget(1.0, 1e-6))
    for _ in range(4):
        spend(ledger, event(rho=0.005))
    spent = ledger.spent
    assert spent.rho == pytest.approx(0.02)
    assert spent.epsilon(1e-6) == pytest.approx(accounting.gaussian_epsilon(math.sqrt(0.04), 1e-6), rel=1e-6)
    assert spent.epsilon_zcdp(1e-6) == accounting.zcdp_epsilon(spent.rho, 1e-6)


def test_overspending_is_refused_and_nothing_is_written():
    ledger = Ledger(Budget(1.0, 1e-6))
    spend(ledger, event(rho=0.02))
    with pytest.raises(BudgetExceededError, match="over the budget of 1 "):
        spend(ledger, event(rho=0.02))
    assert len(ledger.events) == 1
    spend(ledger, event(rho=0.004))


def test_a_reservation_holds_the_budget_and_gives_back_what_is_left():
    ledger = Ledger(Budget(1.0, 1e-6))
    with ledger.reserve([event(rho=0.01), event(rho=0.01)]) as reservation:
        assert ledger.events == (), "reserving is not spending"
        with pytest.raises(BudgetExceededError, match="more is reserved by fits that are running"):
            ledger.reserve([event(rho=0.01)])
        reservation.record(event(rho=0.01))
        assert ledger.spent.rho == pytest.approx(0.01)
    spend(ledger, event(rho=0.015))
    assert ledger.spent.rho == pytest.approx(0.025)


def test_what_was_not_reserved_is_refused():
    ledger = Ledger(Budget(1.0, 1e-6))
    with ledger.reserve([event(rho=0.01, n_draws=10)]) as reservation:
        for wrong in (event(rho=0.011, n_draws=10), event(rho=0.01, n_draws=11)):
            with pytest.raises(BudgetExceededError, match="was not reserved"):
                reservation.record(wrong)
        reservation.record(event(rho=0.01, n_draws=10))
        with pytest.raises(BudgetExceededError, match="was not reserved"):
            reservation.record(event(rho=0.01, n_draws=10))
    assert len(ledger.events) == 1


def test_costs_under_different_relations_do_not_mix():
    ledger = Ledger(Budget(1.0))
    with pytest.raises(InvalidParameterError, match="neighboring must be 'add-remove'"):
        ledger.reserve([event(neighboring=Neighboring.REPLACE_ONE)])


def test_a_ledger_needs_a_budget():
    with pytest.raises(InvalidTypeError, match=r"budget must be a Budget, got 1\.0. Write Ledger\(Budget"):
        Ledger(1.0)


def test_a_ledger_is_shared_never_copied():
    ledger = Ledger(Budget(1.0))
    assert clone(ledger) is ledger
    assert copy.deepcopy(ledger) is ledger
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(ledger)


def test_a_forked_ledger_refuses_to_spend():
    ledger = Ledger(Budget(1.0))
    child = os.fork()
    if child == 0:
        code = 3
        try:
            ledger.reserve([event()])
            code = 1
        except BudgetExceededError as error:
            code = 0 if "fork" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ledger.events == ()
    spend(ledger, event())


def test_concurrent_spending_never_exceeds_the_budget():
    ledger = Ledger(Budget(1.0, 1e-6))
    refused = []

    def work():
        for _ in range(20):
            try:
                spend(ledger, event(rho=0.001))
            except BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.events) + len(refused) == 80
    assert 25 <= len(ledger.events) <= 28  # 28 fit; a refusal may be due to another thread's reservation
    assert ledger.spent.epsilon(1e-6) <= 1.0


def test_fine_noise_is_charged_for_its_discreteness():
    coarse = Composition.of([event(rho=0.02, smallest_scale=2**40)])
    fine = Composition.of([event(rho=0.02, smallest_scale=2**6)])
    assert fine.epsilon_gaussian(1e-6) > coarse.epsilon_gaussian(1e-6)
    assert Composition.of([event(rho=0.02, smallest_scale=7, n_draws=1)]).epsilon_gaussian(1e-6) == math.inf
    assert fine.epsilon_zcdp(1e-6) == coarse.epsilon_zcdp(1e-6), "zCDP holds for discrete noise as it is"


@given(st.fractions(min_value=0, max_value=10**6))
def test_costs_are_rounded_up(value):
    rounded = round_up(value)
    assert rounded >= value
    assert rounded <= value * (1 + 2**-50) + 5e-324


def test_repr_shows_the_spend():
    ledger = Ledger(Budget(2.0, 1e-6))
    spend(ledger, event(rho=0.01))
    assert "1 releases" in repr(ledger)
    assert "epsilon spent" in repr(ledger)
