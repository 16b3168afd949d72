"""A bill of materials: everything that the lock file installs, as CycloneDX 1.6 JSON.

    python -m tools.sbom > dist/dpmorse.cdx.json

The same lock file gives the same bytes. Licences are those that installed packages state; a package that is
not installed here, or in another version, has none in the list.
"""

import json
import sys
import tomllib
import uuid
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import ROOT, Locked, read_lock

_LONGEST_LICENCE = 120
"""Longer licences are left out: some packages put the whole text in the field of its name."""


def bill_of_materials() -> dict[str, Any]:
    """Return the bill as plain data."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    components = [_component(locked, _needed(project)) for locked in read_lock(ROOT / "requirements/dev.txt")]
    product = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{project['name']}@{project['version']}",
        "name": project["name"],
        "version": project["version"],
        "purl": f"pkg:pypi/{project['name']}@{project['version']}",
        "licenses": [{"expression": project["license"]}],
    }
    content = json.dumps([product, components], sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": product},
        "components": components,
    }


def _component(locked: Locked, needed: set[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{canonicalize_name(locked.name)}@{locked.version}"
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": locked.name,
        "version": locked.version,
        "purl": purl,
        "scope": "required" if canonicalize_name(locked.name) in needed else "excluded",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in locked.hashes],
    }
    if locked.marker:
        component["properties"] = [{"name": "python:marker", "value": locked.marker}]
    licences = _licences(locked)
    return {**component, "licenses": licences} if licences else component


def _needed(project: dict[str, Any]) -> set[str]:
    """Return the requirements of an installation, direct and indirect; all else is for development."""
    found: set[str] = set()
    todo = [canonicalize_name(Requirement(line).name) for line in project["dependencies"]]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [canonicalize_name(one.name) for one in _requirements(name)]
    return found


def _requirements(name: str) -> list[Requirement]:
    """Return the requirements of an installed package on any platform, without extras."""
    try:
        lines = [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return []
    return [one for one in lines if "extra ==" not in str(one.marker)]


def _licences(locked: Locked) -> list[dict[str, Any]]:
    """Return the licence that an installed package states."""
    try:
        stated = metadata(locked.name)
    except PackageNotFoundError:
        return []
    if stated["Version"] != locked.version:
        return []
    expression = _field(stated, "License-Expression")
    if expression:
        return [{"expression": expression}]
    named = [
        line.split(" :: ")[-1] for line in stated.get_all("Classifier", []) if line.startswith("License")
    ]
    plain = _field(stated, "License")
    if not named and plain and len(plain) <= _LONGEST_LICENCE and "\n" not in plain:
        named = [plain]
    return [{"license": {"name": name}} for name in named]


def _field(stated: PackageMetadata, name: str) -> str:
    return (stated[name] or "") if name in stated else ""


if __name__ == "__main__":
    json.dump(bill_of_materials(), sys.stdout, indent=2)
    sys.stdout.write("\n")
