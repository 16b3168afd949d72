"""From scores to a test: the threshold is chosen on runs that the bound does not use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from dpmorse.audit.bounds import Errors
from dpmorse.typing import FloatArray

_HELD_OUT = 0.2
"""Part of the runs on which the threshold is chosen. Few are enough: near the best threshold, the certified
bound hardly depends on it."""

_N_THRESHOLDS = 200
"""Thresholds that are tried, at quantiles of the scores that are evenly spaced in log odds."""

_FAR = 11.0
"""Log odds of the outermost quantiles: 1 in 60,000, where errors at large epsilons are decided."""

_N_POINTS = 101
"""Points of the curve of error rates in a picture."""

Promise = Callable[[Errors], Any]


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

    def split(self) -> tuple["Scores", "Scores"]:
        """Return a fifth of the runs, and the others."""
        first, second = (max(1, int(_HELD_OUT * len(part))) for part in (self.present, self.absent))
        return (
            Scores(self.present[:first], self.absent[:second]),
            Scores(self.present[first:], self.absent[second:]),
        )

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Return rates of false positives and false negatives at many thresholds, for a picture."""
        thresholds = np.quantile(np.concatenate([self.present, self.absent]), np.linspace(0, 1, _N_POINTS))
        present, absent = np.sort(self.present), np.sort(self.absent)
        missed = np.searchsorted(present, thresholds) / len(present)
        alarms = 1 - np.searchsorted(absent, thresholds) / len(absent)
        return np.append(alarms, 0.0), np.append(missed, 1.0)


def best_errors(scores: Scores, promise: Promise) -> Errors:
    """Choose the threshold with the best bound on some of the runs, and return its errors on the others."""
    held_out, left = scores.split()
    pooled = np.concatenate([held_out.present, held_out.absent])
    levels = expit(np.linspace(-_FAR, _FAR, _N_THRESHOLDS))
    candidates = np.unique(np.quantile(pooled, levels, method="nearest"))
    return left.errors(max(candidates.tolist(), key=lambda threshold: promise(held_out.errors(threshold))))
