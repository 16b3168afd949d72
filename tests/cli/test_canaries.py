"""No training value, exact count, label or seed in any file, output or error."""

import json
import re

import pytest

# A value, a number of rows and a seed that nothing else would produce.
VALUE = 41.736251
N_ROWS = 1237
SEED = 918273645
NAME = "Zaphod"
SECRETS = ("41.736251", "41.7362", "1237", "918273645", NAME)

FAST = ["--epsilon", "9", "--bounds", "0,300", "--base", "DPMoGHard", "--components", "3"]


@pytest.fixture
def no_secret():
    """Check that a text holds none of the secrets as a word of its own."""

    def check(text, where=""):
        for secret in SECRETS:
            assert not re.search(rf"(?<![\w.]){re.escape(secret)}(?![\d])", text), (
                f"{secret} in {where}: {text[:400]}"
            )

    return check


@pytest.fixture
def table(here):
    rows = [f"{VALUE},{i % 90},{NAME}{i // 3}" for i in range(N_ROWS)]
    path = here / "secret.csv"
    path.write_text("a,b,who\n" + "\n".join(rows) + "\n")
    return path


def test_files_and_outputs_of_all_commands(table, here, run, no_secret):
    args = ["--columns", "a,b", *FAST]
    commands = [
        ["bounds", table, "-o", "bounds.toml"],
        ["fit", table, *args, "-o", "m.json", "--budget", "team.budget", "--budget-epsilon", 30],
        ["fit", table, *args, "-o", "seeded.json", "--seed", SEED, "--budget", "team.budget", "--json"],
        ["fit", table, *args, "-o", "units.json", "--unit", "who", "--max-rows", 2],
        ["fit", table, *args, "-o", "dropped.json", "--missing", "drop", "--json"],
        ["fit", table, "--columns", "a,b", "--epsilon", 2, "--private-bounds", "-o", "default.json"],
        ["show", "--model", "m.json"],
        ["show", "--model", "seeded.json", "--json"],
        ["show", "--budget", "team.budget", "--json"],
        ["cut", "--model", "m.json", "--clusters", 1, "-o", "one.json"],
        ["sample", "--model", "m.json", "--rows", 20, "-o", "s.csv", "--seed", SEED],
        ["report", "--model", "seeded.json", "-o", "report.html"],
        ["predict", table, "--model", "m.json", "-o", "labels.csv"],
        ["predict", table, "--model", "m.json", "-o", "labels.parquet"],
    ]
    for command in commands:
        no_secret(run(*command).output, command[0])
    for path in here.iterdir():
        if path != table and path.suffix != ".parquet":
            no_secret(path.read_text(), path.name)


def test_labels_are_in_the_labels_file_only(table, here, run):
    run("fit", table, "--columns", "a,b", *FAST, "-o", "m.json")
    run("predict", table, "--model", "m.json", "-o", "labels.csv")
    labels = (here / "labels.csv").read_text().split()[1:]
    assert len(labels) == N_ROWS
    text = (here / "m.json").read_text()
    assert "labels" not in json.loads(text)
    assert ", ".join(labels[:20]) not in text


BROKEN = {
    "text in a column of numbers": (f"a,b,who\n{VALUE},{NAME},x\n", []),
    "a short row": (f"a,b,who\n{VALUE},1,x\n{VALUE}\n", []),
    "a long row": (f"a,b,who\n{VALUE},1,x,{NAME}\n", []),
    "a missing value": (f"a,b,who\n{VALUE},,{NAME}\n", []),
    "infinity": (f"a,b,who\n{VALUE},inf,{NAME}\n", []),
    "no names": (f"{VALUE},1,{NAME}\n{VALUE},1,{NAME}\n", []),
    "a unit that is missing": (
        f"a,b,who\n{VALUE},1,\n{VALUE},2,{NAME}\n",
        ["--unit", "who", "--max-rows", "1"],
    ),
    "more components than records": (f"a,b,who\n{VALUE},1,{NAME}\n", ["--clusters", "4"]),
    "no rows left": (f"a,b,who\n,{VALUE},{NAME}\n", ["--missing", "drop"]),
}


@pytest.mark.parametrize(("content", "options"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("debug", [False, True])
def test_errors(content, options, debug, here, no_secret):
    from typer.testing import CliRunner

    from dpmorse.cli.application import app

    (here / "x.csv").write_text(content)
    columns = [] if content.startswith(str(VALUE)) else ["--columns", "a,b"]
    args = ["fit", "x.csv", *FAST, *columns, *options, "--seed", str(SEED), "-o", "m.json"]
    result = CliRunner().invoke(app, [*(["--debug"] if debug else []), *args])
    assert result.exit_code == 1, result.output
    no_secret(result.output, "an error")
    assert ("Traceback" in result.output) is debug
    assert not (here / "m.json").exists()


def test_a_budget_that_refuses(table, run, no_secret):
    args = ["fit", table, "--columns", "a,b", *FAST, "-o", "m.json"]
    no_secret(run(*args, "--budget", "b", "--budget-epsilon", 1, code=3).output)
