"""Plain data from files: strict JSON, and checks that name the field and the value it must have."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from dpmorse.exceptions import DPMorseError, ModelFormatError

_LARGEST_NUMBER = 1e300
"""The largest absolute value that is read from a file: below the largest float, so that sums of a few do not
overflow."""

_Value = TypeVar("_Value")


def parse_json(data: bytes) -> Any:
    """Parse JSON; raise ``ValueError`` for duplicate keys and for NaN and infinity."""
    return json.loads(data.decode(), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys: Python would keep the last one, so that one epsilon could hide another."""
    merged = dict(pairs)
    if len(merged) != len(pairs):
        raise ValueError("a key appears twice")
    return merged


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def number(name: str, value: object) -> float:
    """Return a finite number or say which field is not one."""
    if type(value) not in (int, float) or not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:  # type: ignore[operator]
        raise ModelFormatError(f"{name} must be a finite number.")
    return float(value)  # type: ignore[arg-type]


def names(name: str, value: object, length: int) -> list[str]:
    """Return a list of ``length`` different strings or say what is wrong."""
    listed = of_type(name, value, list)
    if len(listed) != length or not all(isinstance(item, str) for item in listed):
        raise ModelFormatError(f"{name} must hold {length} names.")
    if len(set(listed)) != length:
        raise ModelFormatError(f"{name} must hold different names.")
    return listed


def numbers(name: str, value: object, length: int) -> list[float]:
    """Return a list of ``length`` finite numbers or say what is wrong."""
    listed = of_type(name, value, list)
    if len(listed) != length:
        raise ModelFormatError(f"{name} must hold {length} numbers.")
    return [number(name, item) for item in listed]


def holds_boolean(value: object) -> bool:
    """Say whether there is a boolean in nested lists: NumPy would take it for a number among numbers."""
    return any(map(holds_boolean, value)) if isinstance(value, list) else isinstance(value, bool)


def fields(name: str, content: object, *keys: str) -> Mapping[str, Any]:
    """Return a dictionary that has exactly these keys."""
    parts = of_type(name, content, dict)
    if set(parts) != set(keys):
        raise ModelFormatError(f"{name} must have exactly the fields {', '.join(keys)}.")
    return parts


def of_type(name: str, value: object, kind: type[_Value]) -> _Value:
    """Return a value of exactly this type."""
    if type(value) is not kind:
        raise ModelFormatError(f"{name} must be of type {kind.__name__}.")
    return value


def rebuild(name: str, build: Callable[[], _Value]) -> _Value:
    """Call a constructor; turn its error about a value into an error about the file."""
    try:
        return build()
    except ModelFormatError:
        raise
    except (DPMorseError, ValueError, TypeError, OverflowError) as error:
        raise ModelFormatError(f"{name} is not valid: {str(error)[:200]}") from None
