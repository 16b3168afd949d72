"""The notebook and the scripts of examples/ run as they are."""

import json
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def no_display(monkeypatch):
    import matplotlib as mpl

    mpl.use("Agg")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_every_cell_of_a_notebook_runs_and_is_stored_without_outputs(path, no_display):
    import matplotlib.pyplot as plt

    notebook = json.loads(path.read_text(encoding="utf-8"))
    namespace = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            exec(compile("".join(cell["source"]), path.name, "exec"), namespace)
    plt.close("all")
    assert 0.999 < namespace["model"].privacy_.epsilon <= 1.0
    names = sorted(file.name for file in namespace["folder"].iterdir())
    assert names == ["model.json", "report.html"]


@pytest.mark.parametrize(
    ("script", "made"), [("demo.py", {"report.html", "model.json", "clusters.png", "synthetic.csv"})]
)
def test_scripts_run(script, made, no_display, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [script, "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    assert made <= {path.name for path in tmp_path.iterdir()}
    assert "differentially private" in capsys.readouterr().out
