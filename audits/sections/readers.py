"""Every reader: each record is read by itself, and a hostile one moves no more than is paid for."""

from audits.attacks.readers import all_tried
from audits.section import Effort, Findings, Table

NAME, TITLE = "readers", "Every record by itself"

_LEAST_RECORDS, _LEAST_PAIRS = 100_000, 2_000
"""Least numbers of attempts of a long run."""


def run(effort: Effort) -> Findings:
    """Try all readers on hostile tables."""
    found = all_tried(effort.pick(quick=50, full=3_000), effort.pick(quick=1, full=10), effort.say)
    n_records, n_pairs = sum(one.n_records for one in found), sum(one.n_pairs for one in found)
    n_dependent, n_above = sum(one.n_dependent for one in found), sum(one.n_above for one in found)
    text = (
        "Every way into the library was given tables of hostile values: all types of Python and NumPy, whole "
        "numbers that floats round, decimals, enumerations, times of many zones and of none, bytes, texts "
        "that look like numbers, dates and missing values, and bytes that are no text. Each record was read "
        "together with the others and alone (*dependent*: it became something else); none may be refused. "
        "Then fits were replayed on neighbours that differ in a hostile record, or in all rows of a hostile "
        "person: rows and persons, both relations, tables and plain numbers. *Moved* is how far the worst "
        "pair moved an answer, as a part of what was paid for. "
        f"**{n_records:,} records, {n_dependent} dependent; {n_pairs:,} pairs, {n_above} above what was "
        "paid.**"
    )
    rows = [
        (
            one.name,
            one.n_records,
            one.n_dependent,
            one.n_pairs,
            one.moved,
            "held" if one.held else f"FAILED {one.error}",
        )
        for one in found
    ]
    enough = effort.quick or (n_records >= _LEAST_RECORDS and n_pairs >= _LEAST_PAIRS)
    header = ("reader", "records", "dependent", "pairs", "moved", "outcome")
    return Findings(text, Table(header, rows), passed=enough and all(one.held for one in found))
