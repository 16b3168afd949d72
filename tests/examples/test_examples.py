"""The notebook of examples/ runs as it is, and is stored with what its cells show."""

import json
from pathlib import Path

import pytest

from tools.notebook import run_notebook

EXAMPLES = Path(__file__).parents[2] / "examples"


def kinds(notebook):
    """Return what kinds of output each cell of code has."""
    return [
        [sorted(output["data"]) for output in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_every_cell_of_a_notebook_runs_and_shows_what_is_stored(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert all(kinds(stored))
    assert path.stat().st_size < 300_000
    run, namespace = run_notebook(path)
    assert kinds(run) == kinds(stored)
    assert 0.999 < namespace["model"].privacy_.epsilon <= 1.0
    names = sorted(file.name for file in namespace["folder"].iterdir())
    assert names == ["model.json", "report.html"]
