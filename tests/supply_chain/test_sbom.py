"""The bill of materials lists what is locked, in the form that its schema asks for, the same each time."""

import json
import re
import subprocess
import sys

from tools.lock import ROOT, read_lock
from tools.sbom import bill_of_materials

BILL = bill_of_materials()


def test_it_has_what_the_schema_requires():
    assert BILL["bomFormat"] == "CycloneDX"
    assert BILL["specVersion"] == "1.6"
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", BILL["serialNumber"])
    assert type(BILL["version"]) is int
    assert BILL["version"] >= 1
    for component in [BILL["metadata"]["component"], *BILL["components"]]:
        assert component["type"] == "library"
        assert component["name"]
        assert component["purl"] == component["bom-ref"]
        assert re.fullmatch(r"pkg:pypi/[a-z0-9.-]+@[\w.+!-]+", component["purl"])
        for digest in component.get("hashes", []):
            assert digest["alg"] == "SHA-256"
            assert re.fullmatch(r"[0-9a-f]{64}", digest["content"])
        for licence in component.get("licenses", []):
            assert set(licence) in ({"expression"}, {"license"})
            assert licence.get("expression") or licence["license"]["name"]


def test_references_are_unique():
    references = [component["bom-ref"] for component in BILL["components"]]
    assert len(references) == len(set(references))


def test_it_lists_what_is_locked():
    locked = read_lock(ROOT / "requirements/dev.txt")
    listed = {
        (c["name"], c["version"], tuple(digest["content"] for digest in c["hashes"]))
        for c in BILL["components"]
    }
    assert listed == {(one.name, one.version, one.hashes) for one in locked}


def test_it_tells_what_is_needed_from_what_is_for_development():
    scopes = {component["name"]: component["scope"] for component in BILL["components"]}
    assert all(
        scopes[name] == "required" for name in ("numpy", "scikit-learn", "narwhals", "numba", "typer", "rich")
    )
    assert all(scopes[name] == "excluded" for name in ("pytest", "ruff", "hypothesis", "pyarrow"))


def test_most_licences_are_known_and_none_forbids_use():
    stated = {c["name"]: json.dumps(c["licenses"]) for c in BILL["components"] if "licenses" in c}
    assert len(stated) > len(BILL["components"]) // 2
    needed = [name for name, text in stated.items() if "GPL" in text and "LGPL" not in text]
    assert not set(needed) & {c["name"] for c in BILL["components"] if c["scope"] == "required"}


def test_it_is_the_same_each_time():
    command = [sys.executable, "-m", "tools.sbom"]
    texts = {
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(2)
    }
    assert len(texts) == 1
    assert json.loads(texts.pop()) == BILL


def test_security_policy_says_how_to_report_and_how_soon_one_is_answered():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for part in (
        "private vulnerability reporting",
        "Supported versions",
        "three days",
        "privacy",
        "in scope",
    ):
        assert part.lower() in text.lower(), part
