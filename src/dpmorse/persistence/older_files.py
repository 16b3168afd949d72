"""Model files of version 1, brought into the shape of today's.

Version 1 stated the epsilon and rho of what was *used* as the promise, and did not say what was reserved,
nor the unit of groups. What was reserved follows from the parameters: whoever plans with them adds it.
"""

from typing import Any, Final


class _NotStated:
    """A value that no JSON has, so that no file can pretend to be older than it says."""


NOT_STATED: Final = _NotStated()


def from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with the fields of version 2.

    Parts that are not what they should be are left to the checks that every document goes through.
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
