"""The precision attack: releases on a grid, and no low bits that tell."""

from audits.attacks import low_bits
from audits.section import Cell, Effort, Findings, Table

NAME, TITLE = "precision", "The precision attack"


def run(effort: Effort) -> Findings:
    """Look for telling bits in releases of a count of 0 and a count of 1."""
    runs = effort.pick(quick=100_000, full=2_000_000)
    betrayed, off_grid = low_bits.attack(runs)
    empty, occupied = low_bits.attack_on_floats(runs, 12.0)
    rows: list[tuple[Cell, ...]] = [
        ("the library's", 2 * runs, betrayed, off_grid),
        ("NumPy's float noise, count 0", runs, empty, "-"),
        ("NumPy's float noise, count 1", runs, occupied, "-"),
    ]
    text = (
        "Haney et al. (2022): a float 1 + noise is always a multiple of 2^-53, 0 + noise often is not. "
        "Half of the releases below are of a count of 0, half of a count of 1. An event is a release that "
        f"only one of the two can produce; for the library's there were **{betrayed} events in "
        f"{2 * runs:,} releases**, and all of them are multiples of its unit, 2^-28."
    )
    table = Table(("noise", "releases", "events", "off the grid"), rows)
    return Findings(text, table, passed=betrayed == off_grid == occupied == 0 and empty > 0)
