"""Sensitivities: closed forms against a search, for random statistics, domains and weights."""

from audits.attacks import sensitivities
from audits.section import Effort, Findings, Table

NAME, TITLE = "sensitivity", "Sensitivities by search"


def run(effort: Effort) -> Findings:
    """Search for records that move a statistic further than declared."""
    n = effort.pick(quick=100, full=10_000)
    above, reached = sensitivities.search(n, seed=1)
    text = (
        "Random statistics (all kinds, up to five columns, box and ball, one cell or several, random "
        "weights of the blocks) and for each, under both relations, thousands of pairs of records: the "
        "ratio of the largest squared distance found to the one that sets the noise. Never above 1; under "
        "add/remove-one the closed form is attained."
    )
    rows = [(n, above, reached)]
    table = Table(("statistics", "found / declared, highest", "lowest, add/remove-one"), rows)
    return Findings(text, table, passed=above <= 1 + 1e-9 and reached >= 1 - 1e-4)
