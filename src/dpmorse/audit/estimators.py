"""The audit of a whole fit in one run: canaries, and the number that the released model gives away."""

from typing import Any

import numpy as np
from sklearn.base import clone

from dpmorse import _validate
from dpmorse.audit.bounds import Scores, one_run_epsilon
from dpmorse.audit.canaries import BoxCanaries, Canaries, TableCanaries, any_records, as_table
from dpmorse.audit.invented import check_is_estimator, invented_box, parameter, public_box
from dpmorse.audit.results import AuditResult, Claim, Unit, enough
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Neighboring
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

_FEWEST_CANARIES = 20
"""With 20 canaries four are guessed, and even if all four are right nothing is certified at 0.95."""

_GUESSED = 0.25
"""Part of the canaries that is guessed, those with the most extreme scores: the others are hard to tell."""

_N_OTHERS = 2000
"""Invented records beside the canaries: by default twice as many."""

_SPREAD = 0.5
"""Standard deviation of the invented records, as a part of the half-width of the bounds."""


def audit_estimator(
    estimator: Any,
    X: Any = None,
    *,
    n_canaries: int = 1000,
    n_features: int = 16,
    confidence: float = 0.95,
    random_state: int | None = None,
) -> AuditResult:
    """Attack a whole fit through the model that it releases, in one run (Steinke, Nasr, Jagielski 2023).

    Canaries are records in random corners of the bounds (with random levels, where there are categories). The
    toss of a coin decides for each whether it is added. An attacker who sees nothing but the released mixture
    guesses the coins of the quarter that is easiest to guess, and the number of right guesses refutes every
    epsilon below the certified one. The bound is far from tight, unlike that of ``audit_releases``; but it
    needs no knowledge of how the estimator works, and holds for the whole of it.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit``, a released ``mixture_`` and a claim ``privacy_``, such as ``DPMorse`` or
        ``MorseClustering``. A clone of it is fitted.
    X : ndarray of shape (n_samples, n_features), optional
        Records beside the canaries; None where the estimator has ``columns``. By default 2000 invented ones;
        then no real budget is spent, and the estimator's ledger is not touched. **Given records are spent on
        as in any fit**: the clone is fitted to them on the estimator's ledger. The result is computed from
        the released model and from coins, so it may be published like the model.
    n_canaries : int, default=1000
        At least 20. More canaries certify more, up to a point at which they hide one another.
    n_features : int, default=16
        Number of columns, if neither X nor the bounds determine it. In more columns canaries are easier to
        tell apart.
    confidence : float, default=0.95
        Confidence of the bound.
    random_state : int, optional
        Seed of canaries and coins, not of the noise. None draws them from the operating system.

    Returns
    -------
    result : AuditResult
        Claimed and certified epsilon at the fit's delta.

    Examples
    --------
    >>> from dpmorse import DPMoGHard
    >>> from dpmorse.audit import audit_estimator
    >>> result = audit_estimator(DPMoGHard(1, epsilon=8.0, bounds=(-1, 1)), confidence=0.99999)
    >>> result.passed
    True
    """
    confidence = _validate.open_unit_interval(confidence=confidence)
    check_is_estimator(estimator)
    n_canaries = enough(_FEWEST_CANARIES, 1000, n_canaries=n_canaries)
    rng = np.random.default_rng(random_state)
    model = clone(estimator)
    if X is None:  # nothing real is spent
        ledgers = [name for name in model.get_params(deep=True) if name in {"ledger", "base__ledger"}]
        model.set_params(**dict.fromkeys(ledgers))
    replaced = parameter(estimator, "neighboring") == Neighboring.REPLACE_ONE
    rows = parameter(estimator, "max_rows_per_group")
    canaries: Canaries
    if (columns := parameter(estimator, "columns")) is not None:
        if X is not None:
            raise InvalidParameterError(
                "X must be None where the estimator has columns: tables are audited on invented records."
            )
        schema = Schema.of(columns)
        others = any_records(schema, _N_OTHERS, rng, at_bounds=False)
        canaries = TableCanaries.drawn(schema, n_canaries, rng, replaced=replaced)
        _fit(model, as_table(schema, others), as_table(schema, canaries.records), rows)
    else:
        if X is None:
            domain = invented_box(estimator, n_features)
            scaled = np.clip(_SPREAD * rng.standard_normal((_N_OTHERS, domain.n_features)), -1, 1)
            others = domain.centre + domain.half_width * scaled
        else:
            others = np.asarray(X, dtype=np.float64)
            domain = public_box(estimator, others.shape[1])
        canaries = BoxCanaries.drawn(domain, n_canaries, rng, replaced=replaced)
        _fit(model, others, canaries.records, rows)
    return _judged(model, canaries, canaries.scores(model.mixture_, others), confidence)


def _judged(model: Any, canaries: Canaries, scores: FloatArray, confidence: float) -> AuditResult:
    """Guess the canaries with the highest and with the lowest scores, half of each."""
    each = max(1, round(_GUESSED * len(scores) / 2))
    order = np.argsort(scores, kind="stable")
    guessed = np.zeros(len(scores), dtype=bool)
    guessed[order[:each]] = guessed[order[-each:]] = True
    n_right = int(np.count_nonzero(canaries.present[guessed] == (scores > np.median(scores))[guessed]))
    n_guesses, report = int(guessed.sum()), model.privacy_
    present, absent = scores[canaries.present], scores[~canaries.present]
    alarms, misses = (
        Scores(present, absent).rates() if len(present) and len(absent) else (np.empty(0), np.empty(0))
    )
    return AuditResult(
        f"{type(model).__name__}, whole fit",
        "canaries in one run",
        Claim(Unit.EPSILON, report.epsilon, report.delta),
        one_run_epsilon(len(canaries), n_guesses, n_right, report.delta, confidence),
        confidence,
        len(canaries),
        details={"guesses": n_guesses, "right": n_right, "neighboring": report.neighboring},
        false_positives=alarms,
        false_negatives=misses,
    )


def _fit(model: Any, others: FloatArray, canaries: FloatArray, rows: int | None) -> None:
    """Fit; where groups are protected, each canary is a group with as many rows as are used."""
    if rows is None:
        model.fit(np.vstack([others, canaries]))
        return
    groups = np.concatenate([np.arange(len(others)), len(others) + np.repeat(np.arange(len(canaries)), rows)])
    model.fit(np.vstack([others, np.repeat(canaries, rows, axis=0)]), groups=groups)
