"""Files are whole or not there, whatever happens; faults are told without quoting anything."""

import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from dpmorse import DPMoGHard, load
from dpmorse.cli import outputs
from dpmorse.cli.labels_file import table_writer, without_formulas

FAST = ["--epsilon", "9", "--bounds", "0,300", "--base", "DPMoGHard", "--components", "3"]


def no_space(*_, **__):
    raise OSError(28, "No space left on device")


def only(folder, *names):
    return sorted(os.listdir(folder)) == sorted(names)


# -- a full disk --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("broken", ["dpmorse.cli.outputs.os.replace", "dpmorse.cli.outputs.os.fsync"])
def test_a_full_disk_leaves_the_old_labels(name, broken, here, run, model_file, csv_file, monkeypatch):
    (here / name).write_text("old")
    monkeypatch.setattr(broken, no_space)
    result = run("predict", csv_file, "--model", model_file, "-o", name, "--force", code=1)
    assert "No space left on device" in result.stderr
    assert (here / name).read_text() == "old"
    assert only(here, name, "model.json", "patients.csv")


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_failure_between_two_batches_leaves_the_old_labels(name, here, run, model_file, monkeypatch):
    monkeypatch.setattr("dpmorse.records.files.text.text_file._BLOCK_BYTES", 64)
    (here / "x.csv").write_text("age,pressure\n" + "50,120\n" * 50 + "50,text\n")
    (here / name).write_text("old")
    run("predict", "x.csv", "--model", model_file, "-o", name, "--force", code=1)
    assert (here / name).read_text() == "old"
    assert only(here, name, "model.json", "x.csv")


def test_a_full_disk_after_a_fit_says_that_the_budget_is_spent(here, run, csv_file, monkeypatch):
    (here / "m.json").write_text("old")
    monkeypatch.setattr("dpmorse._atomic.os.replace", no_space)
    result = run("fit", csv_file, *FAST, "-o", "m.json", "--force", code=1)
    assert "the budget is spent, but the model could not be written" in result.stderr
    assert (here / "m.json").read_text() == "old"
    assert only(here, "m.json", "patients.csv")


def test_a_place_that_cannot_be_written_to_is_found_before_the_fit(run, csv_file, monkeypatch):
    monkeypatch.setattr("dpmorse.cli.outputs.tempfile.TemporaryFile", no_space)
    monkeypatch.setattr(
        "dpmorse.records.files.data_file.DataFile.open", lambda *_: pytest.fail("data was opened")
    )
    assert "nothing can be written" in run("fit", csv_file, *FAST, "-o", "m.json", code=1).stderr


