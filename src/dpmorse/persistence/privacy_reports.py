"""Privacy reports as plain data of a model file, and back; what they state is derived anew."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from typing import Any

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.older_files import NOT_STATED
from dpmorse.privacy import (
    Budget,
    Calibration,
    Composition,
    PrivacyReport,
    ReleaseEvent,
    event_from_dict,
    event_to_dict,
)

_PRIVACY = ("budget", "calibration", "secure", "epsilon", "rho", "reserved", "used", "events")
"""The fields of a privacy report in a model file."""


def privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    """Return a privacy report as plain data: the promise, what it follows from, and what was used of it."""
    return {
        "budget": asdict(report.budget),
        "calibration": report.calibration.value,
        "secure": report.secure,
        "epsilon": report.epsilon,
        "rho": report.rho,
        "reserved": [event_to_dict(event) for event in report.reserved],
        "used": {"epsilon": report.used.epsilon(report.delta), "rho": report.used.rho},
        "events": [event_to_dict(event) for event in report.events],
    }


def privacy_from_dict(content: object) -> PrivacyReport:
    """Rebuild a privacy report and compare what it states with what its events add up to.

    A file of version 1 does not state what was reserved; the caller adds it from the plan.
    """
    parts = fields("privacy", content, *_PRIVACY)
    names = [field.name for field in dataclass_fields(Budget)]
    budget = fields("privacy.budget", parts["budget"], *names)
    report = PrivacyReport(
        budget=rebuild("privacy.budget", lambda: Budget(**budget)),
        reserved=() if parts["reserved"] is NOT_STATED else _events("privacy.reserved", parts["reserved"]),
        events=_events("privacy.events", parts["events"]),
        calibration=rebuild("privacy.calibration", lambda: Calibration(parts["calibration"])),
        secure=of_type("privacy.secure", parts["secure"], bool),
    )
    if parts["reserved"] is not NOT_STATED:
        _check_stated("privacy", parts, "privacy.reserved", report.reserved, report.delta)
    used = fields("privacy.used", parts["used"], "epsilon", "rho")
    _check_stated("privacy.used", used, "privacy.events", report.events, report.delta)
    return report


def _events(name: str, content: object) -> tuple[ReleaseEvent, ...]:
    listed = of_type(name, content, list)
    if not listed:
        raise ModelFormatError(f"{name} must not be empty.")
    return tuple(event_from_dict(event) for event in listed)


def _check_stated(
    name: str, parts: Mapping[str, Any], source: str, events: Sequence[ReleaseEvent], delta: float
) -> None:
    """Refuse an epsilon or a rho that does not follow from events."""
    total = Composition.of(events)
    for key, derived in (("epsilon", total.epsilon(delta)), ("rho", total.rho)):
        stated = number(f"{name}.{key}", parts[key])
        if not math.isclose(stated, derived, rel_tol=1e-6):
            raise ModelFormatError(
                f"{name}.{key} is stated as {stated:g}, but {source} add up to {derived:g}."
            )
