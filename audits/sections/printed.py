"""The paper's Algorithm 2 as it is printed: must be caught."""

from audits.attacks import printed_algorithm
from audits.section import Effort, Findings, Table

NAME, TITLE = "printed", "The printed algorithm"

LEAST = 5.0
_HEADER = ("case", "runs", "claimed", "certified")


def run(effort: Effort) -> Findings:
    """Attack one round of it, on a record that is alone in its cell and on one opposite to many."""
    few, many = (effort.pick(quick=20_000, full=n) for n in (100_000, 2_000_000))
    alone = {
        "record alone in its cell, 2 columns, epsilon = 1": (2, many, 1.0),
        "the same with fewer runs": (2, few, 1.0),
        "16 columns": (16, few, 1.0),
        "2 columns, epsilon = 0.1": (2, many, 0.1),
    }
    results = {
        name: printed_algorithm.empty_cell(d, runs=n, epsilon=epsilon)
        for name, (d, n, epsilon) in alone.items()
    }
    opposite = printed_algorithm.cross(2, runs=many)
    name = "record opposite to 2000 others, mean clipped to the box, one round"
    rows = [
        (name, result.runs, f"epsilon {result.claimed:g}", f"epsilon {result.certified:.2f}")
        for name, result in results.items()
    ]
    rows.append((name, opposite.runs, f"mu {opposite.claimed:.3f}", f"mu {opposite.certified:.3f}"))
    text = (
        "Algorithm 2 of Byun, Choi and Lee (2025) centres the scatter of a cell at its noisy mean, which "
        "its proof overlooks ([Privacy](privacy.md), section 10). One of its ten rounds, with the printed "
        "noise, is attacked with the likelihood ratio of what it releases at delta = 1e-5, confidence "
        "0.95. It is kept in `audits/attacks/printed_algorithm.py` for this."
    )
    least = LEAST / 2 if effort.quick else LEAST  # few runs certify less
    caught = all(result.certified >= least for result in results.values()) and not opposite.passed
    return Findings(text, Table(_HEADER, rows), passed=caught)
