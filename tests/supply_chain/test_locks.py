"""Everything that is installed is pinned by hashes, and the oldest versions are those that are promised."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.lock import LOCKS, ROOT, read_lock

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def promised():
    """Lower bounds of pyproject.toml by name, and which of them every installation needs."""
    project = PYPROJECT["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    needed = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    requirements = [Requirement(line) for line in [*project["dependencies"], *extras]]
    bounds = {
        canonicalize_name(r.name): r.specifier for r in requirements if canonicalize_name(r.name) != "dpmorse"
    }
    return {name: Version(str(bound).removeprefix(">=")) for name, bound in bounds.items()}, needed


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_pins_a_version_by_hashes(name):
    locked = read_lock(ROOT / f"requirements/{name}.txt")
    assert len(locked) > 20
    assert all(Version(one.version) and one.hashes for one in locked)
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?://|--index|--extra-index|--find-links|git\+|@ file", text)


def test_all_lock_files_are_known():
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(LOCKS)


@pytest.mark.parametrize(
    "line",
    [
        "numpy==1.26.0",
        "numpy>=1.26 --hash=sha256:" + "0" * 64,
        "numpy==1.26.0 --hash=md5:" + "0" * 32,
        "numpy==1.26.0 --hash=sha256:" + "0" * 63,
        "--index-url https://example.org numpy==1.0 --hash=sha256:" + "0" * 64,
        "numpy @ https://example.org/numpy.whl --hash=sha256:" + "0" * 64,
        "-e . --hash=sha256:" + "0" * 64,
    ],
)
def test_a_line_that_pins_nothing_is_refused(line, tmp_path):
    (tmp_path / "x.txt").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="does not pin a version by hashes"):
        read_lock(tmp_path / "x.txt")


def test_every_installation_insists_on_hashes():
    targets = ["test", "test-oldest", "test-engines", "docs"]
    command = ["make", "--dry-run", "--always-make", f"PYTHON={sys.executable}", *targets]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    installs = re.findall(r"pip install .*", told)
    from_files = [line for line in installs if " -r " in line]
    assert all("--require-hashes" in line for line in from_files)
    assert {Path(line.split(" -r ")[1]).stem for line in from_files} == set(LOCKS)
    editable = [line for line in installs if "--editable" in line]
    assert all("--no-deps" in line and "--no-build-isolation" in line for line in editable)


def test_the_oldest_versions_that_are_tested_are_the_lower_bounds():
    bounds, needed = promised()
    lines = (ROOT / "requirements/oldest.in").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line.split("#")[0]) for line in lines if "==" in line.split("#")[0]]
    tested = {canonicalize_name(r.name): Version(str(r.specifier).removeprefix("==")) for r in pinned}
    assert needed <= set(tested)
    assert {name: tested[name] for name in set(tested) & set(bounds)} == {
        name: bounds[name] for name in set(tested) & set(bounds)
    }
    installed = {canonicalize_name(one.name): one for one in read_lock(ROOT / "requirements/oldest.txt")}
    assert all(Version(installed[name].version) == version for name, version in tested.items())


def test_the_newest_versions_are_not_below_the_lower_bounds():
    bounds, _ = promised()
    newest = {
        canonicalize_name(one.name): Version(one.version)
        for name in ("engines", "dev")
        for one in read_lock(ROOT / f"requirements/{name}.txt")
    }
    assert set(bounds) <= set(newest)
    assert all(newest[name] >= bound for name, bound in bounds.items())


def test_python_classifiers_agree_with_what_is_required():
    project = PYPROJECT["project"]
    versions = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert project["requires-python"] == f">={min(versions, key=Version)}"
