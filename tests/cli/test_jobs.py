"""What a nightly job needs: exit codes, a log, no surprises by pipes, noise said before it is paid for."""

import json
import os
import re
import subprocess
import sys
from datetime import datetime

import pytest

from dpmorse import load

FAST = ["--epsilon", "9", "--bounds", "0,300", "--base", "DPMoGHard", "--components", "3"]
PROFILED = ["--bounds", "0,300", "--clusters", "2", "--components", "2", "--seed", "1", "-o", "m.json"]


def in_a_shell(command, **environment):
    """Run a line of bash, in which ``dpmorse`` is the command; return its output and its exit code."""
    function = f'dpmorse() {{ "{sys.executable}" -m dpmorse.cli "$@"; }}; set -o pipefail; {command}'
    return subprocess.run(
        ["bash", "-c", function],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def events(path="log.jsonl"):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def few(here, csv_file):
    """Sixty rows, of which noise hides all."""
    lines = csv_file.read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:61]) + "\n")
    return "few.csv"


# -- --strict ---------------------------------------------------------------------------------------------


def test_strict_ends_with_5_where_clusters_may_be_noise(few, run):
    result = run("fit", few, "--epsilon", 0.2, *PROFILED, "--strict", code=5)
    assert "may be published" not in result.output
    assert "2 of 2 clusters may be noise, which --strict forbids. The budget is spent" in result.stderr
    assert load("m.json").n_clusters_ == 2, "it is paid for, and is there"
    result = run("fit", few, "--epsilon", 0.2, *PROFILED, "--force")
    assert "may be published" in result.stdout


def test_strict_says_nothing_where_clusters_stand_out(csv_file, run):
    result = run("fit", csv_file, "--epsilon", 9, *PROFILED, "--strict")
    assert "it may be published." in result.stdout


def test_strict_holds_with_json_and_quiet(few, run):
    args = ["fit", few, "--epsilon", 0.2, *PROFILED, "--strict", "--force"]
    assert json.loads(run(*args, "--json", code=5).stdout)["clusters"]
    assert run(*args, "--quiet", code=5).stdout == ""


def test_strict_is_refused_before_a_fit_that_could_not_tell(csv_file, run, here):
    said = run("fit", csv_file, *FAST, "-o", "m.json", "--strict", code=1).stderr
    assert "--base DPMoGHard does not release" in said
    assert not (here / "m.json").exists()


# -- many clusters ----------------------------------------------------------------------------------------


def test_how_many_records_many_clusters_need_is_said_before_anything_is_spent(csv_file, run, here):
    budget = ["--budget", "team.budget", "--budget-epsilon", 0.5]
    args = ["--epsilon", 1, "--bounds", "0,300", "--base", "DPLloyd", "--clusters", 21, "--components", 21]
    said = run("fit", csv_file, *args, "-o", "m.json", *budget, code=3).stderr
    found = re.search(r"--clusters 21 needs about (\d+) records or more, (\d+) in each", said)
    assert int(found[1]) == 21 * int(found[2])
    assert "Nothing is spent yet." in said
    assert "needs about" not in run("fit", csv_file, *FAST, "--clusters", 3, "-o", "m.json").stderr


def test_show_folds_what_is_more_than_twelve_clusters(csv_file, run, run_json):
    args = [
        "--epsilon",
        500,
        "--bounds",
        "0,300",
        "--base",
        "DPMoGHard",
        "--clusters",
        40,
        "--components",
        40,
    ]
    run("fit", csv_file, *args, "-o", "m.json", "--quiet", "--seed", 1)
    n_clusters = load("m.json").n_clusters_
    assert n_clusters > 20
    lines = run("show", "m.json").stdout.splitlines()
    shown = [line for line in lines if re.match(r"cluster \d+: ", line)]
    assert len(shown) == 12
    assert any(f"Not shown: {n_clusters - 12} more clusters" in line for line in lines), lines
    assert len(run_json("show", "m.json")["clusters"]) == n_clusters


# -- --log ------------------------------------------------------------------------------------------------


def test_the_log_says_what_a_job_did_and_when(csv_file, run):
    run("fit", csv_file, "--epsilon", 9, *PROFILED, "--quiet", "--log", "log.jsonl")
    run("report", "m.json", "-o", "r.html", "--log", "log.jsonl")
    run("fit", csv_file, "--epsilon", -1, *PROFILED, "--force", "--log", "log.jsonl", code=1)
    run("show", "m.json", "--budget", "x", "--log", "log.jsonl", code=2)
    told = events()
    times = [datetime.fromisoformat(line["time"]) for line in told]
    assert times == sorted(times)
    assert all(time.tzinfo is not None for time in times)
    kinds = [(line["event"], line.get("command"), line.get("exit_code")) for line in told]
    assert [kind for kind in kinds if kind[0] in {"started", "finished"}] == [
        ("started", "fit", None),
        ("finished", None, 0),
        ("started", "report", None),
        ("finished", None, 0),
        ("started", "fit", None),
        ("finished", None, 1),
        ("started", "show", None),
        ("finished", None, 2),
    ]
    fitted = next(line for line in told if line["event"] == "fitted")
    assert (fitted["output"], fitted["clusters"], fitted["may_be_noise"]) == ("m.json", 2, [])
    assert fitted["epsilon"] == pytest.approx(9)
    errors = [line["text"] for line in told if line["event"] == "error"]
    assert "epsilon must be a finite number > 0" in errors[0]
    assert "give either a model or --budget" in errors[1]


