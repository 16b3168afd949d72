"""From a target (epsilon, delta) to the zCDP cost that may be spent, on the private side."""

import math
from enum import StrEnum

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import accounting
from dpmorse.privacy.budget import Budget

SMALLEST_SCALE = 2**24
"""No release uses finer noise than this, which keeps the discreteness term of Theorem 4 negligible."""


class Calibration(StrEnum):
    """Which proof sets the noise.

    ``GAUSSIAN``: the exact Gaussian curve less its discreteness term (Theorem 4), or zCDP where that is
    better (very large epsilon); the least noise that is proved here.
    ``ZCDP``: the zCDP curve alone (Theorem 3), with 6 to 9 % more noise.
    ``PAPER``: the formula printed in the method's paper, with its looser conversion, for comparison.
    """

    GAUSSIAN = "gaussian"
    ZCDP = "zcdp"
    PAPER = "paper"


def affordable_rho(budget: Budget, calibration: Calibration, *, n_draws: int) -> float:
    """Return how much zCDP cost the budget buys when ``n_draws`` noise values will be drawn."""
    refuse_pure(budget)
    if calibration is Calibration.PAPER:
        return _bun_steinke_rho(budget.epsilon, budget.delta)
    rho = accounting.zcdp_rho(budget.epsilon, budget.delta)
    if calibration is Calibration.ZCDP:
        return rho
    # The ledger charges discreteness at the zCDP epsilon of what is spent, which is at most this one.
    without_reserve = accounting.gaussian_mu(budget.epsilon, budget.delta) ** 2 / 2
    ceiling = accounting.zcdp_epsilon(without_reserve, budget.delta)
    reserve = accounting.discreteness_delta(ceiling, n_draws / float(SMALLEST_SCALE) ** 4)
    if reserve >= budget.delta:
        return rho
    return max(rho, accounting.gaussian_mu(budget.epsilon, budget.delta - reserve) ** 2 / 2)


def refuse_pure(budget: Budget) -> None:
    """Say that a method with Gaussian noise cannot promise delta = 0."""
    if budget.is_pure:
        raise InvalidParameterError(
            "delta must lie strictly between 0 and 1, got 0: Gaussian noise has no pure form. "
            "DPLloyd, DPCube and DPTree have one, with Laplace noise."
        )


def affordable_epsilon(budget: Budget) -> float:
    """Return how much pure epsilon the budget buys: all of it, less what rounding of sums may take."""
    return budget.epsilon * (1 - accounting.SOLVE_MARGIN)


def _bun_steinke_rho(epsilon: float, delta: float) -> float:
    """Solve rho + 2 sqrt(rho ln(1/delta)) = epsilon (Bun and Steinke 2016), as the paper does."""
    log_term = math.log(1 / delta)
    return (math.sqrt(log_term + epsilon) - math.sqrt(log_term)) ** 2 * (1 - accounting.SOLVE_MARGIN)
