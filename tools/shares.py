"""Shares of the budget of the default base, as docs/default.md shows them: ``python -m tools.shares``."""

from dataclasses import fields

from dpmorse.bases.staged import shares
from dpmorse.bases.staged.shares import Shares

REGIMES = {
    "numbers, 1 or 2 columns": (shares.PLANE, shares.PLANE_WITHOUT_PROFILE),
    "numbers, 3 to 32 columns": (shares.ROUNDS, shares.ROUNDS_WITHOUT_PROFILE),
    "numbers, more than 32 columns": (
        shares.ROUNDS.with_directions(),
        shares.ROUNDS_WITHOUT_PROFILE.with_directions(),
    ),
    "numbers that may be missing, 1 or 2 columns": (
        shares.PLANE_WITH_MISSING,
        shares.PLANE_WITH_MISSING_WITHOUT_PROFILE,
    ),
    "numbers that may be missing, 3 to 32 columns": (
        shares.ROUNDS_WITH_MISSING,
        shares.ROUNDS_WITH_MISSING_WITHOUT_PROFILE,
    ),
    "categories and numbers, or more than 32 columns that may be missing": (
        shares.PRODUCTS.with_profile(),
        shares.PRODUCTS,
    ),
    "categories only": (shares.LEVELS_ONLY.with_profile(), shares.LEVELS_ONLY),
}
"""By the columns of a table: the shares with a profile, and without."""


def table() -> str:
    """Return the shares in percent, as a table of Markdown; an empty cell is a stage that is not made."""
    stages = [stage.name for stage in fields(Shares)]
    rows = [["columns", *stages]]
    for columns, (with_profile, without) in REGIMES.items():
        rows.append([columns, *_percentages(with_profile)])
        rows.append(["the same, `profile=False`", *_percentages(without)])
    head, *lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *lines])


def _percentages(split: Shares) -> list[str]:
    """Return the shares of the stages as people read them."""
    parts = (100 * getattr(split, stage.name) for stage in fields(split))
    return [f"{part:.3g}" if part else "" for part in parts]


if __name__ == "__main__":
    print(table())
