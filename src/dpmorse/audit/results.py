"""The result of an audit: a claim, and the bound that was certified against it."""

import json
import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dpmorse import _validate
from dpmorse.audit.bounds import Errors, Scores, best_errors, certified_epsilon, certified_mu
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import gaussian_epsilon
from dpmorse.typing import FloatArray

_CAUTION = 1e-4
"""Factor on the error that is allowed while the threshold is chosen. The best of many thresholds on few runs
may be best by luck; a higher confidence prefers those with many runs behind them."""

_COIN = 0.5
"""Confidence at which thresholds are compared if none certifies anything at a higher one."""


class Unit(StrEnum):
    """Unit of a claim: mu of a Gaussian mechanism, or epsilon at a delta."""

    MU = "mu"
    EPSILON = "epsilon"


@dataclass(frozen=True)
class Claim:
    """A promise about two neighbouring datasets."""

    unit: Unit
    value: float
    delta: float = 0.0
    """For mu: the delta of the epsilons stated beside it."""

    def certify(self, errors: Errors, confidence: float) -> float:
        """Return the bound that the errors of an attacker prove, in the unit of the claim."""
        if self.unit is Unit.MU:
            return certified_mu(errors, confidence)
        return certified_epsilon(errors, confidence, self.delta)

    def as_epsilon(self, value: float) -> float:
        """Convert a value in the unit of the claim to epsilon at ``delta``."""
        if self.unit is Unit.EPSILON:
            return value
        return gaussian_epsilon(value, self.delta) if self.delta else math.inf * bool(value)

    def in_words(self, value: float, relation: str) -> str:
        """Return a value of the claim's unit, and beside a mu the epsilon of such a Gaussian mechanism."""
        if self.unit is Unit.EPSILON:
            return f"epsilon {relation} {value:.4g} at delta = {self.delta:g}"
        beside = f" (epsilon {relation} {self.as_epsilon(value):.4g} at delta = {self.delta:g})"
        return f"mu {relation} {value:.4g}{beside if self.delta else ''}"

    def fewest_misses(self, false_positives: FloatArray) -> FloatArray:
        """Return the lowest rate of false negatives that the claim allows (the trade-off function)."""
        if self.unit is Unit.MU:
            return np.asarray(ndtr(ndtri(1 - false_positives) - self.value))
        grows = np.exp(min(self.value, 700.0))
        lines = [1 - self.delta - grows * false_positives, (1 - self.delta - false_positives) / grows]
        return np.asarray(np.maximum(0.0, np.maximum(*lines)))


@dataclass(frozen=True, eq=False)
class AuditResult:
    """An attack and what it proves.

    Attributes
    ----------
    subject : str
        The object of the attack.
    attack : str
        Name of the attack.
    claim : Claim
        The promise, derived from the ledger.
    certified : float
        Lower bound on the privacy really spent, in the unit of the claim. If the claim is true, the bound
        exceeds it with probability at most ``1 - confidence``.
    confidence : float
        Confidence of the bound.
    runs : int
        Runs with the record and as many without it; canaries for an audit of one run.
    problems : tuple of str
        Other contradictions of the claim, in words.
    details : dict
        Further figures, as plain data.
    false_positives, false_negatives : ndarray
        Error rates of the attacker at many thresholds, for a picture.
    """

    subject: str
    attack: str
    claim: Claim
    certified: float
    confidence: float
    runs: int
    problems: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    false_positives: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)
    false_negatives: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)

    @classmethod
    def of_scores(
        cls, subject: str, attack: str, claim: Claim, scores: Scores, confidence: float, **more: Any
    ) -> "AuditResult":
        """Certify the bound that scores of many independent runs prove."""
        choices = (1 - _CAUTION * (1 - confidence), confidence, _COIN)
        errors = best_errors(scores, lambda errors: tuple(claim.certify(errors, c) for c in choices))
        alarms, misses = scores.rates()
        return cls(
            subject,
            attack,
            claim,
            claim.certify(errors, confidence),
            confidence,
            len(scores.present),
            false_positives=alarms,
            false_negatives=misses,
            **more,
        )

    @property
    def claimed(self) -> float:
        """The promise, in its unit."""
        return self.claim.value

    @property
    def passed(self) -> bool:
        """Whether neither the bound nor a problem contradicts the claim."""
        return self.certified <= self.claimed and not self.problems

    @property
    def claimed_curve(self) -> tuple[FloatArray, FloatArray]:
        """Rates of false positives, and the lowest rates of false negatives that the claim allows."""
        levels = np.linspace(0, 1, 401)
        return levels, self.claim.fewest_misses(levels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the picture as plain data, ready for JSON."""
        return {
            "subject": self.subject,
            "attack": self.attack,
            "unit": self.claim.unit.value,
            "claimed": self.claimed,
            "certified": self.certified,
            "delta": self.claim.delta,
            "claimed_epsilon": _finite(self.claim.as_epsilon(self.claimed)),
            "certified_epsilon": _finite(self.claim.as_epsilon(self.certified)),
            "confidence": self.confidence,
            "runs": self.runs,
            "passed": self.passed,
            "problems": list(self.problems),
            "details": json.loads(json.dumps(self.details)),
        }

    def __repr__(self) -> str:
        return f"AuditResult({self.subject!r}, claimed={self.claimed:.3g}, certified={self.certified:.3g})"

    def __str__(self) -> str:
        claim = self.claim
        lines = [
            f"{self.subject}: {'passed' if self.passed else 'FAILED'}",
            f"  claimed    {claim.in_words(self.claimed, '<=')}",
            f"  certified  {claim.in_words(self.certified, '>=')}, with confidence {self.confidence:g}",
            f"  by         {self.attack}, {self.runs} runs",
        ]
        return "\n".join([*lines, *(f"  problem    {problem}" for problem in self.problems)])


def enough(fewest: int, good: int, **given: object) -> int:
    """Return a number, given by its name, that is large enough to certify something."""
    number = _validate.positive_int(**given)  # type: ignore[arg-type]  # a name is no hint
    if number < fewest:
        raise InvalidParameterError(
            f"{next(iter(given))} must be at least {fewest}, got {number}: fewer certify nothing. "
            f"{good} is a good number."
        )
    return number


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
