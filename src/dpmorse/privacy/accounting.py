"""From noise to (epsilon, delta) and back: the two privacy curves of a composition of Gaussian releases.

Every release is rho_i-zCDP, and the sum ``rho`` describes the whole fit. Two conversions are proved in
docs/privacy.md and both are always reported:

* **zCDP** (Theorem 3; Canonne, Kamath and Steinke 2020, Prop. 12). Valid for discrete Gaussian noise
  as it stands. Every order ``alpha`` gives a valid bound, so the numerical search over ``alpha`` can
  only be too cautious, never wrong.
* **Gaussian** (Theorem 4; Balle and Wang 2018, Dong, Roth and Su 2022). Continuous Gaussian noise with
  the same scales is exactly ``mu``-GDP, ``mu^2 = 2 rho``. Discrete Gaussian noise is within total
  variation distance ``eta`` of the rounded continuous one, which costs ``(1 + e^epsilon) eta`` in delta.

Floating-point error is covered by relative margins on the private side: ``REPORT_MARGIN`` where an
epsilon is reported, the larger ``SOLVE_MARGIN`` where noise is solved for, so that what is reported
never exceeds what was asked. Both are far above the error measured against 50-digit arithmetic and far
below anything that matters to utility.

Random choices and Laplace noise enter both curves by Lemma 3. They have a third curve, pure differential
privacy, in which their epsilons add up.
"""

import math
from collections.abc import Callable
from enum import StrEnum

from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_expit, log_ndtr, ndtri_exp

REPORT_MARGIN = 1e-9
"""Relative margin that is added where an epsilon is reported, far above the error of float64."""

SOLVE_MARGIN = 1e-8
"""Relative margin that is taken off where a cost is solved for: larger than ``REPORT_MARGIN``, so that what
is reported never exceeds what was asked."""

_SMALL_RANGE = 1e-3
"""Below this range the mu of Lemma 3 is bounded by its tangent at 0: the exact form would subtract
numbers that are almost equal."""

_LOG_ORDER_RANGE = (math.log(1e-6), math.log(1e12))
"""Range of ln(alpha - 1) that is searched. Every order gives a valid bound, so it only needs to be wide."""


class Calibration(StrEnum):
    """The proof that sets the noise.

    ``GAUSSIAN``: the exact Gaussian curve less its discreteness term (Theorem 4), or zCDP where that is
    better (very large epsilon); the least noise that is proved here.
    ``ZCDP``: the zCDP curve alone (Theorem 3), with 6 to 9 % more noise.
    ``PAPER``: the formula printed in the method's paper, with its looser conversion, for comparison.
    """

    GAUSSIAN = "gaussian"
    ZCDP = "zcdp"
    PAPER = "paper"


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon for which rho-zCDP implies (epsilon, delta)-DP."""
    if rho == 0:
        return 0.0
    found = _minimum_over_orders(lambda alpha, overhead: alpha * rho + overhead, delta)
    return max(0.0, found) * (1 + REPORT_MARGIN)


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return (almost) the largest rho for which rho-zCDP implies (epsilon, delta)-DP."""
    shortfall = _minimum_over_orders(lambda alpha, overhead: -(epsilon - overhead) / alpha, delta)
    return max(0.0, -shortfall) * (1 - SOLVE_MARGIN)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the exact delta(epsilon) of a mu-GDP Gaussian mechanism (Balle and Wang 2018)."""
    if mu == 0:
        return 0.0
    upper = math.exp(log_ndtr(mu / 2 - epsilon / mu))
    lower = math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, upper - lower)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return (almost) the largest mu for which mu-GDP implies (epsilon, delta)-DP."""
    log_delta = math.log(delta * (1 - REPORT_MARGIN))

    def excess(log_mu: float) -> float:
        return _log(gaussian_delta(math.exp(log_mu), epsilon)) - log_delta

    feasible = math.log(2 * zcdp_rho(epsilon, delta)) / 2 - 1e-3  # the zCDP bound is never tighter
    infeasible = feasible + 1
    while excess(infeasible) < 0:
        infeasible += 1
    return math.exp(brentq(excess, feasible, infeasible, xtol=1e-13)) * (1 - SOLVE_MARGIN)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the epsilon at which a mu-GDP mechanism is (epsilon, delta)-DP, rounded up."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    log_delta = math.log(delta)
    feasible = zcdp_epsilon(mu * mu / 2, delta) + 1e-3

    def excess(epsilon: float) -> float:
        return _log(gaussian_delta(mu, epsilon)) - log_delta

    crossing = float(brentq(excess, 0.0, feasible, xtol=1e-15 * feasible, rtol=1e-13))
    return crossing * (1 + REPORT_MARGIN)


