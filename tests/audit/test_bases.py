"""All releases of every base, and whole fits: never above the claim, and as close to it as one record gets."""

import numpy as np
import pytest

from audits.attacks.bases import (
    RELATIONS,
    WITH_PURE,
    any_records,
    audited,
    base,
    every_base,
    further,
    least_moved,
    moved,
    repeated_fits,
    same_exact_answers,
)
from audits.attacks.sampler import seeded
from dpmorse import Budget, DPLloyd, DPMoGHard, DPMorse, Ledger, MorseClustering, PrivateGaussianMixture
from dpmorse.audit import audit_estimator, audit_releases
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from toy_base import GridKMeans

EACH_RELATION = pytest.mark.parametrize("relation", RELATIONS)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "n_features", "relation", "mu"), every_base())
def test_all_releases_of_a_base_spend_what_they_claim(kind, n_features, relation, mu):
    """At least 95 % of what the worst record moves, which is known exactly (at fewer runs here, 90 %)."""
    estimator = base(kind, relation, mu)
    result = audited(estimator, runs=40_000, seed=4, confidence=0.99, n_features=n_features)
    assert result.passed, str(result)
    assert moved(result) >= least_moved(kind, n_features, relation)
    assert 0.9 * moved(result) <= result.certified / result.claimed <= 1


@pytest.mark.long
@pytest.mark.parametrize("attack", further(), ids=lambda attack: f"{attack.name}, {attack.relation}")
def test_all_releases_of_further_columns_tables_and_units_spend_what_they_claim(attack):
    """Few runs: ``make audit`` makes the others. How far one record moves all sums is known exactly."""
    result = attack.audited(runs=2000, seed=4, confidence=0.99)
    assert result.passed, str(result)
    assert 0.75 <= moved(result) <= 1 + 1e-9
    assert 0.5 * moved(result) <= result.certified / result.claimed <= 1


@pytest.mark.parametrize("kind", WITH_PURE)
@EACH_RELATION
def test_pure_promises_are_kept(kind, relation):
    result = audited(base(kind, relation, 1.0, epsilon=2.0, delta=0.0), runs=5000, seed=5)
    assert result.passed, str(result)
    assert result.claim.unit == "epsilon"
    assert 0 < result.certified < result.claimed <= 2
    assert moved(result) > 0.7


@pytest.mark.parametrize(("kind", "n_features", "relation"), [case[:3] for case in every_base()[::2]])
def test_questions_depend_on_answers_only(kind, n_features, relation):
    """Whatever the records are: a fit that is given the same answers asks the same questions."""
    private = {"bounds": "private"} if relation == "add-remove" else {}
    estimator = base(kind, relation, 1.0, **private)
    n_records = 90 if relation == "add-remove" else 700  # the number of records is public under replace-one
    records, others = any_records(0, 700, n_features), 0.1 * any_records(1, n_records, n_features)
    first, other = repeated_fits(estimator, records, others, seed=6)
    assert other.questions == first.questions
    assert other.events == first.events
    assert not same_exact_answers(first, other)


@pytest.mark.parametrize(("kind", "n_features", "relation"), [case[:3] for case in every_base()[::2]])
def test_only_clipped_records_are_looked_at(kind, n_features, relation):
    """Records far out of bounds and the same records at the bounds get the same exact answers.

    But for the default base, which clips to a ball that it has released: there they may be anywhere far out.
    """
    estimator, records = base(kind, relation, 1.0), any_records(2, 500, n_features)
    far, near = records.copy(), np.clip(records, -1, 1)
    far[::7] *= 1e6
    near[::7] = np.sign(near[::7]) * (1e3 if kind is PrivateGaussianMixture else 1)
    assert same_exact_answers(*repeated_fits(estimator, far, near, seed=8))


def test_groups_of_rows_are_protected_as_claimed():
    result = audited(base(DPMoGHard, "add-remove", 1.0, max_rows_per_group=3), runs=40_000, seed=10)
    assert result.passed, str(result)
    assert moved(result) > 0.99
    assert result.certified > 0.85 * result.claimed


def test_persons_are_protected_in_every_release_of_the_default_base():
    """The profile is the last of them, and plans what one row may cost by itself."""
    estimator = base(PrivateGaussianMixture, "add-remove", 1.0, max_rows_per_group=3)
    result = audited(estimator, runs=2000, seed=10, n_candidates=2)
    assert result.passed, str(result)
    assert moved(result) > 0.95


