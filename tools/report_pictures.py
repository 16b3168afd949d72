"""Pictures of the report for docs/report.md, of the models of ``dpmorse demo``.

``python -m tools.report_pictures`` needs Pillow and a Chromium: Playwright's, or the one whose path is in
``CHROMIUM``. Noise is drawn anew, so that numbers differ from one time to the next.
"""

import io
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

_TARGET = Path(__file__).parents[1] / "docs" / "images"

_MOST_BYTES = 120_000
"""Largest picture that is kept in the repository."""

_COLOURS = (256, 128, 64, 32, 16)
"""Sizes of the palette, tried in turn until a picture is small enough."""


@dataclass(frozen=True)
class State:
    """One picture: the page, its state, and the part of it that is taken."""

    name: str
    page: str = "table-report.html"
    width: int = 1180
    height: int = 1000
    dark: bool = False
    n_clusters: int | None = None
    above: str | None = None
    """The element at the top of the picture; None is the top of the page."""
    printed: bool = False


STATES = (
    State("report", height=1060),
    State("report-dark", page="report.html", dark=True, n_clusters=7, height=800),
    State("report-categories", above="#levels-card", height=420),
    State("report-table", above="#clusters", height=640),
    State("report-narrow", width=390, height=1300),
    State("report-print", width=800, printed=True, height=1130),
)


def main() -> None:
    """Fit the demo's models and take all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        demo = [sys.executable, "-m", "dpmorse.cli", "demo", "-o", folder, "--force", "--quiet"]
        subprocess.run(demo, check=True)
        path = os.environ.get("CHROMIUM")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"] if path else [])
        for state in STATES:
            taken = _small(_taken(browser, state, Path(folder)))
            (_TARGET / f"{state.name}.png").write_bytes(taken)
            sys.stdout.write(f"{state.name}: {len(taken):,} bytes\n")
        browser.close()


def _taken(browser: Any, state: State, folder: Path) -> bytes:
    """Open the page, bring it into its state, and take the part that is wanted."""
    context = browser.new_context(
        viewport={"width": state.width, "height": state.height},
        color_scheme="dark" if state.dark else "light",
    )
    page = context.new_page()
    page.goto((folder / state.page).as_uri())
    if state.n_clusters is not None:
        page.fill("#k-number", str(state.n_clusters))
    if state.printed:
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(300)
    top = 0.0 if state.above is None else page.locator(state.above).bounding_box()["y"] - 12
    clip = {"x": 0, "y": top, "width": state.width, "height": state.height}
    picture: bytes = page.screenshot(full_page=True, clip=clip)
    context.close()
    return picture


def _small(picture: bytes) -> bytes:
    """Return the picture with as many colours as there is room for."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    for n_colours in _COLOURS:
        kept = io.BytesIO()
        image.quantize(n_colours, dither=Image.Dither.NONE).save(kept, "PNG", optimize=True)
        if kept.tell() <= _MOST_BYTES:
            break
    return kept.getvalue()


if __name__ == "__main__":
    main()
