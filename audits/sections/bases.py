"""All releases of every base, by an attacker who knows all records but one."""

from audits.attacks import bases
from audits.section import Cell, Effort, Findings, Table
from dpmorse.audit import AuditResult

NAME, TITLE = "bases", "Bases: everything that a fit releases"

CONFIDENCE = 0.999
LEAST = 0.95
_HEADER = ("base", "relation", "claimed", "moved, exactly", "certified", "of what is moved")


def run(effort: Effort) -> Findings:
    """Audit every base under both relations, and pure promises."""
    runs = effort.pick(quick=5000, full=200_000)
    rows: list[list[Cell]] = []
    held = True
    for seed, (kind, columns, relation, mu) in enumerate(bases.every_base()):
        estimator = bases.base(kind, relation, mu)
        # corners of more columns are far from every released centre, which the default base protects least
        n_features = columns if columns == 2 else 6
        result = bases.audited(estimator, runs=runs, seed=seed, confidence=CONFIDENCE, n_features=n_features)
        least = (0.0 if effort.quick else LEAST) * bases.moved(result)
        held &= result.passed and result.certified / result.claimed >= least
        rows.append(_row(f"{kind.__name__}, {n_features} columns", relation, result))
        effort.say(f"{kind.__name__}, {n_features} columns, {relation}, mu = {mu:g}: {result.certified:.3f}")
    for seed, kind in enumerate(bases.WITH_PURE):
        for relation in bases.RELATIONS:
            estimator = bases.base(kind, relation, 1.0, epsilon=2.0, delta=0.0)
            result = bases.audited(estimator, runs=runs, seed=100 + seed, confidence=CONFIDENCE)
            held &= result.passed
            rows.append(_row(f"{kind.__name__}, 2 columns", relation, result))
    for seed, attack in enumerate(bases.further()):
        result = attack.audited(runs=runs // 5, seed=200 + seed, confidence=CONFIDENCE)
        least = (0.0 if effort.quick else LEAST) * bases.moved(result)
        held &= result.passed and result.certified / result.claimed >= least
        rows.append(_row(attack.name, attack.relation, result))
        effort.say(f"{attack.name}, {attack.relation}: {result.certified:.3f}")
    text = (
        "A fit is watched, and repeated on the worst of several neighbouring datasets while it is given "
        "the same answers. How far one record moves all exact sums together is then known exactly (a part "
        "of what the ledger says they cost: at most 1), no question may differ, and noise for all "
        f"releases is drawn again and again for each dataset ({runs:,} times; {runs // 5:,} for those after "
        "the pure promises, and a quarter of these in 36 columns). *Persons* have several rows, all of which "
        "are added; records of tables are encoded ones, at the edges of everything, with and without holes. "
        f"Confidence {CONFIDENCE}. *Moved* is below 1 where the record that is worst for one release is "
        "not for another. Choices of DPCube are compared exactly, one by one, and are not part of "
        "*claimed*. For pure promises (epsilon) the certified bound is far from tight: all values at once "
        "would have to be in the tails of their noise."
    )
    return Findings(text, Table(_HEADER, rows), passed=held)


def _row(name: str, relation: str, result: AuditResult) -> list[Cell]:
    moved = bases.moved(result)
    claimed = f"{result.claim.unit} {result.claimed:.3f}"
    return [name, relation, claimed, moved, result.certified, result.certified / (moved * result.claimed)]
