"""What the site has beyond docs/: a page for each class, formulas set in type, the report of the demo.

A hook of MkDocs, named in mkdocs.yml. ``docs/reference.md`` lists what is documented; here each entry becomes
a page, and the list links to it. Formulas become MathML, which browsers set themselves, without a script.
``make docs`` runs the demo, whose two reports become pages of the site.
"""

import html
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import griffe
from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
REPORTS = ("report.html", "table-report.html")

_INDEX = "reference.md"
_BLOCK = re.compile(r"^::: ([\w.]+)\n((?:[ ]{4}.*\n)*)", flags=re.MULTILINE)
_FORMULA = re.compile(
    r"<(span|div) class=\"arithmatex\">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>", flags=re.DOTALL
)
_TABLE = re.compile(r"(?<!</summary>\n)<table>.*?</table>", flags=re.DOTALL)
_MOST_ROWS = 30


class Entry(NamedTuple):
    """One entry of the reference: the heading it stands under, what it documents, and how."""

    heading: str
    path: str
    options: str

    @property
    def name(self) -> str:
        """Classes by their names; functions and modules by their paths, of which no class has the like."""
        last = self.path.rsplit(".", 1)[-1]
        return last if last[0].isupper() else self.path

    @property
    def page(self) -> str:
        """The file of the page."""
        return f"reference/{self.name}.md"

    @property
    def markdown(self) -> str:
        """The page: the object under the first heading."""
        options = self.options or "    options:\n"
        return f"::: {self.path}\n{options}      heading_level: 1\n"

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring."""
        found = _package()[self.path.removeprefix("dpmorse.")]
        text = found.docstring.value if found.docstring else ""
        return " ".join(text.split("\n\n")[0].split())


def on_config(config: Any) -> Any:
    """List the pages of the reference in the navigation, under their headings."""
    groups: dict[str, list[dict[str, str]]] = {}
    for entry in entries():
        groups.setdefault(entry.heading, []).append({entry.name: entry.page})
    listed = [{"Overview": _INDEX}, *({heading: pages} for heading, pages in groups.items())]
    config.nav = [{"Reference": listed} if one == {"Reference": _INDEX} else one for one in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference, and the reports that ``dpmorse demo`` wrote."""
    for entry in entries():
        files.append(File.generated(config, entry.page, content=entry.markdown))
    for name in REPORTS:
        path = ROOT / "demo-output" / name
        if not path.exists():
            raise PluginError(f"demo-output/{name} is shown on the start page: run make demo, or make docs.")
        files.append(File.generated(config, f"demo/{name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn the entries of the overview into links, each with its first sentence."""
    if page.file.src_uri != _INDEX:
        return markdown
    by_path = {entry.path: entry for entry in entries()}
    return _BLOCK.sub(lambda found: _link(by_path[found[1]]), markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Set formulas as MathML, and fold long tables, lest a page has no end."""
    return _TABLE.sub(_folded, _FORMULA.sub(_formula, content))


@cache
def entries() -> tuple[Entry, ...]:
    """Return what ``docs/reference.md`` lists, in order."""
    text = (ROOT / "docs" / _INDEX).read_text(encoding="utf-8")
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    return tuple(
        Entry(section.splitlines()[0], *found) for section in sections for found in _BLOCK.findall(section)
    )


@cache
def _package() -> Any:
    """Return dpmorse as its source says it is, without importing it."""
    return griffe.load("dpmorse", search_paths=[str(ROOT / "src")], resolve_aliases=True)


def _link(entry: Entry) -> str:
    return f"* [`{entry.path}`]({entry.page}): {entry.summary}\n"


def _folded(found: re.Match[str]) -> str:
    table = found[0]
    n_rows = table.count("<tr>") - 1
    if n_rows <= _MOST_ROWS:
        return table
    return f"<details><summary>{n_rows} rows</summary>{table}</details>"


def _formula(found: re.Match[str]) -> str:
    kind, source = found[1], html.unescape(found[2])
    if kind == "span":
        return _tight_bars(convert(source))
    return f'<div class="formula">{_tight_bars(convert(source, display="block"))}</div>'


def _tight_bars(formula: str) -> str:
    """Let bars enclose what is between them: browsers take most for operators, with space on both sides."""
    return re.sub(r"<mo[^>]*>&#x0007C;</mo>", '<mo lspace="0" rspace="0" stretchy="false">|</mo>', formula)
