"""Make text from users and files safe to show on a page."""

import json
import unicodedata
from typing import Any

LONGEST_NAME = 120
"""Most characters of a name on a page; longer ones are cut."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""What is shown for a character that is hidden."""

_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories that are hidden: controls, surrogates, separators of lines and of paragraphs."""

_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Bidirectional classes that are hidden, because they could change the order in which text is displayed."""


def plain(text: str, at_most: int = LONGEST_NAME) -> str:
    """Return text without control characters, tricks with the direction of writing, or great length."""
    shown = "".join(
        _REPLACEMENT
        if unicodedata.category(character) in _UNPRINTABLE
        or unicodedata.bidirectional(character) in _DIRECTIONS
        else character
        for character in text[: at_most + 1]
    )
    return shown if len(shown) <= at_most else f"{shown[: at_most - 1]}\N{HORIZONTAL ELLIPSIS}"


def json_for_script(value: Any) -> str:
    """Return JSON that cannot end the script element it stands in, nor break a line of it.

    Everything but ASCII is escaped by ``json``, U+2028 and U+2029 with it.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
