"""Two builds are the same, byte for byte, and hold what they should and nothing else."""

import tarfile
import zipfile
from pathlib import Path

import pytest

import dpmorse
from tools import build
from tools.lock import ROOT

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """Both distributions, built twice and compared."""
    folder = tmp_path_factory.mktemp("dist")
    hashes = build.build_twice(folder)
    return {Path(name).suffix: folder / name for name in hashes}


@pytest.fixture
def in_wheel(distributions):
    with zipfile.ZipFile(distributions[".whl"]) as wheel:
        return set(wheel.namelist())


def test_the_wheel_holds_the_package_and_its_licence(in_wheel):
    sources = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()
    }
    package = {name for name in sources if "__pycache__" not in name}
    information = f"dpmorse-{dpmorse.__version__}.dist-info"
    own = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert in_wheel == package | {f"{information}/{name}" for name in own}
    assert "dpmorse/py.typed" in in_wheel


def test_the_wheel_holds_no_tests_data_or_compiled_code(in_wheel):
    endings = {Path(name).suffix for name in in_wheel if name.startswith("dpmorse/")}
    assert endings <= {".py", ".pyi", ".typed", ".html", ".css", ".js", ".yaml"}
    assert "dpmorse/privacy/__init__.pyi" in in_wheel, "a package reads its names there"
    assert not any(
        part in name for name in in_wheel for part in ("test", "__pycache__", "audits", "benchmark")
    )


def test_the_source_distribution_can_be_tested(distributions):
    with tarfile.open(distributions[".gz"]) as archive:
        names = {Path(*Path(member.name).parts[1:]).as_posix() for member in archive}
        owners = {(member.uid, member.gid, member.uname) for member in archive}
    wanted = ["pyproject.toml", "Makefile", "SECURITY.md", "requirements/dev.txt", "tests/conftest.py"]
    assert {*wanted, "audits/sections/kills.py", "tools/build.py", "src/dpmorse/py.typed"} <= names
    assert not any("__pycache__" in name or name.endswith((".pyc", ".csv", ".parquet")) for name in names)
    assert len(owners) == 1, "who has built it is nobody's business"


def test_builds_that_differ_are_refused(monkeypatch, tmp_path):
    original = build._build

    def differing(copy):
        (copy / "src/dpmorse/where.py").write_text(f"PLACE = {str(copy)!r}\n")
        return original(copy)

    monkeypatch.setattr(build, "_build", differing)
    with pytest.raises(SystemExit, match="two builds differ"):
        build.build_twice(tmp_path / "dist")
    assert not (tmp_path / "dist").exists()
