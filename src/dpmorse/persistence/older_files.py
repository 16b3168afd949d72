"""Convert model files of version 1 to the fields of the current version.

Version 1 stated the epsilon and rho of what was *used* as the promise, and did not say what was reserved,
nor the unit of groups. What was reserved follows from the parameters: the reader adds it from the plan.
"""

from typing import Any, Final


class _NotStated:
    """The type of a value that JSON cannot express, so that no file can pretend to be older than it is."""


NOT_STATED: Final = _NotStated()
"""Marks a field that files of version 1 do not have."""


def from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with the fields of version 2.

    Malformed parts are left as they are; the checks of every document refuse them.
    """
    if isinstance(document.get("base"), dict):
        return {**document, "base": from_version_1(document["base"])}
    privacy = document.get("privacy")
    return {**document, "privacy": _privacy(privacy)} if isinstance(privacy, dict) else document


def _privacy(privacy: dict[str, Any]) -> dict[str, Any]:
    if "reserved" in privacy or "used" in privacy:  # fields that version 1 does not have
        return {}
    budget = privacy.get("budget")
    if isinstance(budget, dict):
        budget = {} if "unit" in budget else {**budget, "unit": None}
    used = {key: privacy.get(key) for key in ("epsilon", "rho")}
    stated = {"epsilon": NOT_STATED, "rho": NOT_STATED, "reserved": NOT_STATED}
    return {**privacy, **stated, "budget": budget, "used": used}
