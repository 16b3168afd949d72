"""Every way to get dpmorse says the same: versions and dependencies."""

import re
import tomllib

import yaml

import dpmorse
from tools.lock import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def recipe():
    """The conda recipe, with its version filled in."""
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    return yaml.safe_load(text.replace("${{ version }}", f'"{content["context"]["version"]}"'))


def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_versions_agree():
    versions = {
        PROJECT["version"],
        dpmorse.__version__,
        citation()["version"],
        recipe()["package"]["version"],
    }
    assert len(versions) == 1


def test_the_recipe_needs_what_the_library_and_its_files_need():
    wanted = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["excel"]}
    given = {line.replace(" ", "") for line in recipe()["requirements"]["run"]}
    assert given == wanted | {f"python{PROJECT['requires-python']}"}
    assert recipe()["build"]["python"]["entry_points"] == [f"dpmorse = {PROJECT['scripts']['dpmorse']}"]
    assert recipe()["about"]["license"] == citation()["license"] == PROJECT["license"]


def test_the_citation_has_what_the_format_asks_for():
    content = citation()
    assert content["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(content)
    assert content["authors"] == PROJECT["authors"]
    assert content["keywords"] == PROJECT["keywords"]


def test_the_image_holds_what_it_copies_and_starts_the_command():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE) for name in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    assert all(f"!{name}\n" in let_in for name in copied)
    assert 'ENTRYPOINT ["dpmorse"]' in text
    python = re.search(r"^FROM python:(3\.\d+)", text, re.MULTILINE)[1]
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
