"""Colours of the page, as its style sheet states them: text can be read on every paper, light and dark."""

import re
from importlib import resources

import pytest

CSS = resources.files("dpmorse.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
PAIRS = [
    (text, paper)
    for text in ("ink", "muted", "accent", "good", "bad")
    for paper in ("paper", "card", "faint")
] + [("good", "good-paper"), ("bad", "bad-paper")]


def colours(block):
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", block))
    return {
        name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
        for name, value in found.items()
    }


def luminance(colour):
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


BLOCKS = {
    "light": re.search(r":root \{(.*?)\}", CSS, re.DOTALL)[1],
    "dark": re.search(r':root\[data-theme="dark"\] \{(.*?)\}', CSS, re.DOTALL)[1],
    "print": CSS[CSS.index("@media print") :].split("}")[0],
}


@pytest.mark.parametrize("scheme", BLOCKS)
def test_text_can_be_read(scheme):
    found = colours(BLOCKS[scheme])
    contrasts = {(text, paper): contrast(found[text], found[paper]) for text, paper in PAIRS}
    assert not {pair: seen for pair, seen in contrasts.items() if seen < 4.5}


def test_the_dark_colours_are_the_same_in_both_places():
    by_system = re.search(r"prefers-color-scheme: dark\) \{\s*:root[^{]*\{(.*?)\}", CSS, re.DOTALL)[1]
    assert colours(by_system) == colours(BLOCKS["dark"])
