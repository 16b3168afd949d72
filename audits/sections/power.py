"""The smallest mistake that is noticed: noise that is a few percent too small, many times."""

from audits.attacks.cases import ADD_REMOVE, MUS
from audits.attacks.mechanisms import counts
from audits.section import Effort, Findings, Table

NAME, TITLE = "power", "How small a mistake is noticed"

REPEATS = 10
LEAST_NOTICED = 9
_FACTORS = (1.0, 0.97, 0.95, 0.9)


def run(effort: Effort) -> Findings:
    """Audit a count whose noise is right, and one whose noise is too small."""
    runs = effort.pick(quick=20_000, full=1_000_000)
    rows, held = [], True
    for mu in MUS:
        for factor in _FACTORS:
            noticed = sum(not _passes(mu, factor, runs, seed) for seed in range(REPEATS))
            held &= _as_it_should(factor, noticed) or effort.quick
            noise = f"{1 - factor:.0%} too small" if factor < 1 else "as claimed"
            rows.append((f"mu = {mu:g}", noise, runs, f"{noticed} of {REPEATS}"))
            effort.say(f"mu = {mu:g}, noise times {factor:g}: {noticed} of {REPEATS}")
    text = (
        "A count is released with noise that is smaller than its ledger says; the audit should notice, and "
        "should not be alarmed where the noise is right. Confidence 0.95."
    )
    return Findings(text, Table(("claim", "noise", "runs", "certified above the claim"), rows), passed=held)


def _as_it_should(factor: float, noticed: int) -> bool:
    """Say whether no right noise and nearly all noise that is 5 % too small was noticed."""
    if factor == 1:
        return noticed == 0
    return noticed >= LEAST_NOTICED or factor > 0.95


def _passes(mu: float, factor: float, runs: int, seed: int) -> bool:
    case = counts(ADD_REMOVE, mu**2 / 2).with_noise(factor)
    return case.audited(runs=runs, seed=10_000 + 100 * seed + round(100 * factor)).passed
