"""Make the pictures of the gallery anew, by running its pages: ``python -m tools.gallery [PAGE ...]``.

The blocks of a page run one after the other in one namespace, as its test runs them; figures that they leave
open become ``docs/images/gallery/PAGE-1.png``, ``PAGE-2.png``, ...
"""

import argparse
import contextlib
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

_DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in (_DOCS / "gallery").glob("*.md") if path.stem != "index")
_DPI, _N_COLOURS = 72, 128


def run_page(path: Path) -> None:
    """Run the blocks of a page in an empty folder; their figures stay open."""
    namespace: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for code in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
            exec(compile(code, str(path), "exec"), namespace)  # noqa: S102 - the page's own code


def main() -> None:
    """Write the pictures of some pages, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="names of pages; all if none is given")
    wanted = parser.parse_args().pages
    mpl.use("Agg")
    for path in PAGES:
        if not wanted or path.stem in wanted:
            run_page(path)
            _save_figures(_DOCS / "images/gallery" / path.stem)


def _save_figures(stem: Path) -> None:
    """Save open figures in few colours: a third of the bytes, and no difference to the eye."""
    for i, number in enumerate(plt.get_fignums(), 1):
        path = f"{stem}-{i}.png"
        plt.figure(number).savefig(path, dpi=_DPI)
        with Image.open(path) as image:
            small = image.convert("RGB").quantize(
                _N_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        small.save(path, optimize=True)
        print(f"{os.path.relpath(path, _DOCS)}: {os.path.getsize(path) / 1000:.0f} kB")
    plt.close("all")


if __name__ == "__main__":
    main()