def bounded_range_mu(log_range: float) -> float:
    """Return mu for which a mechanism of bounded range is mu-GDP (Lemma 3 of docs/privacy.md).

    ``log_range`` is the largest difference between two log-likelihood ratios of neighbouring datasets: b
    for a choice with weights exp(-rate * penalty) whose exponents move by b, 2 epsilon for pure epsilon.
    """
    if log_range < _SMALL_RANGE:  # the tangent at 0 is above the concave function, and next to it
        return log_range * math.sqrt(2 * math.pi) / 4 * (1 + REPORT_MARGIN)
    return float(-2 * ndtri_exp(log_expit(-log_range / 2))) * (1 + REPORT_MARGIN)


def bounded_range_rho(log_range: float) -> float:
    """Return the zCDP cost of a mechanism of bounded range (Lemma 3 of docs/privacy.md)."""
    return log_range * log_range / 8


def largest_range(rho: float) -> float:
    """Return (almost) the largest range whose cost is at most ``rho`` in both curves."""
    most = math.sqrt(8 * rho) * (1 + 1e-9)

    def excess(part: float) -> float:
        log_range = part * most
        return max(bounded_range_rho(log_range), bounded_range_mu(log_range) ** 2 / 2) / rho - 1

    return most * float(brentq(excess, 0.0, 1.0, xtol=1e-14)) * (1 - SOLVE_MARGIN)


def discreteness(weighted_draws: float) -> float:
    """Bound the total variation distance between the noise drawn and rounded Gaussian noise.

    ``weighted_draws`` is the sum of ``s^-4`` over all draws, ``s`` the scale of each. Lemma 2 of
    docs/privacy.md: chi^2 <= 1 / (100 s^4) per draw for s >= 8, multiplicative over (adaptive) draws,
    and TV <= sqrt(chi^2) / 2.
    """
    return 0.5 * math.sqrt(math.expm1(weighted_draws / 100))


def discreteness_delta(epsilon: float, weighted_draws: float) -> float:
    """Return the delta that discrete noise costs on top of the Gaussian curve at ``epsilon``."""
    return discreteness(weighted_draws) * (1 + (math.exp(epsilon) if epsilon < 700 else math.inf))


def affordable_rho(epsilon: float, delta: float, calibration: Calibration, weighted_draws: float) -> float:
    """Return the zCDP cost that (epsilon, delta) buys, on the private side.

    ``weighted_draws`` is that of ``discreteness``, of all noise that will be drawn.
    """
    if calibration is Calibration.PAPER:  # rho + 2 sqrt(rho ln(1/delta)) = epsilon (Bun and Steinke 2016)
        log_term = math.log(1 / delta)
        return (math.sqrt(log_term + epsilon) - math.sqrt(log_term)) ** 2 * (1 - SOLVE_MARGIN)
    rho = zcdp_rho(epsilon, delta)
    if calibration is Calibration.ZCDP:
        return rho
    # The ledger charges discreteness at the zCDP epsilon of what is spent, which is at most this one.
    without_reserve = gaussian_mu(epsilon, delta) ** 2 / 2
    reserve = discreteness_delta(zcdp_epsilon(without_reserve, delta), weighted_draws)
    if reserve >= delta:
        return rho
    return max(rho, gaussian_mu(epsilon, delta - reserve) ** 2 / 2)


def _minimum_over_orders(bound: Callable[[float, float], float], delta: float) -> float:
    """Minimise a function of an order alpha > 1 of the Renyi divergence, and of what it costs at delta.

    The latter is epsilon - alpha rho for the epsilon that this order gives.
    """
    log_delta = math.log(delta)

    def of_order(t: float) -> float:
        alpha = 1 + math.exp(t)
        # ln( (1 - 1/alpha)^alpha / (alpha - 1) ), the factor of CKS that sharpens Bun and Steinke
        log_tail = alpha * (t - math.log1p(math.exp(t))) - t
        return bound(alpha, (log_tail - log_delta) * math.exp(-t))

    search = minimize_scalar(of_order, bounds=_LOG_ORDER_RANGE, method="bounded", options={"xatol": 1e-9})
    return float(search.fun)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -1e6  # finite, for the root finder
