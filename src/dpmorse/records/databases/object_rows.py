"""Rows of a database as its driver returns them: Python objects, of which each states its own type.

They are made plain one by one. No type is looked for in a batch, so that an odd value of one record changes
nothing for the others.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from dpmorse.exceptions import InvalidTypeError
from dpmorse.records.names import listed
from dpmorse.records.values import ObjectValues, Values, plain
from dpmorse.schema import text_of


@dataclass(frozen=True)
class ObjectRows:
    """Some rows, by column."""

    columns: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Any]) -> "ObjectRows":
        """Return rows of a cursor: sequences of values or, of some cursors, mappings from names to values."""
        values = [list(row.values()) for row in rows] if isinstance(rows[0], Mapping) else rows
        return cls(dict(zip(names, zip(*values, strict=True), strict=True)))

    @property
    def values(self) -> dict[str, Values]:
        """The columns, to be read as a schema says."""
        return {name: ObjectValues(column) for name, column in self.columns.items()}

    def arrow(self, numbers: Sequence[str], others: Sequence[str], path: str) -> Any:
        """Return an Arrow batch: numbers as 64-bit floats, others as whole numbers or as text.

        What is no number is refused; ``path`` is what the table is called.
        """
        floats = {name: ObjectValues(self.columns[name]).floats() for name in numbers}
        odd = []
        for name in numbers:
            infinite = (self.columns[name][i] for i in np.flatnonzero(np.isinf(floats[name])).tolist())
            if not all(isinstance(plain(value), int | float) for value in infinite):
                odd.append(name)
        if odd:
            raise InvalidTypeError(
                f"{path} must return numbers in the column {listed(odd)}; some of the values are not. Leave "
                "the column out, or cast it in the query. (Values are not shown: a message is an output.)"
            )
        arrays = {name: pa.array(values, from_pandas=True) for name, values in floats.items()}
        return pa.RecordBatch.from_pydict(arrays | {name: texts_among(self.columns[name]) for name in others})


def texts_among(values: Sequence[Any]) -> Any:
    """Return objects as an Arrow array of text, each as it is written; whole numbers stay what they are.

    Whether all of them are whole numbers changes only how they are stored: 7 and "7" are one id.
    """
    kinds = set(map(type, values))
    for kind, stored in ((int, pa.int64()), (str, pa.string())):
        if kinds <= {kind}:
            with suppress(OverflowError, UnicodeEncodeError):
                return pa.array(values, stored)
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    """Return a value as it is written; None if it is missing, or neither text nor a number nor a time."""
    made = plain(value)
    if isinstance(value, UUID) or isinstance(made, date):
        return str(value)  # with its time of day
    if made is None or (isinstance(made, float) and math.isnan(made)):
        return None
    text = str(made) if isinstance(made, int) else text_of(made)
    if text is None or text.isascii():
        return text
    # what SQLite holds need not be text that can be written
    return None if any("\ud800" <= character <= "\udfff" for character in text) else text
