"""Short checks that unchanged code passes; a mutant that names one of them must fail it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.attacks.bases import any_records, audited, base, repeated_fits, same_exact_answers
from audits.attacks.cases import ADD_REMOVE, REPLACE_ONE, Case
from audits.attacks.mechanisms import all_tables, choice, counts, moments
from audits.attacks.sampler import seeded
from audits.attacks.stages import all_stages
from dpmorse import Budget, DPMoGHard, DPTree, Ledger, PrivateGaussianMixture
from dpmorse.exceptions import BudgetExceededError
from dpmorse.privacy import LAPLACE, Mechanism, Step
from dpmorse.privacy.exact import sealed
from dpmorse.statistics import GroupCounts, SecondMoments


def add_remove() -> bool:
    """All releases of DPMoGHard under add/remove-one."""
    return audited(base(DPMoGHard, "add-remove", 1.0), runs=2000, seed=1).passed


def groups() -> bool:
    """The same for persons with three rows."""
    estimator = base(DPMoGHard, "add-remove", 1.0, max_rows_per_group=3)
    return audited(estimator, runs=2000, seed=1, n_candidates=2).passed


def moment_sums() -> bool:
    """Full moments of cells under add/remove-one."""
    return _passes(moments(SecondMoments.FULL, ADD_REMOVE, 1.0))


def replace_one() -> bool:
    """Full moments of cells under replace-one."""
    return _passes(moments(SecondMoments.FULL, REPLACE_ONE, 1.0))


def k_means() -> bool:
    """Counts and sums of cells under replace-one, where the worst replacement stays in its cell."""
    return _passes(moments(SecondMoments.NONE, REPLACE_ONE, 1.0))


def many_runs() -> bool:
    """Noise that is a little too small takes many runs to notice."""
    return _passes(moments(SecondMoments.NONE, ADD_REMOVE, 2.0), runs=400_000)


def laplace() -> bool:
    """Laplace noise."""
    return _passes(counts(ADD_REMOVE, 1.0, LAPLACE))


def group_counts() -> bool:
    """Counts under replace-one."""
    return _passes(counts(REPLACE_ONE, 0.5))


def choices() -> bool:
    """Choices under both relations, without any draw: how far the exponents move."""
    cases = (choice(relation, 1.0) for relation in (ADD_REMOVE, REPLACE_ONE))
    results = (case.audited(runs=100, seed=5) for case in cases)
    return all(result.details["moved"] <= 1 + 1e-9 for result in results)


def tables() -> bool:
    """Sums of tables, without any draw: how far the worst pairs move them."""
    return all(make().moved <= 1 + 1e-9 for make in all_tables())


def stages() -> bool:
    """Releases of the stages of the default bases, without any draw: how far the worst pairs move them."""
    return all(make().moved <= 1 + 1e-9 for make in all_stages())


def profiles() -> bool:
    """All releases of the default base in two columns, the profile being the last."""
    return audited(base(PrivateGaussianMixture, "add-remove", 1.0), runs=2000, seed=1, n_candidates=2).passed


def profiles_of_persons() -> bool:
    """The same where persons with three rows are protected."""
    estimator = base(PrivateGaussianMixture, "add-remove", 1.0, max_rows_per_group=3)
    return audited(estimator, runs=200, seed=1, n_candidates=2).passed


def clipped() -> bool:
    """Records out of bounds count as records at the bounds."""
    return all(_clips(base(kind, "add-remove", 1.0)) for kind in (DPMoGHard, DPTree))


def questions() -> bool:
    """Given the same answers, a fit asks the same questions of other records."""
    estimator = base(DPTree, "add-remove", 1.0, bounds="private")
    first, second = repeated_fits(estimator, any_records(0, 700), any_records(1, 90), seed=2)
    return first.questions == second.questions


def questions_of_profiles() -> bool:
    """The same for the default base, whose profile has bins that earlier releases choose."""
    first, second = repeated_fits(
        base(PrivateGaussianMixture, "add-remove", 1.0), any_records(0, 700), -any_records(0, 700), seed=2
    )
    return first.questions == second.questions


def reservations() -> bool:
    """A release that costs a third more than what was reserved for it is refused."""
    statistic, ledger = GroupCounts(1), Ledger(Budget(1.0))
    small, large = (statistic.plan(Step("count"), cost, ADD_REMOVE) for cost in (0.001, 0.0013))
    try:
        with Mechanism.reserve([ledger], [small.event], seeded(4), ledger.budget) as mechanism:
            mechanism.release(sealed(np.zeros(1, dtype=np.int64)), large)
    except BudgetExceededError:
        return True
    return False


CHECKS: dict[str, Callable[[], bool]] = {
    "add_remove": add_remove,
    "groups": groups,
    "moments": moment_sums,
    "replace_one": replace_one,
    "k_means": k_means,
    "many_runs": many_runs,
    "laplace": laplace,
    "counts": group_counts,
    "choices": choices,
    "tables": tables,
    "stages": stages,
    "profiles": profiles,
    "profiles_of_persons": profiles_of_persons,
    "clipped": clipped,
    "questions": questions,
    "questions_of_profiles": questions_of_profiles,
    "reservations": reservations,
}


def _passes(case: Case, runs: int = 20_000) -> bool:
    return case.audited(runs=runs, seed=5, confidence=0.99).passed


def _clips(estimator: Any) -> bool:
    far = any_records(2, 500)
    far[::7] *= 50.0
    return same_exact_answers(*repeated_fits(estimator, far, np.clip(far, -1, 1), seed=6))
