"""All releases of every base, by an attacker who knows all records but one."""

import itertools
import math
from collections.abc import Iterator

from audits.attacks import bases
from audits.section import Cell, Effort, Findings, Table
from dpmorse.audit import AuditResult, Unit

NAME, TITLE = "bases", "Bases: everything that a fit releases"

CONFIDENCE = 0.999
RUNS = 200_000
LEAST = 0.95
"""Part of the real change that the bound of all runs must reach."""

FARTHEST = 25.0
"""How far below what is moved a bound of fewer runs may be, times the root of the runs: half of it is
expected, and what is left is six standard deviations."""

_HEADER = ("base", "relation", "claimed", "moved, exactly", "certified", "of what is moved")


def run(effort: Effort) -> Findings:
    """Audit every base under both relations, pure promises, and everything else that can be released."""
    runs = effort.pick(quick=5000, full=RUNS)
    rows: list[list[Cell]] = []
    held = True
    for name, relation, result in _results(runs):
        held &= result.passed and _shows_what_is_moved(result)
        rows.append(_row(name, relation, result))
        effort.say(f"{name}, {relation}: {result.certified:.3f}")
    text = (
        "A fit is watched, and repeated on the worst of several neighbouring datasets while it is given "
        "the same answers. How far one record moves all exact sums together is then known exactly (a part "
        "of what the ledger says they cost: at most 1), no question may differ, and noise for all "
        f"releases is drawn again and again for each dataset ({runs:,} times; {runs // 5:,} for those after "
        "the pure promises, and a quarter of these in 36 columns). *Persons* have several rows, all of which "
        "are added; records of tables are encoded ones, at the edges of everything, with and without missing "
        f"values. Confidence {CONFIDENCE}. *Moved* is below 1 where the record that is worst for one release "
        "is not for another. Choices of DPCube are compared exactly, one by one, and are not part of "
        "*claimed*. For pure promises (epsilon) the certified bound is far from tight: all values at once "
        "would have to be in the tails of their noise."
    )
    return Findings(text, Table(_HEADER, rows), passed=held)


def _results(runs: int) -> Iterator[tuple[str, str, AuditResult]]:
    """Yield name, relation and outcome of every audit."""
    for seed, (kind, columns, relation, mu) in enumerate(bases.every_base()):
        # corners of more columns are far from every released centre, which the default base protects least
        n_features = columns if columns == 2 else 6
        estimator, options = bases.base(kind, relation, mu), {"n_features": n_features}
        result = bases.audited(estimator, runs=runs, seed=seed, confidence=CONFIDENCE, **options)
        yield f"{kind.__name__}, {n_features} columns", relation, result
    for seed, (kind, relation) in enumerate(itertools.product(bases.WITH_PURE, bases.RELATIONS)):
        estimator = bases.base(kind, relation, 1.0, epsilon=2.0, delta=0.0)
        result = bases.audited(estimator, runs=runs, seed=100 + seed // 2, confidence=CONFIDENCE)
        yield f"{kind.__name__}, 2 columns", relation, result
    for seed, attack in enumerate(bases.further()):
        result = attack.audited(runs=runs // 5, seed=200 + seed, confidence=CONFIDENCE)
        yield attack.name, attack.relation, result


def _shows_what_is_moved(result: AuditResult) -> bool:
    """Say whether the bound is as close to what is moved as its runs can show; pure ones never are."""
    if result.claim.unit is not Unit.MU:
        return True
    moved = bases.moved(result) * result.claimed
    least = LEAST * moved if result.runs >= RUNS else moved - FARTHEST / math.sqrt(result.runs)
    return result.certified >= least


def _row(name: str, relation: str, result: AuditResult) -> list[Cell]:
    moved = bases.moved(result)
    claimed = f"{result.claim.unit} {result.claimed:.3f}"
    return [name, relation, claimed, moved, result.certified, result.certified / (moved * result.claimed)]
