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
    PrivacyLeakWarning,
)
from dpmorse.privacy import Neighboring, ReleaseEvent, accounting
from dpmorse.privacy.events import Composition, round_up


def event(rho=0.001, n_draws=100, smallest_scale=2**28, neighboring=Neighboring.ADD_REMOVE):
    return ReleaseEvent(
        name="test",
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


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan, math.inf])
def test_delta_out_of_range(delta):
    with pytest.raises(InvalidParameterError, match="delta must lie strictly between 0 and 1"):
        Budget(1.0, delta)


@pytest.mark.parametrize("delta", [False, "1e-6", None])
def test_delta_of_the_wrong_type(delta):
    with pytest.raises(InvalidTypeError, match="delta must be a number"):
        Budget(1.0, delta)


def test_budgets_too_small_to_account_for():
    with pytest.raises(InvalidParameterError, match="epsilon must be at least 0.0001"):
        Budget(1e-5)
    with pytest.raises(InvalidParameterError, match="delta must be at least 1e-100"):
        Budget(1.0, 1e-200)


def test_relation_must_be_known():
    with pytest.raises(InvalidParameterError, match="'add-remove', 'replace-one', got 'both'"):
        Budget(1.0, neighboring="both")


def test_weak_promises_warn():
    with pytest.warns(PrivacyLeakWarning, match="epsilon=50"):
        Budget(50.0)
    with pytest.warns(PrivacyLeakWarning, match="delta=0.01"):
        Budget(1.0, 0.01)


def test_spend_is_derived_from_events():
    ledger = Ledger(Budget(1.0, 1e-6))
    for _ in range(4):
        ledger.record(event(rho=0.005))
    spent = ledger.spent
    assert spent.rho == pytest.approx(0.02)
    assert spent.epsilon(1e-6) == pytest.approx(accounting.gaussian_epsilon(math.sqrt(0.04), 1e-6), rel=1e-6)
    assert spent.epsilon_zcdp(1e-6) == accounting.zcdp_epsilon(spent.rho, 1e-6)


def test_overspending_is_refused_and_nothing_is_written():
    ledger = Ledger(Budget(1.0, 1e-6))
    ledger.record(event(rho=0.02))
    with pytest.raises(BudgetExceededError, match="over the budget of 1 "):
        ledger.record(event(rho=0.02))
    assert len(ledger.events) == 1
    ledger.admit([event(rho=0.004)])
    assert len(ledger.events) == 1, "admitting is not spending"


def test_costs_under_different_relations_do_not_mix():
    ledger = Ledger(Budget(1.0))
    with pytest.raises(InvalidParameterError, match="neighboring must be 'add-remove'"):
        ledger.record(event(neighboring=Neighboring.REPLACE_ONE))


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
        try:
            ledger.record(event())
        except BudgetExceededError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ledger.events == ()
    ledger.record(event())


def test_concurrent_fits_cannot_overspend():
    ledger = Ledger(Budget(1.0, 1e-6))
    refused = []

    def spend():
        for _ in range(20):
            try:
                ledger.record(event(rho=0.001))
            except BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.events) == 28  # rho = 0.0280 fits in (1, 1e-6), 0.0290 does not
    assert len(refused) == 80 - 28
    assert ledger.spent.epsilon(1e-6) <= 1.0


def test_fine_noise_is_charged_for_its_discreteness():
    coarse = Composition.of([event(rho=0.02, smallest_scale=2**40)])
    fine = Composition.of([event(rho=0.02, smallest_scale=2**6)])
    assert fine.epsilon_gaussian(1e-6) > coarse.epsilon_gaussian(1e-6)
    assert Composition.of([event(rho=0.02, smallest_scale=8)]).epsilon_gaussian(1e-6) == math.inf
    assert fine.epsilon_zcdp(1e-6) == coarse.epsilon_zcdp(1e-6), "zCDP holds for discrete noise as it is"


@given(st.fractions(min_value=0, max_value=10**6))
def test_costs_are_rounded_up(value):
    rounded = round_up(value)
    assert rounded >= value
    assert rounded <= value * (1 + 2**-50) + 5e-324


def test_repr_shows_the_spend():
    ledger = Ledger(Budget(2.0, 1e-6))
    ledger.record(event(rho=0.01))
    assert "1 releases" in repr(ledger)
    assert "epsilon spent" in repr(ledger)
