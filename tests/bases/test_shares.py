"""Plans spend what the table of shares says, which docs/default.md shows."""

from dataclasses import fields

import pytest

from dpmorse import Nominal, Numeric, PrivateGaussianMixture
from dpmorse.bases.staged import shares
from dpmorse.bases.staged.shares import (
    COMPONENTS,
    CORESET,
    DIRECTIONS,
    HISTOGRAM,
    LEVELS,
    MOMENTS,
    OUTSKIRTS,
    PROFILE,
    RANGES,
    Shares,
)
from tools.shares import REGIMES

STAGES = (LEVELS, RANGES, MOMENTS, OUTSKIRTS, HISTOGRAM, DIRECTIONS, CORESET, COMPONENTS, PROFILE)
"""The names that plans give to the fields of ``Shares``, in their order."""


def numbers(n, missing="refuse"):
    return {f"number {j}": Numeric(0, 1, missing=missing) for j in range(n)}


WARD = {"ward": Nominal(["north", "south"])}
TABLES = {
    "numbers, 1 or 2 columns": [numbers(1), numbers(2)],
    "numbers, 3 to 32 columns": [numbers(3), numbers(32)],
    "numbers, more than 32 columns": [numbers(33)],
    "numbers that may be missing, 1 or 2 columns": [numbers(1, "ignore"), numbers(2, "ignore")],
    "numbers that may be missing, 3 to 32 columns": [numbers(3, "ignore"), numbers(32, "ignore")],
    "categories and numbers, or more than 32 columns that may be missing": [
        {**numbers(1), **WARD},
        {**numbers(3, "level")},
        numbers(33, "ignore"),
    ],
    "categories only": [WARD],
}
CASES = [(regime, columns) for regime, tables in TABLES.items() for columns in tables]


def planned(columns, **parameters):
    """Return the costs of the stages of a plan, as parts of their sum."""
    stages = PrivateGaussianMixture(epsilon=1.0, columns=columns, **parameters).plan(len(columns)).stages
    total = sum(stage.cost for stage in stages)
    return {stage.name: stage.cost / total for stage in stages}


@pytest.mark.parametrize("profile", [True, False])
@pytest.mark.parametrize(("regime", "columns"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_a_plan_has_the_shares_of_its_row(regime, columns, profile):
    split = REGIMES[regime][0 if profile else 1]
    parts = dict(zip(STAGES, (getattr(split, each.name) for each in fields(split)), strict=True))
    wanted = {name: part for name, part in parts.items() if part}
    found = planned(columns, profile=profile)
    assert list(found) == list(wanted)
    assert found == pytest.approx(wanted)


def test_every_row_has_a_table_here_and_adds_up():
    assert set(TABLES) == set(REGIMES)
    for split in (split for both in REGIMES.values() for split in both):
        assert sum(getattr(split, each.name) for each in fields(split)) == pytest.approx(1.0)


def test_every_stated_value_is_in_a_row():
    stated = [value for value in vars(shares).values() if isinstance(value, Shares)]
    assert stated
    rows = [split for both in REGIMES.values() for split in both]
    assert all(value in rows for value in stated)
