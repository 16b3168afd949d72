"""What may be published of a budget that is not used up: Theorem 9 of docs/privacy.md."""

from dpmorse.privacy.budget import SMALLEST_DELTA, Budget
from dpmorse.privacy.events import Composition

N_LEVELS = 8
"""The budget and seven levels below it. The grid is public and fixed: levels that were chosen by what was
spent would not be promises."""


def levels(budget: Budget) -> list[float]:
    """Return the levels below the budget, smallest first."""
    return [budget.epsilon * i / N_LEVELS for i in range(1, N_LEVELS)]


def publishable_epsilon(spent: Composition, budget: Budget) -> float:
    """Return the smallest level that what is spent has not passed; the budget itself holds in any case.

    Each level below the budget is a privacy filter with an eighth of delta, so that all seven hold at once
    with less than delta. Where delta is 0 the sum of pure epsilons bounds the loss surely, and no grid is
    needed.
    """
    if budget.is_pure:
        return min(spent.pure_epsilon, budget.epsilon)
    if spent == Composition.of([]):
        return 0.0
    delta = budget.delta / N_LEVELS
    if delta < SMALLEST_DELTA:
        return budget.epsilon
    passed = spent.in_one_curve().epsilon(delta)
    return min((level for level in levels(budget) if passed <= level), default=budget.epsilon)
