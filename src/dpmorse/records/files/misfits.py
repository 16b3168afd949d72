"""Which columns of a file hold what its schema does not allow for: flags, for their holder alone.

They are read off the records and are not private. None says a value, how many there are, or by how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.records.files.arrow_values import as_arrow, read_described
from dpmorse.records.files.batched_table import BatchedTable
from dpmorse.records.values import Values
from dpmorse.schema import OTHER, CategoryColumn, Column, NumberColumn, Schema


@dataclass(frozen=True)
class Misfit:
    """What of a column is not as it was stated."""

    cut: bool = False
    """Whether values lie outside the bounds, and would be moved to them."""

    unknown: bool = False
    """Whether values are not listed, or not of the kind of the column: they become "other" or missing."""

    missing: bool = False
    """Whether values are missing."""

    def __or__(self, other: "Misfit") -> "Misfit":
        return Misfit(self.cut or other.cut, self.unknown or other.unknown, self.missing or other.missing)


def misfits_of(tables: Sequence[BatchedTable], schema: Schema) -> dict[str, Misfit]:
    """Read the columns of a schema, and say what of each is not as the schema states it."""
    found = dict.fromkeys(schema.names, Misfit())
    for table in tables:
        for values, _ in read_described(table, schema):
            for name, column in schema.columns:
                found[name] |= _misfit(column, values[name])
    return found


def _misfit(column: Column, values: Values) -> Misfit:
    """Compare some values with what was stated of their column."""
    nulls = as_arrow(values).is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    encoded = column.encoded(values)
    if encoded is None:
        return Misfit(unknown=True)
    missing = bool(nulls.any())
    known = encoded[~nulls]
    if isinstance(column, CategoryColumn):
        other = column.levels.index(OTHER)
        return Misfit(unknown=other >= len(column.listed) and bool((known == other).any()), missing=missing)
    if not isinstance(column, NumberColumn):
        return Misfit(missing=missing)
    numbers = known[np.isfinite(known)]
    lower, upper = column.bounds
    cut = bool(((numbers < lower) | (numbers > upper)).any())
    return Misfit(cut, len(numbers) < len(known), missing)
