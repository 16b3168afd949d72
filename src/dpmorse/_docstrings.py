"""Describe parameters that several estimators share once, and show them in the docstring of each.

In the docstring of a class an item ``a, b, c`` with the text ``Those of ...; see ``Other``.`` stands for the
items of these names in the docstring of ``Other``. What ``help`` shows has them all.
"""

import inspect
import re
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_ITEM = re.compile(r"^(?P<names>\w[\w, ]*)(?P<kind> : [^\n]*)?\n(?P<text>(?:[ ]{4}[^\n]*\n)+)", re.MULTILINE)
"""An item of a numpy docstring: a line with names, and the indented lines that describe them."""

_REFERENCE = "    Those of "
"""How the text of an item begins that refers to the items of another class."""


def with_items_of(shared: type, described: Class) -> Class:
    """Replace the items of a class that refer to another one by that one's."""
    known = {
        name: item.group()
        for item in _ITEM.finditer(_text(shared))
        if not item["text"].startswith(_REFERENCE)
        for name in _names(item)
    }

    def full(item: re.Match[str]) -> str:
        if not item["text"].startswith(_REFERENCE) or f"``{shared.__name__}``" not in item["text"]:
            return item.group()
        return "".join(dict.fromkeys(known[name] for name in _names(item)))

    described.__doc__ = _ITEM.sub(full, _text(described))
    return described


def _text(described: type) -> str:
    return inspect.cleandoc(described.__doc__ or "") + "\n"


def _names(item: re.Match[str]) -> list[str]:
    return item["names"].split(", ")
