"""Certified bounds: closed forms, and that they hold as often as they say."""

import math

import numpy as np
import pytest
from scipy import stats

from dpmorse.audit.bounds import (
    Errors,
    Scores,
    best_errors,
    certified_epsilon,
    certified_mu,
    lower_rate,
    one_run_epsilon,
    one_run_p_value,
    upper_rate,
)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_rates_are_those_of_clopper_and_pearson(successes, trials):
    interval = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert lower_rate(successes, trials, 0.05) == pytest.approx(interval.low, abs=1e-12)
    assert upper_rate(successes, trials, 0.05) == pytest.approx(interval.high, abs=1e-12)


def test_closed_forms_without_errors():
    """An attacker who is never wrong in n runs: power >= a^(1/n), false positives <= 1 - a^(1/n)."""
    errors, error = Errors(1000, 1000, 0, 1000), 0.05 / 2
    power = error ** (1 / 1000)
    assert certified_epsilon(errors, 0.95) == pytest.approx(math.log(power / (1 - power)))
    assert certified_mu(errors, 0.95) == pytest.approx(2 * stats.norm.ppf(power))


def test_many_runs_come_close_to_the_truth():
    n = 10**9
    gaussian = Errors(round(n * stats.norm.cdf(1)), n, round(n * stats.norm.cdf(-0.5)), n)
    assert certified_mu(gaussian, 0.95) == pytest.approx(1.5, abs=1e-3)
    answers = Errors(round(n * math.e / (1 + math.e)), n, round(n / (1 + math.e)), n)
    assert certified_epsilon(answers, 0.95) == pytest.approx(1.0, abs=1e-3)
    assert certified_epsilon(answers, 0.95, delta=0.1) == pytest.approx(
        math.log((math.e / (1 + math.e) - 0.1) * (1 + math.e)), abs=1e-3
    )


def test_both_errors_count():
    """Rarely missing a record proves as much as rarely seeing one that is not there."""
    often = Errors(999_900, 1_000_000, 900_000, 1_000_000)
    rarely = Errors(100_000, 1_000_000, 100, 1_000_000)
    assert certified_epsilon(often, 0.95) == pytest.approx(certified_epsilon(rarely, 0.95), rel=1e-9)
    assert certified_epsilon(rarely, 0.95) > 6


@pytest.mark.parametrize("errors", [Errors(0, 50, 0, 50), Errors(0, 50, 50, 50), Errors(50, 50, 50, 50)])
def test_useless_attackers_certify_nothing(errors):
    assert certified_epsilon(errors, 0.95) == certified_mu(errors, 0.95) == 0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("n", [5, 40])
def test_a_true_claim_is_refuted_no_more_often_than_the_confidence_allows(epsilon, n):
    """Randomised response, all outcomes of n + n runs: the probability that the bound is above epsilon."""
    rate = math.exp(epsilon) / (1 + math.exp(epsilon))
    present, absent = (stats.binom.pmf(np.arange(n + 1), n, p) for p in (rate, 1 - rate))
    refuted = sum(
        present[i] * absent[j]
        for i in range(n + 1)
        for j in range(n + 1)
        if certified_epsilon(Errors(i, n, j, n), 0.8) > epsilon
    )
    assert refuted <= 0.2


def test_one_run_without_delta_is_a_binomial_test():
    assert one_run_p_value(100, 60, 45, 0.5, 0.0) == pytest.approx(
        stats.binom.sf(44, 60, 1 / (1 + math.exp(-0.5)))
    )
    assert one_run_epsilon(100, 50, 50, 0.0, 0.95) == pytest.approx(
        -math.log(0.05 ** (-1 / 50) - 1), abs=1e-5
    )


def test_one_run_with_delta_is_the_theorem_of_steinke_nasr_and_jagielski():
    m, r, v, epsilon, delta = 200, 80, 60, 0.7, 1e-4
    law = stats.binom(r, 1 / (1 + math.exp(-epsilon)))
    extra = max(sum(law.pmf(v - j) for j in range(1, i + 1)) / i for i in range(1, v + 1))
    assert one_run_p_value(m, r, v, epsilon, delta) == pytest.approx(law.sf(v - 1) + 2 * m * delta * extra)


@pytest.mark.parametrize(("right", "certified"), [(0, 0.0), (30, 0.0)])
def test_guesses_no_better_than_chance_certify_nothing(right, certified):
    assert one_run_epsilon(100, 60, right, 1e-6, 0.95) == certified


def test_one_run_is_right_as_often_as_it_says():
    """Canaries through randomised response: all outcomes of 60 guesses."""
    epsilon = 0.8
    law = stats.binom(60, 1 / (1 + math.exp(-epsilon)))
    refuted = sum(law.pmf(v) for v in range(61) if one_run_epsilon(60, 60, v, 0.0, 0.9) > epsilon)
    assert 0.01 < refuted <= 0.1


def test_a_threshold_is_chosen_on_other_runs_than_those_that_count(rng):
    present, absent = rng.standard_normal(5000) + 1, rng.standard_normal(4000)
    errors = best_errors(Scores(present, absent), lambda errors: certified_mu(errors, 0.95))
    assert (errors.n_present, errors.n_absent) == (4000, 3200)
    assert 0.8 < certified_mu(errors, 0.95) < 1


def test_rates_go_from_corner_to_corner(rng):
    alarms, misses = Scores(rng.standard_normal(500) + 1, rng.standard_normal(500)).rates()
    assert (alarms[0], misses[0], alarms[-1], misses[-1]) == (1, 0, 0, 1)
    assert np.all(np.diff(alarms) <= 0)
    assert np.all(np.diff(misses) >= 0)
