"""What the documents show is run, and what they refer to exists."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.long
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_python_examples_run(path, tmp_path, monkeypatch):
    """Each block by itself; those of a page of the gallery one after the other."""
    from matplotlib import pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    of_page, is_one_program = {}, path.parent.name == "gallery"
    for code in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(code, str(path), "exec"), of_page if is_one_program else {})
    plt.close("all")


def found_in_documents(pattern):
    """Return what a pattern finds, each with its document."""
    found = [
        (path, one) for path in DOCUMENTS for one in re.findall(pattern, path.read_text(encoding="utf-8"))
    ]
    assert found
    return found


def test_links_between_documents_lead_somewhere():
    links = found_in_documents(r"\]\(([^)#:]+)\)")
    assert not [(path.name, target) for path, target in links if not (path.parent / target).exists()]


def test_files_and_tests_that_are_named_exist():
    named = found_in_documents(r"`((?:tests|src|docs|benchmarks|examples)/[\w/]+\.\w+)`")
    assert not [(path.name, name) for path, name in named if not (ROOT / name).exists()]


def test_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {target for _, target in found_in_documents(r"`make ([a-z-]+)")}
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in named)


def test_theorems_cited_in_code_are_in_the_privacy_document():
    document = (ROOT / "docs/privacy.md").read_text(encoding="utf-8")
    for path in (ROOT / "src").rglob("*.py"):
        for kind, number in re.findall(r"(Theorem|Lemma) (\d+)", path.read_text(encoding="utf-8")):
            assert f"**{kind} {number}" in document, f"{path.name}: {kind} {number}"


def test_every_public_estimator_has_its_row_of_theorems():
    import dpmorse

    document = (ROOT / "docs/privacy.md").read_text(encoding="utf-8")
    public = [getattr(dpmorse, name) for name in dpmorse.__all__]
    estimators = {kind.__name__ for kind in public if hasattr(kind, "fit_predict")}
    assert estimators
    assert {name for name in estimators if f"| `{name}` |" not in document} == set()


def test_the_shares_of_the_budget_are_those_of_the_code():
    from dpmorse import DPMorse
    from dpmorse.bases.staged.shares import OF_PROFILE
    from tools.shares import table

    assert f"\n\n{table()}\n\n" in (ROOT / "docs/default.md").read_text(encoding="utf-8")
    of_profile = f"{100 * OF_PROFILE:.3g} % of the budget"
    assert of_profile in DPMorse.__doc__
    assert of_profile in (ROOT / "docs/numbers.md").read_text(encoding="utf-8")


def benchmark_commands():
    """Every benchmark that a document tells people to run, with the options it names."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for module, rest in re.findall(r"python -m (benchmarks\.\w+)([^`\n)]*)", text):
            yield module, frozenset(re.findall(r"--[a-z-]+", rest))


@pytest.mark.parametrize(("module", "options"), sorted(set(benchmark_commands()), key=str))
def test_benchmarks_that_are_named_have_the_options_that_are_named(module, options, monkeypatch, capsys):
    """They take minutes to hours: that their commands parse is what a test can say."""
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        import_module(module).main()
    text = capsys.readouterr().out
    assert all(option in text for option in options)


def test_everything_that_is_exported_has_its_place_in_the_reference():
    import dpmorse

    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: ([\w.]+)", text, flags=re.MULTILINE)
    assert len(set(listed)) == len(listed)
    exported = {name: getattr(dpmorse, name) for name in dpmorse.__all__}
    classes = {name: one for name, one in exported.items() if callable(one)}
    assert len(classes) > 20
    places = {
        name: {f"dpmorse.{one.__name__}", f"{one.__module__}.{one.__name__}", one.__module__}
        for name, one in classes.items()
    }
    assert [name for name, possible in places.items() if possible.isdisjoint(listed)] == []
