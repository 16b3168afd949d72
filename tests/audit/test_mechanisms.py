"""Every mechanism on its worst pair of neighbours: never above the claim, and at least 95 % of it."""

import numpy as np
import pytest

from audits.attacks.cases import RELATIONS
from audits.attacks.mechanisms import (
    all_choices,
    all_moments,
    all_others,
    all_tables,
    choice,
    counts,
    moments,
)
from audits.attacks.sampler import seeded
from audits.attacks.stages import all_stages
from dpmorse.audit import audit_mechanism
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import LAPLACE
from dpmorse.schema import Layout
from dpmorse.statistics import SecondMoments

RUNS = 120_000
CONFIDENCE = 0.99


EVERY = [*all_moments(), *all_others(), *all_tables(), *all_stages(), *all_choices()]


def named(make):
    options = [name for name, value in make.keywords.items() if value is True]
    kinds = [value.__name__ for value in make.keywords.values() if isinstance(value, type)]
    given = [*make.args, *(value for value in make.keywords.values() if isinstance(value, Layout))]
    words = [f"{a.n_numbers} and {a.n_categories}" if isinstance(a, Layout) else a for a in given]
    return "-".join(map(str, [make.func.__name__, *words, *options, *kinds]))


def audited(case, seed=3, runs=RUNS, confidence=CONFIDENCE):
    return case.audited(runs=runs, seed=seed, confidence=confidence)


@pytest.mark.parametrize("make", EVERY, ids=named)
def test_worst_pairs_move_as_far_as_is_paid_for_and_no_further(make):
    case = make()
    assert case.reached - 1e-3 <= case.moved <= 1 + 1e-12


@pytest.mark.long
@pytest.mark.parametrize("make", all_moments(n_options=1), ids=named)
def test_moments_spend_what_they_claim(make):
    case = make()
    result = audited(case)
    assert result.passed
    assert 0.95 * case.reached <= result.certified / result.claimed <= 1


@pytest.mark.long
@pytest.mark.parametrize("make", all_others(), ids=named)
def test_counts_histograms_leaves_and_laplace_noise_spend_what_they_claim(make):
    """The joint law of several Laplace values has its largest ratios in a corner that is rarely visited."""
    case = make()
    pure = case.planned.event.noise == LAPLACE
    n_moved = np.count_nonzero(case.exact != case.neighbour)
    result = audited(case, runs=3 * RUNS if pure else RUNS)
    assert result.passed
    assert (0.95 if not pure or n_moved < 3 else 0.7) <= result.certified / result.claimed <= 1


@pytest.mark.long
@pytest.mark.parametrize("make", all_tables(), ids=named)
def test_tables_spend_what_they_claim(make):
    result = audited(make())
    assert result.passed
    assert 0.95 <= result.certified / result.claimed <= 1


@pytest.mark.long
@pytest.mark.parametrize("make", all_stages(), ids=named)
def test_stages_spend_what_they_claim(make):
    case = make()
    result = audited(case)
    assert result.passed
    assert 0.95 * case.reached <= result.certified / result.claimed <= 1


@pytest.mark.parametrize("make", all_choices(), ids=named)
def test_choices_spend_what_they_claim(make):
    """Choices are drawn one by one: fewer runs here, all of them in ``make audit``."""
    case = make()
    result = audited(case, runs=1000, confidence=0.95)
    assert result.passed
    assert 0.7 <= result.certified / result.claimed <= 1


@pytest.mark.long
def test_one_choice_with_many_runs():
    result = audited(choice(RELATIONS[0], 2.0), runs=10_000, confidence=0.95)
    assert 0.95 <= result.certified / result.claimed <= 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_noise_that_is_five_percent_too_small_is_noticed(relation):
    """Ten of ten at a million runs; here one of each relation."""
    result = audited(moments(SecondMoments.NONE, relation, 2.0).with_noise(0.95), seed=5, runs=400_000)
    assert not result.passed
    assert result.certified > result.claimed


def test_datasets_with_the_same_answers_cannot_be_told_apart():
    case = counts(RELATIONS[0], 0.5)
    result = audit_mechanism(case.planned, case.exact, case.exact, runs=1000, sampler=seeded(6))
    assert result.certified == 0
    assert result.details["moved"] == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"planned": 3}, InvalidTypeError, "planned must be a PlannedRelease or a PlannedChoice, got 3"),
        ({"exact": np.zeros(4)}, InvalidTypeError, "exact must be an array of int64, got dtype float64"),
        ({"neighbour": np.zeros(3, np.int64)}, InvalidParameterError, "vectors of one length"),
        (
            {"exact": np.zeros(3, np.int64), "neighbour": np.zeros(3, np.int64)},
            InvalidParameterError,
            "4 values of the plan, got 3",
        ),
        ({"runs": 5}, InvalidParameterError, "runs must be at least 100, got 5"),
        ({"confidence": 1.0}, InvalidParameterError, "confidence must lie strictly between 0 and 1"),
    ],
)
def test_bad_parameters_are_named(change, error, message):
    case = counts(RELATIONS[0], 0.5)
    arguments = {"planned": case.planned, "exact": case.exact, "neighbour": case.neighbour}
    with pytest.raises(error, match=message):
        audit_mechanism(**{**arguments, **change})
