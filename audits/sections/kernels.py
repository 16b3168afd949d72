"""Compiled sums against the plain form, on random and hostile records; and what one record moves in them."""

from audits.kernels.comparing import Compared, compare
from audits.kernels.paths import PATHS
from audits.section import Effort, Findings, Table

NAME, TITLE = "kernels", "Kernels: the same sums everywhere"

LARGEST_MOVE = 1 + 1e-9
"""Largest change of a sum by one record, as a part of what is paid for: costs are rounded floats."""

_HEADER = ("what is added up", "cases", "records", "differences", "neighbours", "moved, at most")


def run(effort: Effort) -> Findings:
    """Ask questions of every kind, over rules and domains of every kind."""
    n, found = effort.pick(quick=7, full=140), dict[str, Compared]()
    for path in PATHS:
        found[path] = compare(path, n, seed=1)
        effort.say(f"{path}: {len(found[path].differences)} differences in {n} cases")
    differences = [one for compared in found.values() for one in compared.differences]
    engines = sorted(set().union(*(compared.engines for compared in found.values())))
    text = (
        "Every statistic, over random bounds, tables and rules of cells (some of them nearly the same, the "
        "same, thinner than the grid, or out of the box), is added up by compiled code and compared with the "
        "plain form, entry by entry. A third of all values are made to tell them apart: at a bound and next "
        "to it, half-way between steps of the grid, between two cells, infinite, not a number, beyond single "
        f"precision; records are of single and double precision. It is asked in these ways: "
        f"{', '.join(engines)}. Scores of some records are computed with integers of any size as well. Then "
        "such a record is added, or put in the place of another, and what compiled code makes of either "
        f"dataset is compared with what is paid for. **{len(differences)} differences.**"
    )
    told = [Table(("difference",), [(one,) for one in differences[:20]])] if differences else []
    passed = not differences and all(compared.moved <= LARGEST_MOVE for compared in found.values())
    return Findings(text, Table(_HEADER, [_row(*item) for item in found.items()]), *told, passed=passed)


def _row(path: str, compared: Compared) -> tuple[str | int | float, ...]:
    wrong, moved = len(compared.differences), compared.moved
    return (path, compared.cases, compared.records, wrong, compared.neighbours, moved)
