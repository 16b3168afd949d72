"""Columns of categories without an order."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from dpmorse import _validate
from dpmorse.schema.columns.base import CategoryColumn, Column, Form
from dpmorse.schema.columns.listed import ListedColumn
from dpmorse.schema.columns.ordinal import Ordinal
from dpmorse.schema.spellings import OTHER, Value, text_of


@dataclass(frozen=True)
class Nominal(ListedColumn, CategoryColumn):
    """A column of categories without an order.

    Parameters
    ----------
    values : sequence of str, int or bool
        Categories, from public knowledge. All other values become the category "other", which is added.
    missing : {"refuse", "ignore", "level"}
        Missing values are an error; or they are left out of all sums; or they are a further category.
    label : str
        What people call the column, such as "age at admission": for sentences, tables and pictures.

    Examples
    --------
    >>> Nominal(["employed", "retired"], missing="level").levels
    ('employed', 'retired', 'other', 'missing')
    """

    values: Sequence[Value]
    _: KW_ONLY
    missing: str = "refuse"
    label: str = field(default="", repr=False)

    form = Form(
        needed=("values",),
        optional=("ordered",),
        example='{ values = ["employed", "retired"] }',
        empty='{ values = "?" }',
        lines=(
            ("status", '{ values = ["employed", "retired"] }', 'categories; others become "other"'),
            ("grade", '{ values = ["low", "mid", "high"], ordered = true }', "categories in order"),
        ),
    )

    @classmethod
    def from_entry(cls, *, ordered: object = False, **entry: Any) -> Column:
        """Build the column that an entry of a bounds file describes: an ordinal one where it is ordered."""
        return (Ordinal if _validate.boolean(ordered=ordered) else cls)(**entry)

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Names of the categories; "other" and "missing" are added unless they are listed."""
        return self._with_added([str(text_of(value)) for value in self.values])

    def code_of(self, value: object) -> float:
        """Return the place of a value's level. None is a missing value, which may have no level: NaN."""
        if value is None:
            return self._code_of_missing
        text = text_of(value)
        return self._other if text is None else self._places.get(text, self._other)

    @cached_property
    def _other(self) -> int:
        return self.levels.index(OTHER)

    def _stated(self, shown: Callable[[str], str]) -> str:
        return f"one of {self._in_words(shown)}"

    @property
    def _domain_in_words(self) -> str:
        return f"one of {len(self.values)} listed values"
