"""Lower bounds on privacy loss that the outcome of an attack proves with a stated confidence.

An attacker who says "present" with probability ``alpha`` where a record is absent and with ``power`` where
it is there refutes every promise that both cannot keep:

* mu-GDP (Dong, Roth and Su 2022) allows at most ``power = Phi(Phi^-1(alpha) + mu)``;
* (epsilon, delta)-DP allows at most ``power = e^epsilon alpha + delta``, and the same with the errors
  exchanged.

Both rates are known from runs only; the bounds of Clopper and Pearson (1934), each with half the error that
the confidence leaves, hold for any number of runs. Where the attacker scores runs, the threshold for
"present" is chosen on runs that the bound does not use.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc, betaincinv, expit, ndtri
from scipy.stats import binom

from dpmorse.typing import FloatArray

_LARGEST_EPSILON = 100.0
"""No larger epsilon is certified: e^100 is infinite for every purpose, and bisection needs an end."""

_HELD_OUT = 0.2
"""Part of the runs on which the threshold is chosen. Few are enough: near the best threshold, the certified
bound hardly depends on it."""

_N_THRESHOLDS = 200
"""Thresholds that are tried, at quantiles of the scores that are evenly spaced in log odds."""

_FAR = 11.0
"""Log odds of the outermost quantiles: 1 in 60,000, where errors at large epsilons are decided."""

_N_POINTS = 101
"""Points of the curve of error rates in a picture."""


@dataclass(frozen=True)
class Errors:
    """Counts of "present" from an attacker: right ones of ``n_present`` runs, wrong ones of ``n_absent``."""

    rightly: int
    n_present: int
    wrongly: int
    n_absent: int

    def least_power(self, confidence: float) -> float:
        """Return a lower bound on the power."""
        return lower_rate(self.rightly, self.n_present, (1 - confidence) / 2)

    def most_false_positives(self, confidence: float) -> float:
        """Return an upper bound on the rate of false positives."""
        return upper_rate(self.wrongly, self.n_absent, (1 - confidence) / 2)


def lower_rate(successes: int, trials: int, error: float) -> float:
    """Return a bound that the true rate is below with probability at most ``error`` (Clopper, Pearson)."""
    return float(betaincinv(successes, trials - successes + 1, error)) if successes else 0.0


def upper_rate(successes: int, trials: int, error: float) -> float:
    """Return a bound that the true rate is above with probability at most ``error``."""
    return 1 - lower_rate(trials - successes, trials, error)


def certified_mu(errors: Errors, confidence: float) -> float:
    """Return a lower bound on mu; it is too high with probability at most 1 - confidence."""
    power, alpha = errors.least_power(confidence), errors.most_false_positives(confidence)
    if power <= 0 or alpha >= 1:
        return 0.0
    return max(0.0, float(ndtri(power) - ndtri(alpha)))


def certified_epsilon(errors: Errors, confidence: float, delta: float = 0.0) -> float:
    """Return a lower bound on epsilon at ``delta``, with the same confidence."""
    power, alpha = errors.least_power(confidence), errors.most_false_positives(confidence)
    return max(0.0, _log_ratio(power - delta, alpha), _log_ratio(1 - alpha - delta, 1 - power))


def one_run_epsilon(n_canaries: int, n_guesses: int, n_right: int, delta: float, confidence: float) -> float:
    """Return the epsilon that membership guesses of one run certify (Steinke, Nasr and Jagielski 2023).

    Of ``n_canaries`` records, each in the data by the toss of a fair coin, ``n_guesses`` were guessed and
    ``n_right`` of these rightly.
    """
    error = 1 - confidence
    if one_run_p_value(n_canaries, n_guesses, n_right, 0.0, delta) > error:
        return 0.0
    low, high = 0.0, _LARGEST_EPSILON
    while high - low > 1e-6:
        middle = (low + high) / 2
        refuted = one_run_p_value(n_canaries, n_guesses, n_right, middle, delta) <= error
        low, high = (middle, high) if refuted else (low, middle)
    return low


def one_run_p_value(n_canaries: int, n_guesses: int, n_right: int, epsilon: float, delta: float) -> float:
    """Return the largest probability of ``n_right`` right guesses if the fit is (epsilon, delta)-DP.

    Theorem 5.2 of Steinke, Nasr and Jagielski: with B ~ Binomial(n_guesses, e^epsilon / (1 + e^epsilon)),
    ``P(B >= v) + 2 m delta max_i P(v > B >= v - i) / i``.
    """
    if n_right == 0:
        return 1.0
    rate = 1 / (1 + math.exp(-epsilon))
    p_value = float(bdtrc(n_right - 1, n_guesses, rate))
    if delta:
        just_below: FloatArray = np.cumsum(binom.pmf(np.arange(n_right - 1, -1, -1), n_guesses, rate))
        p_value += 2 * n_canaries * delta * float((just_below / np.arange(1, n_right + 1)).max())
    return min(1.0, p_value)


def _log_ratio(numerator: float, denominator: float) -> float:
    if numerator <= 0:
        return 0.0
    return math.log(numerator / denominator) if denominator > 0 else _LARGEST_EPSILON


@dataclass(frozen=True)
class Scores:
    """Scores of runs with the record and without it; the higher, the more likely it is there."""

    present: FloatArray
    absent: FloatArray

    def errors(self, threshold: float) -> Errors:
        """Return how often "score >= threshold" is right and wrong."""
        rightly = int(np.count_nonzero(self.present >= threshold))
        wrongly = int(np.count_nonzero(self.absent >= threshold))
        return Errors(rightly, len(self.present), wrongly, len(self.absent))

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Return rates of false positives and false negatives at many thresholds, for a picture."""
        thresholds = np.quantile(np.concatenate([self.present, self.absent]), np.linspace(0, 1, _N_POINTS))
        present, absent = np.sort(self.present), np.sort(self.absent)
        missed = np.searchsorted(present, thresholds) / len(present)
        alarms = 1 - np.searchsorted(absent, thresholds) / len(absent)
        return np.append(alarms, 0.0), np.append(missed, 1.0)


def best_errors(scores: Scores, promise: Callable[[Errors], Any]) -> Errors:
    """Choose the threshold with the best bound on some of the runs, and return its errors on the others."""
    first, second = (max(1, int(_HELD_OUT * len(part))) for part in (scores.present, scores.absent))
    held_out = Scores(scores.present[:first], scores.absent[:second])
    left = Scores(scores.present[first:], scores.absent[second:])
    pooled = np.concatenate([held_out.present, held_out.absent])
    levels = expit(np.linspace(-_FAR, _FAR, _N_THRESHOLDS))
    candidates = np.unique(np.quantile(pooled, levels, method="nearest"))
    return left.errors(max(candidates.tolist(), key=lambda threshold: promise(held_out.errors(threshold))))
