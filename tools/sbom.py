"""A bill of materials: everything that the lock file installs, as CycloneDX 1.6 JSON.

    python -m tools.sbom > dist/dpmorse.cdx.json

The same lock file gives the same bytes. Licences are those that installed packages state; a package that is
not installed here, or in another version, has none in the list. ``uv export --format cyclonedx1.5`` needs
a uv.lock beside our lock files, stamps the time and knows no licences.
"""

import json
import sys
import tomllib
import uuid
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import ROOT, Locked, read_lock

_LONGEST_LICENCE = 120
"""Longer licences are left out: some packages put the whole text in the field of its name."""


def bill_of_materials() -> dict[str, Any]:
    """Return the bill as plain data."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = _needed(project)
    components = [_component(locked, needed) for locked in read_lock(ROOT / "requirements/dev.txt")]
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
    """Return what an installation needs, directly and further down, whatever the platform, without extras."""
    found: set[str] = set()
    todo = [canonicalize_name(Requirement(line).name) for line in project["dependencies"]]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            lines = [Requirement(line) for line in _stated(name).get("requires_dist", [])]
            todo += [canonicalize_name(one.name) for one in lines if "extra ==" not in str(one.marker)]
    return found


def _licences(locked: Locked) -> list[dict[str, Any]]:
    """Return what the installed package says about its licence."""
    stated = _stated(locked.name)
    if stated.get("version") != locked.version:
        return []
    if expression := stated.get("license_expression"):
        return [{"expression": expression}]
    named = [line.split(" :: ")[-1] for line in stated.get("classifier", []) if line.startswith("License")]
    plain = stated.get("license", "")
    if not named and plain and len(plain) <= _LONGEST_LICENCE and "\n" not in plain:
        named = [plain]
    return [{"license": {"name": name}} for name in named]


def _stated(name: str) -> dict[str, Any]:
    """Return what an installed package says of itself; nothing of one that is not installed."""
    try:
        return metadata(name).json
    except PackageNotFoundError:
        return {}


if __name__ == "__main__":
    json.dump(bill_of_materials(), sys.stdout, indent=2)
    sys.stdout.write("\n")
