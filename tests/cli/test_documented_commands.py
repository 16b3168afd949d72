"""Every command of docs/command-line.md is run, in the order of the page."""

import json
import re
import shlex
from pathlib import Path

import pytest

from dpmorse.cli.commands import COMMANDS, loaded

ROOT = Path(__file__).parents[2]
PAGE, README = ROOT / "docs/command-line.md", ROOT / "README.md"


def blocks():
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.long
def test_every_command_of_the_page_does_what_it_says(here, run):
    for language, content in blocks():
        if language == "toml":
            name = content.splitlines()[0].removeprefix("# ")
            (here / name).write_text(content)
            continue
        assert language == "sh", language
        for line in content.splitlines():
            program, *args = shlex.split(line, comments=True)
            assert program == "dpmorse"
            expected = re.search(r"# exit code (\d)", line)
            result = run(*args, code=int(expected[1]) if expected else 0)
            if "--json" in args:
                json.loads(result.stdout)
    made = {path.name for path in here.iterdir()}
    assert {
        "model.json",
        "three.json",
        "synthetic.csv",
        "report.html",
        "entry.yaml",
        "labels.parquet",
        "labels.csv",
        "audit.json",
        "audit.png",
    } <= made
    assert "third.json" not in made
    assert not [name for name in made if name.startswith(".")]


def test_all_commands_and_exit_codes_are_on_the_page(run):
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^  ([a-z]+)  ", run("--help").stdout, flags=re.MULTILINE)
    assert len(commands) == 12
    assert all(f"| `{command}` |" in page for command in commands)
    assert all(f"| {code} |" in page for code in range(6))


def test_the_help_of_every_command_has_examples_that_parse(run):
    commands = re.findall(r"^  ([a-z]+)  ", run("--help").stdout, flags=re.MULTILINE)
    for command in commands:
        text = run(command, "--help").stdout
        examples = re.findall(rf"^    dpmorse {command}.*$", text, flags=re.MULTILINE)
        assert examples, command
        for example in examples:
            options = {word for word in shlex.split(example) if word.startswith("-")}
            assert all(option in text for option in options), example


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_sentence_of_its_own_help(name):
    own = " ".join(loaded(name).help.split("\n\n")[0].split())
    assert own == COMMANDS[name].summary or own.startswith(f"{COMMANDS[name].summary} ")


def test_without_a_command_the_help_is_shown_in_lines(run):
    assert run(code=2).stderr == run("--help").stdout


def test_the_commands_of_the_readme_work(here, run):
    run("demo", "-o", "demo")
    (here / "people.csv").write_bytes((here / "demo/patients.csv").read_bytes())
    text = README.read_text(encoding="utf-8")
    lines = [
        line for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()
    ]
    assert len(lines) == 4
    for line in lines:
        program, *args = shlex.split(line)
        assert program == "dpmorse"
        run(*args)
    assert {"model.json", "labels.csv", "report.html"} <= {path.name for path in here.iterdir()}
