"""Checks of plain data that was read from a file: each names the field and says what it must be."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dpmorse.exceptions import DPMorseError, ModelFormatError

_LARGEST_NUMBER = 1e300
_Value = TypeVar("_Value")


def number(name: str, value: object) -> float:
    """Return a finite number or say which field is not one."""
    if type(value) not in (int, float) or not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:  # type: ignore[operator]
        raise ModelFormatError(f"{name} must be a finite number.")
    return float(value)  # type: ignore[arg-type]


def names(name: str, value: object, length: int) -> list[str]:
    """Return a list of ``length`` strings or say what is wrong."""
    listed = of_type(name, value, list)
    if len(listed) != length or not all(isinstance(item, str) for item in listed):
        raise ModelFormatError(f"{name} must hold {length} names.")
    return listed


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
    """Call a constructor; its complaint about a value becomes a complaint about the file."""
    try:
        return build()
    except ModelFormatError:
        raise
    except (DPMorseError, ValueError, TypeError, OverflowError) as error:
        raise ModelFormatError(f"{name} is not valid: {str(error)[:200]}") from None
