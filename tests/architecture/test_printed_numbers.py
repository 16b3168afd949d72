"""Every number that README and the start page state is one that a command of the repository prints.

The list below has each statement with its command. Statements are made of what the command wrote, so that a page that
was measured anew and a README that was not disagree here; a number that no statement has fails, too.
"""

import inspect
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from dpmorse import DPMorse
from tools.quality_chart import PICTURE, cell, of_mean, of_peer, picture

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UTILITY, WORD = "python -m benchmarks.utility", "a word, not a measurement"


def seeds():
    return re.search(r"Seeds: (\d+)\.", (ROOT / "docs/results.md").read_text(encoding="utf-8"))[1]


def n_generated():
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    return re.search(r"at least as good on \d+ of (\d+) sets", text)[1]


def generated(method):
    return cell("results.md", "Generated sets", "all", method)


def wide(pattern):
    """What docs/choosing.md says of bounds that are ten times too wide."""
    text = " ".join((ROOT / "docs/choosing.md").read_text(encoding="utf-8").split())
    return re.search(pattern, text)[0]


def n_patients_of_the_picture():
    source = (ROOT / "examples/pictures.py").read_text(encoding="utf-8")
    return int(re.search(r"make_patients\(([\d_]+),", source)[1])


STATED = {
    "README.md": [
        ("python examples/pictures.py", lambda: f"some of {n_patients_of_the_picture():,} invented patients"),
        (WORD, lambda: "smaller is stronger, 1 is a common choice"),
        ("pyproject.toml", lambda: f"Python {PROJECT['requires-python'].replace('>=', '>= ')}"),
        ("pyproject.toml", lambda: f"Licence: {PROJECT['license']}"),
        (
            "dpmorse fit --help",
            lambda: f"{inspect.signature(DPMorse).parameters['delta'].default:g} by default".replace(
                "-0", "-"
            ),
        ),
        (WORD, lambda: "1 is perfect, 0 is chance"),
        (
            "python -m tools.quality_chart",
            lambda: (
                f"At epsilon = 1, mean over six public datasets and {seeds()} seeds, DPMorse reaches "
                f"{of_mean('DPMorse')}; diffprivlib's k-means reaches {of_peer('diffprivlib KMeans')} and "
                f"Google's clustering {of_peer('Google LSH clustering')}. Without any privacy, k-means reaches "
                f"{of_mean('KMeans')}, a Gaussian mixture {of_mean('GaussianMixture')} and HDBSCAN "
                f"{of_mean('HDBSCAN')}."
            ),
        ),
        (
            UTILITY,
            lambda: (
                f"On {n_generated()} generated sets that no weight was set on it reaches "
                f"{generated('DPMorse, eps 1')}, k-means {generated('KMeans')} and a Gaussian mixture "
                f"{generated('GaussianMixture')}, both without privacy."
            ),
        ),
        (
            f"{UTILITY} --methods DPMorse --epsilons 1 --bounds-factor 10 --seeds 30",
            lambda: (
                f"ten times too wide they {wide('cost [.0-9]+ ± [.0-9]+')} of this index, mean over the six and "
                f"{wide('[0-9]+ seeds')}, and sloan falls {wide('(?<=sloan )from [.0-9]+ to [.0-9]+')}, "
                f"{wide('its worst seed from [.0-9]+ to [.0-9]+')}"
            ),
        ),
    ],
    "docs/index.md": [
        (WORD, lambda: "The adjusted Rand index is 1 where clusters are the known classes, and 0 at chance"),
        (WORD, lambda: "semicolons, -999, ids, Excel"),
    ],
}


def prose(text):
    """What a reader reads as text: no code, addresses, alternative texts, or years of papers; one space a gap."""
    text = re.sub(r"^---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(    .*|\d\. )", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]*>|https?://\S+", "", text)
    text = re.sub(r"`([A-Za-z]+)`", r"\1", text)
    text = re.sub(r"(et al\.|[A-Z][a-z]+) \d{4}\b", r"\1", text)  # years of papers
    return " ".join(re.sub(r"`[^`]*`", "", text).split())


@pytest.mark.parametrize("document", STATED)
def test_every_number_is_one_that_a_command_prints(document):
    left = prose((ROOT / document).read_text(encoding="utf-8"))
    for command, statement in STATED[document]:
        assert statement() in left, f"{document} does not say what {command} prints: {statement()}"
        left = left.replace(statement(), "", 1)
    unlisted = re.findall(r"(?<![A-Za-z\d])\S*\d\S*", left)
    assert not unlisted, f"No command is named for {unlisted}."


@pytest.mark.parametrize(
    "command", sorted({command for stated in STATED.values() for command, _ in stated} - {WORD})
)
def test_the_commands_exist(command):
    module = re.match(r"python -m ([\w.]+)", command)
    file = re.fullmatch(r"(?:python )?([\w/]+\.\w+)", command)
    if module:
        assert find_spec(module[1])
    elif file:
        assert (ROOT / file[1]).exists()
    else:
        assert command.startswith("dpmorse ")


COMMAND = re.compile(r"python -m [a-z_.]+|`make audit`|\bdpmorse [a-z]+")
GUIDES = sorted(path for path in (ROOT / "docs").glob("*.md") if path.stem != "architecture")


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_table_of_measurements_stands_beside_the_command_that_prints_it(path):
    text = path.read_text(encoding="utf-8")
    if re.search(r"Written by `?benchmarks/|This page is written by `make audit`", text[:300]):
        return
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    measured = [
        section
        for section in sections
        if "±" in section
        or re.search(r"^\|.*\| *[*+-]*[\d,]*\.?\d+( %| GB| s)?[*]* *\|", section, flags=re.MULTILINE)
    ]
    assert [section.splitlines()[0] for section in measured if not COMMAND.search(section)] == []


def test_the_chart_is_of_the_pages_as_they_are():
    assert PICTURE.read_text(encoding="utf-8") == picture()
