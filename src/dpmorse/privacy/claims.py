"""What a claim of differential privacy must state, point by point, as NIST SP 800-226 asks of it."""

from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

from dpmorse.privacy.noise import GaussianNoise, LaplaceNoise, RandomChoice

Report = Any
"""A ``PrivacyReport``. Its module imports this one: a report states its claims."""


def claims_of(report: Report) -> dict[str, str]:
    """Return points and sentences; everything follows from the report."""
    return {
        "Unit of privacy": report.budget.protects.protected,
        "Neighbours": report.budget.protects.neighbours,
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
