"""Shared parameters of estimators: described once, and shown with each of them.

The docstring of a class describes its own parameters. Those of its parents are added to the same sections, so
that ``help`` shows them all.
"""

import inspect
import re
from typing import Any

_SECTIONS = ("Parameters", "Attributes")
_SECTION, _FLAGS = r"^{}\n-+\n(?P<items>.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL
"""A section, up to the next one."""
_ITEM = re.compile(r"^(?P<names>\w[\w, ]*)(?: : [^\n]*)?\n(?:[ ]{4}[^\n]*\n)+", re.MULTILINE)
"""An item of a numpy docstring: a line with names, and the indented lines that describe them."""


def complete(described: type[Any]) -> None:
    """Add the parameters and attributes that the parents of a class describe to its docstring."""
    text = _text(described)
    for name in _SECTIONS:
        sections = (re.search(_SECTION.format(name), _text(parent), _FLAGS) for parent in described.__mro__)
        items = [item for section in sections if section for item in _ITEM.finditer(section["items"])]
        distinct = {item["names"]: item.group() for item in reversed(items)}  # its own before its parents'
        ordered = "".join(distinct[names] for names in dict.fromkeys(item["names"] for item in items))
        text = _with_section(text, name, ordered)
    described.__doc__ = text


def _text(described: type[Any]) -> str:
    return inspect.cleandoc(described.__dict__.get("__doc__") or "") + "\n"


def _with_section(text: str, name: str, items: str) -> str:
    """Replace the items of a section, or put the section before the notes."""
    if not items:
        return text
    section = f"{name}\n{'-' * len(name)}\n{items}\n"
    own = re.search(_SECTION.format(name), text, _FLAGS)
    if own:
        return f"{text[: own.start()]}{section}{text[own.end() :]}"
    before = re.search(r"^(Notes|Examples)\n-+\n", text, re.MULTILINE)
    at = before.start() if before else len(text)
    return f"{text[:at].rstrip()}\n\n{section}{text[at:]}"
