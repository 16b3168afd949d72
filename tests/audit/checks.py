"""Short checks, one of which every mutant with a ``check`` must fail; unchanged code passes all of them."""

import numpy as np

from audited_bases import any_records, audited, base
from dpmorse import Budget, DPMoGHard, DPTree, Ledger
from dpmorse.audit import audit_mechanism
from dpmorse.audit.recording import watched_fit
from dpmorse.exceptions import BudgetExceededError
from dpmorse.privacy import LAPLACE, Mechanism
from dpmorse.statistics import GroupCounts, SecondMoments
from worst_pairs import ADD_REMOVE, REPLACE_ONE, choice, counts, moments, seeded


def add_remove():
    """All releases of DPMoGHard under add/remove-one."""
    return audited(base(DPMoGHard, "add-remove", 1.0), runs=2000, seed=1).passed


def groups():
    """The same for persons with three rows."""
    estimator = base(DPMoGHard, "add-remove", 1.0, max_rows_per_group=3)
    return audited(estimator, runs=2000, seed=1, n_candidates=2).passed


def moment_sums():
    """Full moments of cells under add/remove-one."""
    return _passes(moments(SecondMoments.FULL, ADD_REMOVE, 1.0))


def replace_one():
    """Full moments of cells under replace-one."""
    return _passes(moments(SecondMoments.FULL, REPLACE_ONE, 1.0))


def k_means():
    """Counts and sums of cells under replace-one, where the worst replacement stays in its cell."""
    return _passes(moments(SecondMoments.NONE, REPLACE_ONE, 1.0))


def many_runs():
    """Noise that is a little too small takes many runs to notice."""
    return _passes(moments(SecondMoments.NONE, ADD_REMOVE, 2.0), runs=400_000)


def laplace():
    """Laplace noise."""
    return _passes(counts(ADD_REMOVE, 1.0, LAPLACE))


def group_counts():
    """Counts under replace-one."""
    return _passes(counts(REPLACE_ONE, 0.5))


def choices():
    """Choices under both relations, without any draw: how far the exponents move."""
    results = (_audited(choice(relation, 1.0), runs=100) for relation in (ADD_REMOVE, REPLACE_ONE))
    return all(result.details["moved"] <= 1 + 1e-9 for result in results)


def clipped():
    """Records out of bounds count as records at the bounds."""
    return all(_clips(base(kind, "add-remove", 1.0)) for kind in (DPMoGHard, DPTree))


def questions():
    """Quite other records are asked the same, given the same answers."""
    estimator = base(DPTree, "add-remove", 1.0, bounds="private")
    first = watched_fit(estimator, any_records(0, 700), seeded(2))
    return watched_fit(estimator, any_records(1, 90), seeded(3), earlier=first).questions == first.questions


def reservations():
    """A release that costs a third more than what was reserved for it is refused."""
    statistic, ledger = GroupCounts(1), Ledger(Budget(1.0))
    small, large = (statistic.plan("count", cost, ADD_REMOVE) for cost in (0.001, 0.0013))
    try:
        with Mechanism.reserve([ledger], [small.event], seeded(4), ledger.budget) as mechanism:
            mechanism.release(np.zeros(1, dtype=np.int64), large)
    except BudgetExceededError:
        return True
    return False


CHECKS = {
    "add_remove": add_remove,
    "groups": groups,
    "moments": moment_sums,
    "replace_one": replace_one,
    "k_means": k_means,
    "many_runs": many_runs,
    "laplace": laplace,
    "counts": group_counts,
    "choices": choices,
    "clipped": clipped,
    "questions": questions,
    "reservations": reservations,
}


def _audited(case, runs=20_000):
    return audit_mechanism(
        case.planned, case.exact, case.neighbour, runs=runs, confidence=0.99, sampler=seeded(5)
    )


def _passes(case, runs=20_000):
    return _audited(case, runs).passed


def _clips(estimator):
    far = any_records(2, 500)
    far[::7] *= 50.0
    first = watched_fit(estimator, far, seeded(6))
    near = watched_fit(estimator, np.clip(far, -1, 1), seeded(7), earlier=first)
    pairs = zip(first.asked, near.asked, strict=True)
    return all(np.array_equal(a.exact, b.exact) for a, b in pairs)
