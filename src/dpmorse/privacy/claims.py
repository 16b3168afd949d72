"""The points that a claim of differential privacy must state according to NIST SP 800-226."""

from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.noise import GaussianNoise, LaplaceNoise, RandomChoice

Report = Any
"""A ``PrivacyReport``. Its module imports this one: a report states its claims."""


def claims_of(report: Report) -> dict[str, str]:
    """Return points and sentences; everything follows from the report."""
    return {
        "Unit of privacy": _unit(report),
        "Neighbours": _RELATIONS[report.budget.neighboring],
        "Parameters": _parameters(report),
        "Composition": _composition(report),
        "Mechanism and proof": _mechanism(report),
        "Randomness": _SYSTEM if report.secure else _SEEDED,
        "Trust model": _TRUST,
        "Not protected": _UNPROTECTED,
    }


def upwards(cost: float) -> str:
    """Write a cost with six digits, never less than it is."""
    with localcontext(Context(prec=6, rounding=ROUND_CEILING)):
        return f"{(+Decimal(cost)).normalize():f}"


def _unit(report: Report) -> str:
    budget = report.budget
    if budget.max_rows_per_group is None:
        return (
            "One record (a row of the table). Somebody who has several rows is protected less: the loss "
            "grows with their number."
        )
    return (
        f"All records of one {budget.unit_name}, of which at most {budget.max_rows_per_group} are used. "
        "Somebody who counts as several is protected less."
    )


def _parameters(report: Report) -> str:
    stated = f"epsilon = {upwards(report.epsilon)} and delta = {report.delta:g}"
    if report.budget.is_pure:
        return f"{stated}: pure differential privacy, which never fails."
    return f"{stated}; rho = {upwards(report.rho)} of zero-concentrated differential privacy was set aside."


def _composition(report: Report) -> str:
    return (
        f"The {len(report.events)} releases of this fit are added up in these parameters, each chosen with "
        "knowledge of those before. What is computed from the model costs nothing more. Other releases about "
        "the same people add to the loss, and are not counted here."
    )


def _mechanism(report: Report) -> str:
    kinds = [text for law, text in _LAWS.items() if any(isinstance(e.noise, law) for e in report.events)]
    return (
        f"{' and '.join(kinds)}. Records are rounded to a grid and added up as integers, exactly, so that no "
        "rounding error of a computer enters the proof. Sensitivities, noise and accounting are proved in "
        "docs/privacy.md of dpmorse (Theorems 1 to 9)."
    )


_ONE_MORE = "Tables of which one has one unit more. The number of records is protected as well."
_RELATIONS = {
    Neighboring.ADD_REMOVE: _ONE_MORE,
    Neighboring.ADD_REMOVE_GROUP: _ONE_MORE,
    Neighboring.REPLACE_ONE: (
        "Tables that differ in the values of one unit. The number of records is treated as public."
    ),
}

_LAWS = {
    GaussianNoise: "Discrete Gaussian noise on sums of integers",
    LaplaceNoise: "Discrete Laplace noise on sums of integers",
    RandomChoice: "random choices by the exponential mechanism",
}

_SYSTEM = "From the operating system's generator for cryptography, drawn once for each number."
_SEEDED = "NOT SECURE: from a seed. Whoever knows the seed can remove the noise."
_TRUST = (
    "Central: whoever ran the fit saw the records, added the noise and is trusted not to keep them. Readers "
    "of the result need not be trusted."
)
_UNPROTECTED = (
    "What was taken to be public: names of columns, bounds, lists of values, parameters, and any choice or "
    "scaling made before. Labels of the people the model was fitted on. Facts about groups: that people like "
    "somebody have a property can be learnt whether or not they took part. Side channels such as running "
    "time."
)
