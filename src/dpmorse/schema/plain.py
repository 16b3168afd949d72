"""Columns as plain data in a model file, and back."""

from datetime import date
from typing import Any

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.schema.columns import Boolean, Column, Date, Nominal, Numeric, Ordinal

_PARTS: dict[type[Column], tuple[str, ...]] = {
    Numeric: ("lower", "upper", "integer", "missing"),
    Ordinal: ("values", "missing"),
    Nominal: ("values", "missing"),
    Boolean: ("missing",),
    Date: ("earliest", "latest", "missing"),
}
"""What is written of each kind of column."""

_KINDS = {kind.__name__.lower(): kind for kind in _PARTS}
"""What the kinds are called in files."""


def column_to_plain(name: str, column: Column) -> dict[str, Any]:
    """Return a column as plain data."""
    parts = {part: _plain(getattr(column, part)) for part in _PARTS[type(column)]}
    return {"name": name, "kind": type(column).__name__.lower(), **parts}


def column_from_plain(content: object) -> tuple[str, Column]:
    """Return the name and the column of plain data."""
    kind = _KINDS.get(of_type("the kind of a column", _kind_of(content), str))
    if kind is None:
        raise ModelFormatError(f"the kind of a column must be one of {', '.join(_KINDS)}.")
    parts = dict(fields("a column", content, "name", "kind", *_PARTS[kind]))
    name = of_type("the name of a column", parts.pop("name"), str)
    parts.pop("kind")
    checked: dict[str, Any] = {part: _checked(part, value) for part, value in parts.items()}
    return name, rebuild("a column", lambda: kind(**checked))


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _kind_of(content: object) -> object:
    return of_type("a column", content, dict).get("kind")


def _checked(part: str, value: object) -> object:
    """Refuse what Python would take for something else than is written there."""
    if part in {"lower", "upper"}:
        return number(part, value)
    kinds = {"integer": bool, "values": list}
    return of_type(part, value, kinds.get(part, str))