def test_an_interruption_leaves_nothing(tmp_path):
    def interrupted():
        with outputs.replacing(str(tmp_path / "a.csv")) as temporary, open(temporary, "w") as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert only(tmp_path)


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    code = f"""
import time
from dpmorse.cli.outputs import replacing
with replacing({str(path)!r}) as temporary:
    with open(temporary, "w") as file:
        file.write("half")
    print("ready", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert path.read_text() == "old"


# -- faults -------------------------------------------------------------------------------------------


def fault(*_, **__):
    raise ValueError("could not convert SECRET to float")


def test_a_fault_is_told_without_quoting(run, csv_file, monkeypatch):
    monkeypatch.setattr("dpmorse.bases.base.read_numbers", fault)
    result = run("fit", csv_file, *FAST, "-o", "m.json", code=4)
    assert "went wrong (ValueError)" in result.stderr
    assert "SECRET" not in result.output


def test_debug_shows_where(csv_file, monkeypatch):
    from typer.testing import CliRunner

    from dpmorse.cli.application import app

    monkeypatch.setattr("dpmorse.bases.base.read_numbers", fault)
    result = CliRunner().invoke(app, ["--debug", "fit", str(csv_file), *FAST, "-o", "m.json"])
    assert result.exit_code == 4
    assert "Traceback" in result.stderr
    assert "--debug" in CliRunner().invoke(app, ["--help"]).stdout


def test_not_enough_memory(run, csv_file, monkeypatch):
    def hungry(*_, **__):
        raise MemoryError

    monkeypatch.setattr("dpmorse.bases.base.read_numbers", hungry)
    assert "not enough memory" in run("fit", csv_file, *FAST, "-o", "m.json", code=1).stderr


# -- spreadsheets -------------------------------------------------------------------------------------


def test_text_is_never_a_formula():
    texts = ["=1", "+1", "-1", "@x", "\tx", "\rx", "\uff1d1", "plain", "a=b", "", None, "'=1"]
    guarded = without_formulas(pa.array(texts)).to_pylist()
    assert guarded == [
        "'=1",
        "'+1",
        "'-1",
        "'@x",
        "'\tx",
        "'\rx",
        "'\uff1d1",
        "plain",
        "a=b",
        "",
        None,
        "'=1",
    ]


def test_numbers_stay_numbers(tmp_path):
    table = pa.table(
        {"-x": [-1.5, 2.0], "n": [-1, 2], "yes": [True, False], "day": pa.array([0, 1], pa.date32())}
    )
    with table_writer(str(tmp_path / "a.csv"), table.schema) as write:
        write(table)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == ['"\'-x","n","yes","day"', '-1.5,-1,true,"1970-01-01"', '2,2,false,"1970-01-02"']


# -- terminals ----------------------------------------------------------------------------------------


def test_a_bar_is_drawn_on_a_terminal_only(run, csv_file, monkeypatch):
    from dpmorse.cli import progress

    shown = []
    original = progress.Bars.add_task
    monkeypatch.setattr(
        progress.Bars,
        "add_task",
        lambda self, what, **options: shown.append(what) or original(self, what, **options),
    )
    run("fit", csv_file, *FAST, "-o", "a.json")
    assert shown == []
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    with progress.progress_bar(shown=True) as bar, bar.fraction("reading \x1b[31m") as update:
        update(0.5)
    with progress.progress_bar(shown=False) as bar, bar.fraction("nothing") as update:
        update(1.0)
    with progress.progress_bar(shown=True) as bar, bar.passes():
        DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(np.zeros((9, 2)))
    assert shown == ["reading \\x1b[31m", "preparing"]


class Terminal:
    """A stderr that says it is a terminal, and forgets."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def fileno(self):
        raise OSError


# -- the real program ---------------------------------------------------------------------------------


def program(*args, **options):
    script = os.path.join(os.path.dirname(sys.executable), "dpmorse")
    return subprocess.run([script, *map(str, args)], capture_output=True, text=True, check=False, **options)


def test_the_installed_program(csv_file, here):
    csv_file.write_text(csv_file.read_text().replace("pressure", "h\xf6he"), encoding="utf-8")
    result = program("fit", csv_file, *FAST, "-o", "m.json", "--json", "--seed", 1)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("{")
    assert "\x1b" not in result.stdout + result.stderr
    assert load(here / "m.json").privacy_.secure is False
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert "h\\xf6he" in program("show", "--model", "m.json", env=ascii_only).stdout


def test_a_closed_pipe_is_no_fault(model_file):
    shell = f"{sys.executable} -m dpmorse.cli show --model {model_file} | true"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert "went wrong" not in result.stderr


@pytest.mark.long
def test_a_fit_that_is_killed_stays_spent_and_leaves_no_model(here, csv_file):
    """Kill the real program between its reservation and its end."""
    code = f"""
import sys, time
from dpmorse.cli import main
import dpmorse.bases.base as fitting
def wait(*_):
    print("ready", flush=True)
    time.sleep(60)
fitting.read_numbers = wait
sys.argv = ["dpmorse", "fit", {str(csv_file)!r}, *{FAST!r}, "-o", "m.json", "--budget", "team.budget", "--budget-epsilon", "10"]
main()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=here)
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    process.stdout.close()
    assert only(here, "patients.csv", "team.budget")
    result = program("fit", csv_file, *FAST, "-o", "m.json", "--budget", "team.budget", cwd=here)
    assert result.returncode == 3
    assert "interrupted" in result.stderr
