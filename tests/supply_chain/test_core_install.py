"""What ``pip install dpmorse``, ``uvx dpmorse`` and ``pipx run dpmorse`` install is enough for the command line.

An environment with the core dependencies alone is laid out of what is installed here, without a network.
"""

import json
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.lock import ROOT

CORE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
MAIN = """
import sys
sys.path += [{source!r}, {folder!r}]
sys.argv[0] = "dpmorse"
from dpmorse.cli import main
main()
"""


def with_theirs(lines):
    """The names of distributions and of all that they need."""
    names, pending = set(), [Requirement(line) for line in lines]
    while pending:
        wanted = pending.pop()
        if wanted.name in names or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        names.add(wanted.name)
        pending += [Requirement(line) for line in distribution(wanted.name).requires or []]
    return names


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Run the command line where nothing but the core dependencies can be imported."""
    folder = tmp_path_factory.mktemp("core")
    for name in with_theirs(CORE):
        for file in distribution(name).files:
            top = folder / file.parts[0]
            if file.parts[0] not in {"..", "__pycache__"} and not top.exists():
                top.symlink_to(Path(distribution(name).locate_file(file.parts[0])))
    code = MAIN.format(source=str(ROOT / "src"), folder=str(folder))
    work = tmp_path_factory.mktemp("work")

    def run(*args, status=0):
        command = [sys.executable, "-I", "-S", "-c", code, *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)
        assert done.returncode == status, done.stderr
        return done

    run.work = work
    return run


@pytest.mark.long
def test_the_demo_and_what_needs_a_model_only(core):
    core("demo", "-o", "demo", "--quiet")
    files = {path.name for path in (core.work / "demo").iterdir()}
    assert {"patients.csv", "table.csv", "model.json", "labels.csv", "synthetic.csv", "report.html"} <= files
    assert json.loads(core("show", "demo/model.json", "--json").stdout)["columns"] == ["age", "pressure"]
    core("cut", "demo/model.json", "--clusters", 2, "-o", "two.json", "--quiet")
    core("sample", "demo/table-model.json", "--rows", 9, "--missing", "-o", "synthetic.csv")
    lines = (core.work / "synthetic.csv").read_text().splitlines()
    assert lines[0] == "age,pressure,sex,smoker,ward,admitted,cluster"
    assert len(lines) == 10
    said = core("sample", "demo/model.json", "--rows", 3, "-o", "x.parquet", status=1).stderr
    assert "uvx --from 'dpmorse[arrow]' dpmorse sample demo/model.json --rows 3 -o x.parquet" in said
    assert not (core.work / "x.parquet").exists()
    core("report", "demo/table-model.json", "-o", "page.html")
    assert "TO FILL IN" in core("registry", "demo/model.json").stdout
    core("plan", "--columns", 1, "--rows", 500, "--epsilon", 1, "--base", "DPLloyd")


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["fit", "my file.csv", "--epsilon", "1", "--bounds", "0,1", "-o", "m.json"], "arrow"),
        (["predict", "x.parquet", "m.json", "-o", "labels.csv"], "arrow"),
        (["inspect", "people.xlsx"], "excel"),
        (["bounds", "x.csv"], "arrow"),
    ],
)
def test_what_needs_pyarrow_says_how_to_go_on(core, command, extra):
    said = core(*command, status=1).stderr
    assert said.startswith("Error: files of data need pyarrow")
    assert "Traceback" not in said
    pasted = [shlex.split(line) for line in said.splitlines() if line.startswith("  ")]
    assert pasted[0] == ["uvx", "--from", f"dpmorse[{extra}]", "dpmorse", *command]
    assert pasted[1] == ["pipx", "run", "--spec", f"dpmorse[{extra}]", "dpmorse", *command]
    assert pasted[2] == ["pip", "install", f"dpmorse[{extra}]"]


def test_help_and_version_need_nothing_else(core):
    assert core("--version").stdout.startswith("dpmorse ")
    for command in ("demo", "show"):
        assert "Usage: dpmorse" in core(command, "--help").stdout
