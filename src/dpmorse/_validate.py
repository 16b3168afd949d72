"""Validators whose keyword is the name printed in the message: ``positive_real(epsilon=epsilon)``.

Each takes one keyword argument and returns the value in its plain Python type. A message names the
parameter, what was given, what is wanted, and where it helps a hint.
"""

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real

from dpmorse.exceptions import InvalidParameterError, InvalidTypeError


def describe(value: object) -> str:
    """Return a value as text for an error message, cut to 80 characters.

    Of a table only the type is shown: it may be the records, passed as a parameter by mistake.
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and len(shape) > 1:
        return f"a table ({type(value).__name__})"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def positive_int(*, hint: str = "", at_most: int | None = None, **named: object) -> int:
    """Return an integer >= 1 (and <= ``at_most``); booleans are refused."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidTypeError(f"{name} must be an integer >= 1, got {describe(value)}.{_space(hint)}")
    number = int(value)
    if number < 1 or (at_most is not None and number > at_most):
        wanted = ">= 1" if at_most is None else f"between 1 and {at_most}"
        raise InvalidParameterError(f"{name} must be {wanted}, got {describe(value)}.{_space(hint)}")
    return number


def whole_number(*, at_most: int, hint: str = "", **named: object) -> int:
    """Return an integer from 0 to ``at_most``; booleans are refused."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidTypeError(
            f"{name} must be an integer between 0 and {at_most}, got {describe(value)}.{_space(hint)}"
        )
    if not 0 <= int(value) <= at_most:
        raise InvalidParameterError(
            f"{name} must be between 0 and {at_most}, got {describe(value)}.{_space(hint)}"
        )
    return int(value)


def positive_real(*, hint: str = "", **named: object) -> float:
    """Return a finite number > 0; booleans are refused."""
    ((name, value),) = named.items()
    number = _real(name, value, "a number > 0", hint)
    if not (math.isfinite(number) and number > 0):
        raise InvalidParameterError(
            f"{name} must be a finite number > 0, got {describe(value)}.{_space(hint)}"
        )
    return number


def open_unit_interval(**named: object) -> float:
    """Return a number strictly between 0 and 1."""
    ((name, value),) = named.items()
    number = _real(name, value, "a number between 0 and 1")
    if not 0 < number < 1:
        raise InvalidParameterError(f"{name} must lie strictly between 0 and 1, got {describe(value)}.")
    return number


def open_unit_intervals(**named: object) -> list[float]:
    """Return numbers strictly between 0 and 1, of a list of them."""
    ((name, values),) = named.items()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidTypeError(f"{name} must list numbers between 0 and 1, got {describe(values)}.")
    return [open_unit_interval(**{name: value}) for value in values]


def boolean(**named: object) -> bool:
    """Return True or False; values that are merely true or false in a condition are refused."""
    ((name, value),) = named.items()
    if not isinstance(value, bool):
        raise InvalidTypeError(f"{name} must be True or False, got {describe(value)}.")
    return value


def choice(*, among: Iterable[str], **named: object) -> str:
    """Return the value if it is one of the names in ``among``."""
    ((name, value),) = named.items()
    options = list(map(str, among))
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidParameterError(
            f"{name} must be one of {listed}, got {describe(value)}.{did_you_mean(value, options)}"
        )
    return str(value)


def did_you_mean(given: object, among: Iterable[object]) -> str:
    """Ask whether the known name that is most like a given one was meant, with a blank in front."""
    if not isinstance(given, str):
        return ""
    names = {str(name).lower(): name for name in among}
    like = difflib.get_close_matches(given[:_LONGEST_NAME].lower(), names, n=1)
    return f" Did you mean {names[like[0]]!r}?" if like else ""


_LONGEST_NAME = 200
"""Characters of a name that are compared: the time grows with their square."""


def _real(name: str, value: object, wanted: str, hint: str = "") -> float:
    """Return a number of any type as a float; booleans are refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidTypeError(f"{name} must be {wanted}, got {describe(value)}.{_space(hint)}")
    try:
        return float(value)
    except OverflowError:  # an integer larger than every float
        return math.inf


def _space(hint: str) -> str:
    return f" {hint}" if hint else ""