def test_the_log_has_warnings_and_the_account(few, run):
    budget = ["--budget", "team.budget", "--budget-epsilon", 1]
    args = ["--epsilon", 0.2, *PROFILED, "--strict", *budget, "--log", "log.jsonl"]
    run("fit", few, *args, code=5)
    told = events()
    assert any("it may be noise" in line["text"] for line in told if line["event"] == "warning")
    fitted = next(line for line in told if line["event"] == "fitted")
    assert fitted["may_be_noise"] == [0, 1]
    assert 0 < fitted["budget"]["spent"] <= 0.2 + 1e-6
    assert told[-1]["exit_code"] == 5


def test_the_log_of_records_with_other_values_is_the_same(here, run, patients):
    """Nothing is read off the records: what a failed fit says of them is names only."""
    logs = []
    for secret in ("Zaphod", "Ford"):
        (here / "x.csv").write_text(f"age,pressure\n50,120\n51,{secret}\n")
        run("fit", "x.csv", *FAST, "-o", "m.json", "--log", "log.jsonl", code=1)
        logs.append([{**line, "time": None} for line in events()])
        os.remove("log.jsonl")
    assert logs[0] == logs[1]


def test_a_log_never_replaces_or_changes_another_file(csv_file, model_file, run, here):
    before = {path: path.read_bytes() for path in (csv_file, model_file)}
    for path in before:
        said = run("fit", csv_file, *FAST, "-o", "m.json", "--log", path, code=1).stderr
        assert "--log must name a new file, or a log that lines are added to" in said
    assert "got the folder" in run("fit", csv_file, *FAST, "-o", "m.json", "--log", ".", code=1).stderr
    said = run("fit", csv_file, *FAST, "-o", "m.json", "--log", "m.json", code=1).stderr
    assert "--log must not be the file of -o" in said
    said = run("fit", csv_file, *FAST, "-o", "m.json", "--log", "none/l.jsonl", code=1).stderr
    assert "No such file" in said
    assert {path: path.read_bytes() for path in before} == before
    assert not (here / "m.json").exists()


# -- pipes and colours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show --model model.json --json", "show --model model.json"])
def test_who_reads_a_few_lines_only_is_no_error(command, model_file):
    done = in_a_shell(f"dpmorse {command} | head -n 1 >/dev/null")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fit_into_a_closed_pipe_writes_its_model(csv_file, here):
    """Also where warnings and results go into the same pipe, which is closed before anything is spent."""
    fit = f"dpmorse fit patients.csv {' '.join(FAST)} --seed 1 -o m.json 2>&1"
    done = in_a_shell(f"{fit} | true")
    assert done.returncode == 0, done.stderr
    assert load("m.json").n_clusters_ >= 1


def test_strict_keeps_its_exit_code_in_a_closed_pipe(few):
    done = in_a_shell(f"dpmorse fit few.csv --epsilon 0.2 {' '.join(PROFILED)} --strict | true")
    assert done.returncode == 5, done.stderr


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color(environment, coloured, here, monkeypatch):
    """On a terminal errors have colours, unless their reader wants none."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "dpmorse.cli", "show", "none.json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", **environment},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        check=False,
    )
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "No such file" in said
    assert ("\x1b[" in said) == coloured


# -- words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "meant"),
    [
        (["fit", "patients.csv", *FAST, "--columns", "age,presure", "-o", "m.json"], 1, "'pressure'"),
        (["fit", "patients.csv", *FAST, "--exclude", "AGE", "-o", "m.json"], 1, "'age'"),
        (["fit", "patients.csv", *FAST[:4], "--base", "DPLoyd", "-o", "m.json"], 1, "'DPLloyd'"),
        (["fit", "patients.csv", *FAST, "--clusters", "atuo", "-o", "m.json"], 1, "'auto'"),
        (["fit", "patients.csv", *FAST, "--missing", "dorp", "-o", "m.json"], 2, "'drop'"),
        (["fit", "patients.csv", *FAST, "--neighboring", "replace_one", "-o", "m.json"], 1, "'replace-one'"),
        (["fit", "patients.csv", *FAST, "--dates", "dayfirst", "-o", "m.json"], 1, "'day-first'"),
    ],
)
def test_did_you_mean(args, code, meant, csv_file, run):
    said = " ".join(run(*args, code=code).stderr.split())
    assert f"Did you mean {meant}?" in said


def test_nothing_is_suggested_for_what_is_like_nothing(csv_file, run):
    said = run("fit", csv_file, *FAST, "--columns", "xyzzy", "-o", "m.json", code=1).stderr
    assert "Did you mean" not in said


def test_bounds_the_wrong_way_round_name_their_column(csv_file, run, here):
    (here / "b.toml").write_text(
        "[bounds]\nage = { lower = 0, upper = 9 }\npressure = { lower = 9, upper = 5 }\n"
    )
    said = run("fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "-o", "m.json", code=1).stderr
    assert "got 9 > 5 in the column 'pressure'." in said
    said = run("fit", csv_file, "--epsilon", 1, "--bounds", "9,5", "-o", "m.json", code=1).stderr
    assert "bounds: lower must not exceed upper, got 9 > 5. Give" in said


def test_a_quiet_report_and_a_debug_option_that_can_be_found(model_file, run):
    assert run("report", model_file, "-o", "r.html", "--quiet").output == ""
    assert "may be published" in run("report", model_file, "-o", "r.html", "--force").stderr
    assert "--debug" in run("--help").stdout
