"""The notebook of examples/ runs as it is and is stored with what its cells show; the gallery has its pictures."""

import json
import re
from pathlib import Path

import pytest

from tools.notebook import run_notebook

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCS = EXAMPLES.parent / "docs"


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


def test_the_gallery_has_six_pages_with_small_pictures_of_their_own():
    pages = sorted(path for path in (DOCS / "gallery").glob("*.md") if path.stem != "index")
    assert len(pages) == 6
    index = (DOCS / "gallery/index.md").read_text(encoding="utf-8")
    shown = set()
    for page in pages:
        assert f"]({page.name})" in index
        pictures = re.findall(r"\]\(\.\./images/gallery/([\w-]+\.png)\)", page.read_text(encoding="utf-8"))
        assert pictures == [f"{page.stem}-{i}.png" for i in range(1, len(pictures) + 1)]
        assert pictures
        shown |= set(pictures)
    stored = {path.name: path.stat().st_size for path in (DOCS / "images/gallery").iterdir()}
    assert set(stored) == shown
    assert max(stored.values()) < 60_000
