"""A budget file: opened or begun by a fit, in words and as plain data."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpmorse.cli.messages import printable
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Budget, FileLedger


def open_budget(path: str, total: float | None, budget: Budget) -> FileLedger:
    """Open a budget file, or begin one with this ``total`` and all else as in the budget of the fit."""
    if not os.path.lexists(path):
        if total is None:
            raise InvalidParameterError(
                f"there is no budget file {path!r}. To begin one, say with --budget-epsilon how much may be "
                "spent in all; its delta, neighbouring relation, unit and rows will be those of this fit."
            )
        return FileLedger(path, replace(budget, epsilon=total))
    ledger = FileLedger(path)
    if total is not None and total != ledger.budget.epsilon:
        raise InvalidParameterError(
            f"--budget-epsilon must be {ledger.budget.epsilon:g}, the total of {path!r}, got {total:g}. "
            "A total cannot be changed; leave the option out."
        )
    return ledger


def budget_to_dict(ledger: FileLedger) -> dict[str, Any]:
    """Return the budget of a ledger, what is spent of it, and what may be published about that."""
    budget = ledger.budget
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "neighboring": budget.neighboring.value,
        "unit": budget.protects.word,
        "max_rows_per_group": budget.max_rows_per_group,
        "spent": ledger.spent.epsilon(budget.delta),
        "publishable": ledger.odometer(),
    }


def budget_in_words(content: Mapping[str, Any]) -> str:
    """Say what is spent of a budget, and which of the two numbers may be published."""
    rows = content["max_rows_per_group"]
    unit = printable(content["unit"]) + ("" if rows is None else f", of which at most {rows} rows are used")
    spent = "(the account of its holder, not a promise)"
    return (
        f"epsilon {content['spent']:.6g} of {content['epsilon']:g} is spent {spent} at delta = "
        f"{content['delta']:g}, {content['neighboring']}; the unit is one {unit}.\n"
        f"May be published: epsilon {content['publishable']:.6g} so far, {content['epsilon']:g} in all."
    )
