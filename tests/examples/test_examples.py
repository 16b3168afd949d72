"""The notebook of examples/ runs as it is."""

import json
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