def test_bases_of_other_packages_and_meta_estimators_are_audited_too():
    for estimator in (
        GridKMeans(2, epsilon=4.0, bounds=(-1, 1)),
        MorseClustering(DPLloyd(2, epsilon=4.0, bounds=(-1, 1), n_iter=1)),
        DPMorse(2, epsilon=4.0, bounds=([-1, 0], [1, 5])),
    ):
        result = audit_releases(estimator, runs=2000, confidence=0.9, sampler=seeded(11))
        assert result.passed, str(result)
        assert result.certified > 0.5 * result.claimed


@EACH_RELATION
def test_a_whole_fit_gives_canaries_away_no_more_than_claimed(relation):
    model = DPMoGHard(1, epsilon=8.0, bounds=(-1, 1), neighboring=relation, random_state=0)
    result = audit_estimator(model, confidence=0.999, random_state=1)
    assert result.passed
    assert 0.2 < result.certified < result.claimed
    assert result.claimed == pytest.approx(8.0, abs=1e-3)
    assert result.runs == 1000
    assert not hasattr(model, "mixture_")


@pytest.mark.parametrize(("kind", "n"), [(DPMorse, 2), (DPLloyd, 1)])
def test_whole_fits_of_other_estimators(kind, n):
    model = kind(n, epsilon=8.0, bounds=(0, 10), random_state=0)
    result = audit_estimator(model, n_canaries=400, confidence=0.999, random_state=2)
    assert result.passed
    assert kind.__name__ in str(result)


@pytest.mark.filterwarnings("ignore::dpmorse.PrivacyLeakWarning")
def test_a_model_with_too_little_noise_is_caught_by_its_canaries(monkeypatch):
    """Noise thirty times too small; ``audit_releases`` needs no more than a few percent."""
    from dpmorse.privacy.sampler import NativeSampler

    original = NativeSampler.gaussian
    monkeypatch.setattr(
        NativeSampler, "gaussian", lambda self, scales: original(self, np.maximum(1, scales // 30))
    )
    model = DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), random_state=0)
    result = audit_estimator(model, n_canaries=600, n_features=24, confidence=0.999, random_state=3)
    assert not result.passed
    assert result.certified > result.claimed == pytest.approx(1.0, abs=1e-3)


def test_invented_records_cost_nothing_and_real_ones_are_paid_for():
    ledger = Ledger(Budget(2.0, 1e-6))
    model = DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), ledger=ledger, n_iter=2)
    audit_releases(model, runs=100)
    audit_estimator(model, n_canaries=20)
    assert ledger.events == ()
    audit_estimator(model, any_records(3, 300), n_canaries=20)
    assert len(ledger.events) == 2
    wrapped = MorseClustering(model)
    audit_estimator(wrapped, n_canaries=20, n_features=2)
    assert len(ledger.events) == 2


def test_canaries_that_are_persons_have_all_their_rows():
    model = DPMoGHard(1, epsilon=8.0, bounds=(-1, 1), max_rows_per_group=2, random_state=0)
    result = audit_estimator(model, n_canaries=500, confidence=0.999, random_state=4)
    assert result.passed
    assert result.details["neighboring"] == "add-remove-group"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: audit_estimator(3),
            InvalidTypeError,
            "estimator must be a private estimator, got 3",
        ),
        (lambda: audit_releases(3), InvalidTypeError, "must be a private estimator, got 3"),
        (
            lambda: audit_estimator(DPMoGHard(1, epsilon=1.0, bounds=(-1, 1)), n_canaries=3),
            InvalidParameterError,
            "n_canaries must be at least 20, got 3",
        ),
        (
            lambda: audit_estimator(DPMoGHard(1, epsilon=1.0)),
            InvalidParameterError,
            "bounds must be given, got None",
        ),
        (
            lambda: audit_releases(
                DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), neighboring="replace-one"), neighbours=[[1.0, 1.0]]
            ),
            InvalidParameterError,
            r"neighbours must be at least 2 record\(s\) of 2 columns under 'replace-one', got shape \(1, 2\)",
        ),
        (
            lambda: audit_releases(DPMoGHard(1, epsilon=1.0, bounds=(-1, 1)), [[0.0, float("nan")]]),
            InvalidParameterError,
            "X must be an array of finite numbers",
        ),
        (
            lambda: audit_releases(DPMoGHard(1, epsilon=1.0, bounds=(-1, 1)), runs=0),
            InvalidParameterError,
            "runs must be >= 1",
        ),
    ],
)
def test_bad_parameters_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
