"""Rows of a person: never more than the cap, and the same ones, in every container."""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from audits.attacks import described_rows, rows_of_persons
from audits.section import Effort, Findings, Table

NAME, TITLE = "persons", "Rows of a person"

_TABLES_AT_A_TIME = 250
_NUMBERS_FOR_EACH_OTHER = 10
"""Tables of numbers for each that has texts, days and missing values."""


def run(effort: Effort) -> Findings:
    """Count tables in which a container went over the cap, or used other rows than the array did."""
    n = effort.pick(quick=20, full=10_000)
    sizes = [min(_TABLES_AT_A_TIME, n - start) for start in range(0, n, _TABLES_AT_A_TIME)]
    found: dict[str, list[int]] = {}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        for i, part in enumerate(workers.map(_part, sizes, range(len(sizes)))):
            for name, counts in part.items():
                found[name] = [a + b for a, b in zip(found.get(name, [0, 0, 0]), counts, strict=True)]
            effort.say(f"{sum(sizes[: i + 1])} of {n} tables")
    text = (
        "Random tables of up to nine persons with up to sixty rows, many of them equal, in every container. "
        "Ids are numbers, negative and beyond 2^63, or text; they come in another type in every file, batch "
        "and partition (integers, doubles, decimals, text, objects of several types), and rows in another "
        "order in every pass. A failure is a table that is refused, or in which more (or fewer) rows of a "
        "person are used than the cap says, or other ones than in an array. Tables with texts, days and "
        "missing values, some of them not listed or out of bounds, are compared with those in a data frame."
    )
    rows = [(name, tables, over, other) for name, (tables, over, other) in found.items()]
    passed = all(over == other == 0 for _, _, over, other in rows)
    return Findings(text, Table(("container", "tables", "not the cap", "other rows"), rows), passed=passed)


def _part(n_tables: int, seed: int) -> dict[str, list[int]]:
    with tempfile.TemporaryDirectory() as folder:
        return {
            **rows_of_persons.audit(n_tables, seed, Path(folder)),
            **described_rows.audit(n_tables // _NUMBERS_FOR_EACH_OTHER, seed, Path(folder)),
        }
