"""Convert model files of older versions to the fields of the current one.

Version 1 stated the epsilon and rho of what was *used* as the promise, and did not say what was reserved, nor
the unit of groups. What was reserved follows from the parameters: the reader adds it from the plan. Up to
version 2 no fit released a profile, and none had a partition of its own. The profiles of version 3 were
moments of residuals: their models load without one, and the partition describes their records. What was
reserved for the releases up to version 3 is added from the plan: they had fewer noise values than those of
today.
"""

from typing import Any, Final


class _NotStated:
    """The type of a value that JSON cannot express, so that no file can pretend to be older than it is."""


NOT_STATED: Final = _NotStated()
"""Marks a field that files of version 1 do not have."""


def upgraded(document: dict[str, Any], version: int) -> dict[str, Any]:
    """Return a document with the fields of the current version."""
    if version == 1:
        document = _from_version_1(document)
    document = _from_version_2(document) if version <= 2 else document
    return _of_tables(_from_version_3(document) if version <= 3 else document)


def _from_version_3(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out a profile, and with it the mixture that it has mended."""
    if isinstance(document.get("base"), dict):
        return {**document, "base": _from_version_3(document["base"])}
    if document.get("partition") is not None:
        document = {**document, "mixture": document["partition"], "partition": None}
    privacy = document.get("privacy")
    if isinstance(privacy, dict) and "reserved" in privacy:
        document = {**document, "privacy": {**privacy, "reserved": NOT_STATED}}
    return {**document, "profile": None} if "profile" in document else document


def _of_tables(document: dict[str, Any]) -> dict[str, Any]:
    """Name the base of a table as today; the first ones had no profile, and did not say so."""
    if isinstance(document.get("base"), dict):
        return {**document, "base": _of_tables(document["base"])}
    parameters = document.get("parameters")
    if document.get("estimator") != "PrivateTableMixture" or not isinstance(parameters, dict):
        return document
    renamed = {"estimator": "PrivateGaussianMixture", "parameters": {"profile": False, **parameters}}
    return {**document, **renamed}


def _from_version_2(document: dict[str, Any]) -> dict[str, Any]:
    """Add that there is no profile. Fields that the version does not have are left for checks to refuse."""
    if "base" in document:
        base = document["base"]
        return {**document, "base": _from_version_2(base)} if isinstance(base, dict) else document
    added: dict[str, Any] = {"partition": None, "profile": None}
    if any(name in document for name in added):
        return {**document, "base": None}
    parameters = document.get("parameters")
    if document.get("estimator") == "PrivateGaussianMixture" and isinstance(parameters, dict):
        added["parameters"] = {**parameters, "profile": False} if "profile" not in parameters else None
    return {**document, **added}


def _from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1 with the fields of version 2.

    Malformed parts are left as they are; the checks of every document refuse them.
    """
    if isinstance(document.get("base"), dict):
        return {**document, "base": _from_version_1(document["base"])}
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
