"""A small part of YAML, enough for an entry of a registry: mappings, lists of text, numbers, text, comments.

Text is quoted, or a literal block where it is long; nothing is folded, no anchors, no types.
"""

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_WIDTH = 110
_STEP = "  "


@dataclass(frozen=True)
class Noted:
    """A value with a comment above it."""

    value: Any
    note: str


def to_yaml(content: Mapping[str, Any]) -> str:
    """Return nested mappings as YAML."""
    return "".join(f"{line}\n" for line in _mapping(content, ""))


def _mapping(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in content.items():
        if isinstance(value, Noted):
            yield from _comment(value.note, indent)
        yield from _entry(name, value.value if isinstance(value, Noted) else value, indent)


def _comment(text: str, indent: str) -> list[str]:
    prefix = f"{indent}# "
    return textwrap.wrap(text, _WIDTH, initial_indent=prefix, subsequent_indent=prefix)


def _entry(name: str, value: Any, indent: str) -> Iterator[str]:
    inner = indent + _STEP
    if isinstance(value, Mapping):
        yield f"{indent}{name}:"
        yield from _mapping(value, inner)
    elif isinstance(value, list):
        yield f"{indent}{name}:"
        yield from (f"{inner}- {_quoted(item)}" for item in value)
    elif isinstance(value, str) and _is_long(value):
        yield f"{indent}{name}: |-"
        lines = (
            textwrap.wrap(line, _WIDTH - len(inner), break_on_hyphens=False, break_long_words=False)
            for line in value.split("\n")
        )
        yield from (f"{inner}{line}".rstrip() for wrapped in lines for line in wrapped or [""])
    else:
        yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: str | float) -> str:
    if isinstance(value, str):
        return value if _is_word(value) else _quoted(value)
    return repr(value) if "e" not in repr(value) or "." in repr(value) else repr(value).replace("e", ".0e")


def _is_word(text: str) -> bool:
    """Say whether text needs no quotes: letters, digits and single hyphens, and no number, date or truth."""
    return (
        text.replace("-", "").isascii()
        and text.replace("-", "").isalnum()
        and text[0].isalpha()
        and (text.lower() not in {"yes", "no", "on", "off", "true", "false", "null", "y", "n"})
    )


def _is_long(text: str) -> bool:
    """Say whether text is better a block; a block cannot hold characters that are not printed."""
    printed = all(character.isprintable() or character == "\n" for character in text)
    return printed and text[:1].isalnum() and ("\n" in text or len(text) > _WIDTH // 2)


def _quoted(text: str) -> str:
    """Return text in double quotes; what is not printed is escaped as YAML does, which JSON mostly shares."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
