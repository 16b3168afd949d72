"""Sensitivities: closed forms against a search, for random statistics, domains and weights."""

from audits.attacks import sensitivities
from audits.section import Effort, Findings, Table

NAME, TITLE = "sensitivity", "Sensitivities by search"

_SEARCHES = {
    "sums of cells": (sensitivities.search, 1),
    "sums of soft cells": (sensitivities.search_soft, 4),
    "sums of tables": (sensitivities.search_tables, 10),
}
"""Searches, with the relative time of one setting."""


def run(effort: Effort) -> Findings:
    """Search for records that move a statistic further than declared."""
    n, rows = effort.pick(quick=100, full=10_000), []
    for name, (search, slow) in _SEARCHES.items():
        rows.append((name, n // slow, *search(n // slow, seed=1)))
        effort.say(name)
    text = (
        "Random statistics (all kinds, up to five columns, box and ball, one cell or several, random "
        "weights of the blocks) and for each, under both relations, thousands of pairs of records: the "
        "ratio of the largest squared distance found to the one that sets the noise. Records of soft cells "
        "have shares in three of them, and another residual in each; those of tables have missing "
        "values and levels besides. Never above 1; under add/remove-one the closed form is attained."
    )
    table = Table(("what", "statistics", "found / declared, highest", "lowest, add/remove-one"), rows)
    passed = all(above <= 1 + 1e-9 and reached >= 1 - 1e-4 for *_, above, reached in rows)
    return Findings(text, table, passed=passed)
