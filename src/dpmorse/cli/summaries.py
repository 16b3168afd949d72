"""A released model, and a budget, in words and as plain data."""

from collections.abc import Mapping
from typing import Any

from dpmorse.cli.clusters import clusters_to_dict
from dpmorse.cli.messages import printable
from dpmorse.cli.models import Model, column_names
from dpmorse.privacy import Ledger, PrivacyReport


def model_privacy(model: Model) -> PrivacyReport:
    """Return what the fit promises."""
    report: PrivacyReport = model.privacy_
    return report


def model_to_dict(model: Model, path: str, *, population: bool = False) -> dict[str, Any]:
    """Return what is known of a model as plain data for --json."""
    return {
        "model": path,
        "estimator": type(model).__name__,
        "columns": column_names(model),
        "components": model.mixture_.n_components,
        **clusters_to_dict(model, population=population),
        "privacy": _privacy_to_dict(model_privacy(model)),
    }


def _privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    return {
        "epsilon": report.epsilon,
        "delta": report.delta,
        "neighboring": report.neighboring,
        "unit": report.budget.protects.word,
        "max_rows_per_group": report.budget.max_rows_per_group,
        "rho": report.rho,
        "used": {"epsilon": report.used.epsilon(report.delta), "rho": report.used.rho},
        "secure": report.secure,
        "statement": report.statement,
        "releases": report.to_dicts(),
    }


def budget_to_dict(ledger: Ledger) -> dict[str, Any]:
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
