"""Columns as plain data in a model file, and back."""

from datetime import date
from typing import Any

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.schema.columns import KINDS, Column

_KINDS = {kind.__name__.lower(): kind for kind in KINDS}
"""What the kinds are called in files."""


def column_to_plain(name: str, column: Column) -> dict[str, Any]:
    """Return a column as plain data."""
    parts = {part: _plain(getattr(column, part)) for part in _parts(type(column))}
    return {"name": name, "kind": type(column).__name__.lower(), **parts}


def column_from_plain(content: object) -> tuple[str, Column]:
    """Return the name and the column of plain data."""
    called = of_type("a column", content, dict).get("kind")
    kind = _KINDS.get(of_type("the kind of a column", called, str))
    if kind is None:
        raise ModelFormatError(f"the kind of a column must be one of {', '.join(_KINDS)}.")
    parts = dict(fields("a column", content, "name", "kind", *_parts(kind)))
    name = of_type("the name of a column", parts.pop("name"), str)
    parts.pop("kind")
    checked = {part: _checked(part, value, _parts(kind)[part]) for part, value in parts.items()}
    return name, rebuild("a column", lambda: kind(**checked))


def _parts(kind: type[Column]) -> dict[str, type]:
    return {**dict(kind.parts), "missing": str}


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _checked(part: str, value: object, wanted: type) -> Any:
    """Refuse what Python would take for something else than is written there."""
    return number(part, value) if wanted is float else of_type(part, value, wanted)
