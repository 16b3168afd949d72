"""Columns of values that have an order."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse.schema.columns.base import Held, NumberColumn, is_code, with_missing
from dpmorse.schema.columns.listed import ListedColumn
from dpmorse.schema.spellings import Value, text_of
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Ordinal(ListedColumn, NumberColumn):
    """A column of values that have an order; a value becomes its rank, 0 for the first.

    Parameters
    ----------
    values : sequence of str or int
        All values, in order, from public knowledge. A value that is not listed counts as missing.
    missing : {"refuse", "ignore", "level"}
        As for ``Numeric``.
    label : str
        What people call the column, such as "age at admission": for sentences, tables and pictures.

    Examples
    --------
    >>> Ordinal(["low", "mid", "high"]).bounds
    (0.0, 2.0)
    """

    values: Sequence[Value]
    _: KW_ONLY
    missing: str = "refuse"
    label: str = field(default="", repr=False)

    form = None  # that of Nominal, with ordered = true
    shown_as = "rank"
    unit = "rank"

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and the last rank."""
        return 0.0, float(len(self.values) - 1)

    @property
    def ranks(self) -> tuple[str, ...]:
        """The values as text."""
        return tuple(str(value) for value in self.values)

    def number_of(self, value: object) -> float:
        """Return the rank of a value; NaN for one that is not listed, and for None."""
        text = text_of(value)
        return math.nan if text is None else float(self._places.get(text, math.nan))

    def encoded(self, held: Held) -> FloatArray:
        """Return the ranks, NaN for missing values and those that are not listed."""
        return held.objects().mapped(self.number_of)

    def from_codes(self, values: Any, xp: Any) -> Any:
        """Return the ranks; codes are ranks."""
        return xp.where(is_code(values, len(self.values), xp), values, xp.nan)

    def decoded(self, values: FloatArray, missing: BoolArray | None) -> npt.NDArray[Any]:
        """Return the values of the nearest ranks, None where one is missing."""
        ranks = self._whole(values).astype(np.int64)
        return with_missing(np.array([*self.values, None], dtype=object)[ranks], missing, None)

    def _plain(self, value: float) -> str:
        return self.text(value, 0)

    def text(self, value: float, decimals: int) -> str:
        """Write a rank as the value that has it."""
        return self.ranks[min(max(round(value), 0), len(self.values) - 1)]

    def _stated(self, shown: Callable[[str], str]) -> str:
        return f"in order: {self._in_words(shown)}"

    @property
    def _domain_in_words(self) -> str:
        return f"one of {len(self.values)} listed values, in an order"
