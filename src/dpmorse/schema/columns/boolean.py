"""Columns of true and false."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema.columns.base import CategoryColumn, Column, Form
from dpmorse.schema.spellings import BOOLEANS, Value, text_of

_LONGEST = max(map(len, BOOLEANS))
"""Longer texts are neither true nor false; they need not be put in lower case."""


@dataclass(frozen=True)
class Boolean(CategoryColumn):
    """A column of true and false; also 1 and 0, and text such as "yes", "no", "T" and "F" in any case.

    Parameters
    ----------
    missing : {"refuse", "ignore", "level"}
        As for ``Nominal``.
    label : str
        What people call the column, such as "age at admission": for sentences, tables and pictures.

    Examples
    --------
    >>> Boolean().levels
    ('false', 'true', 'other')
    """

    _: KW_ONLY
    missing: str = "refuse"
    label: str = field(default="", repr=False)

    parts = ()
    form = Form(
        needed=("boolean",),
        optional=(),
        example="{ boolean = true }",
        empty="{ boolean = true }",
        lines=(("smoker", "{ boolean = true }", "true and false, yes and no, 1 and 0"),),
    )
    stored_as = "boolean"
    telling_level = 1

    def __post_init__(self) -> None:
        """Refuse an unknown rule."""
        self._keep()

    @classmethod
    def from_entry(cls, *, boolean: object = None, **entry: Any) -> Column:
        """Build the column that an entry of a bounds file describes."""
        if boolean is not True:
            raise InvalidParameterError(
                f"boolean must be true, got {_validate.describe(boolean)}. Other kinds have other keys."
            )
        return cls(**entry)

    @property
    def listed(self) -> tuple[Value, ...]:
        """What the first two levels stand for."""
        return False, True

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the categories."""
        return self._with_added(["false", "true"])

    def code_of(self, value: object) -> float:
        """Return the place of a value's level. None is a missing value, which may have no level: NaN."""
        if value is None:
            return self._code_of_missing
        text = text_of(value)
        known = text is not None and len(text) <= _LONGEST
        return BOOLEANS.get(str(text).lower(), 2) if known else 2

    def _stated(self, shown: Callable[[str], str]) -> str:
        return "true or false"

    @property
    def _domain_in_words(self) -> str:
        return "true or false"
