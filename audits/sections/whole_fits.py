"""Whole fits through the released model alone: canaries in one run."""

import statistics
import warnings
from typing import Any

from audits.section import Cell, Effort, Findings, Table
from dpmorse import (
    DPLloyd,
    DPMoGHard,
    DPMorse,
    DPTree,
    NoisyModelWarning,
    Nominal,
    Numeric,
    PrivateTableMixture,
)
from dpmorse.audit import AuditResult, audit_estimator

NAME, TITLE = "whole_fits", "Whole fits: canaries in one run"

CONFIDENCE = 0.99
_EPSILONS = (1.0, 4.0, 8.0)
_BOX: dict[str, Any] = {"bounds": (-1, 1)}
_TABLE: dict[str, Any] = {
    "columns": {
        **{f"number {i}": Numeric(-1, 1) for i in range(4)},
        **{f"category {i}": Nominal([str(level) for level in range(16)]) for i in range(24)},
    }
}
_ATTACKED: tuple[tuple[Any, dict[str, Any], int], ...] = (
    (DPMoGHard, _BOX, 30),
    (DPLloyd, _BOX, 30),
    (DPTree, _BOX, 30),
    (DPMorse, _BOX, 8),
    (PrivateTableMixture, _TABLE, 8),
)
"""Estimators with one component, their records, and how many fits a full run makes."""

_HEADER = (
    "estimator",
    "claimed epsilon",
    "fits",
    "certified, median",
    "certified, highest",
    "above the claim",
)


def run(effort: Effort) -> Findings:
    """Attack a few estimators at a few budgets, again and again."""
    rows: list[list[Cell]] = []
    refuted, total = 0, 0
    for kind, records, full in _ATTACKED:
        for epsilon in _EPSILONS:
            n = effort.pick(quick=1, full=full)
            results = [_audited(kind(1, epsilon=epsilon, **records), seed) for seed in range(n)]
            bounds = [result.certified for result in results]
            above = sum(not result.passed for result in results)
            name = f"{kind.__name__}, table" if "columns" in records else kind.__name__
            rows.append([name, epsilon, n, statistics.median(bounds), max(bounds), above])
            refuted, total = refuted + above, total + n
            effort.say(f"{name}, epsilon = {epsilon:g}")
    text = (
        "1000 records in random corners of 16 columns, or of 4 numbers with random levels of 24 "
        "categories (table), are added to 2000 others by the toss of a coin "
        "each, the estimator is fitted once, and from the released mixture alone 250 of the coins are "
        f"guessed (Steinke, Nasr and Jagielski 2023). Confidence {CONFIDENCE}: a true claim is refuted at "
        f"most once in {1 / (1 - CONFIDENCE):.0f} fits. **Certified above the claim: {refuted} of {total} "
        "fits.**"
    )
    return Findings(text, Table(_HEADER, rows), passed=refuted == 0)


def _audited(estimator: Any, seed: int) -> AuditResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoisyModelWarning)
        return audit_estimator(estimator, confidence=CONFIDENCE, random_state=seed)
