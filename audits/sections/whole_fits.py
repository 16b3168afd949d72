"""Whole fits: replayed wherever the records are, and attacked through the released model alone."""

import statistics
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.attacks.stored_fits import STORAGES, UNITS, Fit, fits, replayed
from audits.section import Cell, Effort, Findings, Table
from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    MorseClustering,
    NoisyModelWarning,
    Nominal,
    Numeric,
    PrivateGaussianMixture,
)
from dpmorse.audit import AuditResult, audit_estimator

NAME, TITLE = "whole_fits", "Whole fits: replays, and canaries in one run"

CONFIDENCE = 0.99
LARGEST_MOVE = 1 + 1e-9
"""Largest change of an answer, as a part of what is paid for: costs are rounded floats."""

_EPSILONS = (1.0, 4.0, 8.0)
_BOX: dict[str, Any] = {"bounds": (-1, 1)}
_CATEGORIES = {f"category {i}": Nominal([str(level) for level in range(16)]) for i in range(24)}
_TABLE: dict[str, Any] = {"columns": {f"number {i}": Numeric(-1, 1) for i in range(4)} | _CATEGORIES}
_PERSONS = {"max_rows_per_group": 2}


@dataclass(frozen=True)
class Attacked:
    """An estimator with one component, for any epsilon, and how many fits a full run makes."""

    name: str
    kinds: tuple[type, ...]
    make: Callable[..., Any]
    full: int = 8


def _of(kind: Any, words: str = "", full: int = 8, **options: Any) -> Attacked:
    name = f"{kind.__name__}, {words}" if words else kind.__name__
    return Attacked(name, (kind,), lambda epsilon: kind(1, epsilon=epsilon, **options), full)


ATTACKED = (
    *(_of(kind, full=30, **_BOX) for kind in (DPMoGHard, DPMoG, DPLloyd, DPTree, DPCube)),
    _of(PrivateGaussianMixture, "no profile", **_BOX, profile=False),
    _of(DPMorse, **_BOX),
    _of(DPMoGHard, "persons", full=30, **_BOX, **_PERSONS),
    Attacked(
        "MorseClustering of DPMoGHard, replace-one",
        (MorseClustering,),
        lambda epsilon: MorseClustering(
            DPMoGHard(1, epsilon=epsilon, neighboring="replace-one", **_BOX), n_clusters=1
        ),
    ),
    _of(PrivateGaussianMixture, "table", **_TABLE),
    _of(PrivateGaussianMixture, "categories", columns=_CATEGORIES),
    _of(PrivateGaussianMixture, "table, persons", **_TABLE, **_PERSONS),
)
"""Every estimator."""

_REPLAYED = ("estimator", "fits", "questions", "moved, at most")
_HEADER = (
    "estimator",
    "claimed epsilon",
    "fits",
    "certified, median",
    "certified, highest",
    "above the claim",
)


def run(effort: Effort) -> Findings:
    """Replay every estimator in every storage; attack a few budgets, again and again."""
    replays, moved = _replays(effort)
    rows: list[list[Cell]] = []
    refuted, total = 0, 0
    for attacked in ATTACKED:
        for epsilon in _EPSILONS:
            n = effort.pick(quick=1, full=attacked.full)
            results = [_audited(attacked.make(epsilon=epsilon), seed) for seed in range(n)]
            bounds = [result.certified for result in results]
            above = sum(not result.passed for result in results)
            rows.append([attacked.name, epsilon, n, statistics.median(bounds), max(bounds), above])
            refuted, total = refuted + above, total + n
        effort.say(attacked.name)
    text = (
        "*Replays*: every estimator is fitted as users fit it, to tables that are stored as "
        f"{_listed(STORAGES)}, in another order each time, and again to a neighbour while it is given the "
        "answers of the first fit. Neighbours differ in a record far out (added, or in place of another), "
        "or in a person with 17 rows of which 3 are used; a record of a table has values that nobody else "
        "has, and missing values. Both fits must ask the same and end in the same model, and no answer may "
        "move by more than is paid for, which is 1.\n\n"
        "*Canaries*: 1000 records in random corners of 16 columns, or of 4 numbers with random levels of 24 "
        "categories (table), or these categories alone, are added to 2000 others by the toss of a coin "
        "each, the estimator is fitted once, and from the released mixture alone 250 of the coins are "
        f"guessed (Steinke, Nasr and Jagielski 2023). Confidence {CONFIDENCE}: a true claim is refuted at "
        f"most once in {1 / (1 - CONFIDENCE):.0f} fits. **Certified above the claim: {refuted} of {total} "
        "fits.**"
    )
    passed = refuted == 0 and moved <= LARGEST_MOVE
    return Findings(text, Table(_REPLAYED, replays), Table(_HEADER, rows), passed=passed)


def _listed(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}"


def _replays(effort: Effort) -> tuple[list[list[Cell]], float]:
    """Return a row for each estimator, and the largest move of all."""
    rows: list[list[Cell]] = []
    storages = list(STORAGES)[: effort.pick(quick=1, full=len(STORAGES))]
    with tempfile.TemporaryDirectory() as folder:
        for fit in fits():
            found = [_replay(fit, storage, *unit, Path(folder)) for storage in storages for unit in UNITS]
            moved = [one for questions in found for _, one in questions]
            rows.append([fit.name, 2 * len(found), len(moved), max(moved)])
            effort.say(f"replays of {fit.name}: {max(moved):.3f}")
    return rows, max(float(row[-1]) for row in rows)


def _replay(fit: Fit, storage: str, unit: str, relation: str, folder: Path) -> list[tuple[str, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pure noise, and Dask's own
        return replayed(fit, storage, unit, relation, folder)


def _audited(estimator: Any, seed: int) -> AuditResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoisyModelWarning)
        return audit_estimator(estimator, confidence=CONFIDENCE, random_state=seed)
