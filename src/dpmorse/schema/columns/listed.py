"""Columns whose values their owner lists: when a value of a record is one of them.

Both are compared as text, exactly. A listed number stands for all ways in which tables write it, and a listed
boolean for what files call it.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.schema.columns.base import Column
from dpmorse.schema.spellings import Value, text_of

_MOST_SHOWN = 40
"""Most values that are listed where columns are described; the others are counted."""


class ListedColumn(Column):
    """A column with a list of values."""

    values: Sequence[Value]

    parts = (("values", list),)
    stored_as = "text"

    def __post_init__(self) -> None:
        """Refuse a list that is too short or has a value twice."""
        self._keep(values=_checked(type(self).__name__, self.values))

    @property
    def listed(self) -> tuple[Value, ...]:
        """The values."""
        return tuple(self.values)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place in the list for every way to write one of its values."""
        return {way: place for place, value in enumerate(self.values) for way in _ways_to_write(value)}

    def _in_words(self, shown: Callable[[str], str]) -> str:
        more = len(self.values) - _MOST_SHOWN
        texts = [shown(str(value)) for value in self.values[:_MOST_SHOWN]]
        return ", ".join([*texts, *([f"and {more} more"] if more > 0 else [])])


def _checked(kind: str, values: object) -> tuple[Value, ...]:
    """Return a list of two or more different values, or say what is wrong with it."""
    wanted = f'{kind}: values must list two or more texts or whole numbers, such as ["low", "high"]'
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidTypeError(f"{wanted}, got {_validate.describe(values)}. Give a list of public values.")
    odd = [value for value in values if text_of(value) is None or isinstance(value, float)]
    if odd:
        raise InvalidTypeError(f"{wanted}; {_validate.describe(odd[0])} is neither. Write it as text.")
    if len(values) < 2:
        raise InvalidParameterError(f"{wanted}, got {_validate.describe(values)}. Leave out such a column.")
    seen: set[str] = set()
    for value in values:
        ways = set(_ways_to_write(value))
        if ways & seen:  # such as 1 and "1": a record could have either
            raise InvalidParameterError(
                f"{kind}: values must be different when written as text, got {_validate.describe(value)} "
                "twice. List each value once."
            )
        seen |= ways
    return tuple(values)


def _ways_to_write(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bool):
        return ("true", "True") if value else ("false", "False")
    return str(value), f"{value}.0"
