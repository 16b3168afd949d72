"""What ``dpmorse inspect --bounds`` says, to the holder alone: which columns of a file bounds would cut."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmorse.cli.bounds_file import Bounds
from dpmorse.cli.messages import shortened
from dpmorse.records import Misfit, check_columns, choose_columns, misfits_of
from dpmorse.schema import CategoryColumn, Column, Schema

_WIDEST_NAME = 40
"""Characters of a name in the list of columns; longer ones are cut there."""

_ADVICE = """\
Nothing was spent, and nothing of this goes into a model. Where a column is cut, ask what is possible, not
what is in the file: a wrong unit, a decimal comma, a code such as 999, a form that allows for more. Bounds
that are drawn around the records are read off them, and no promise holds."""


def cuts_in_words(tables: Sequence[Any], given: Bounds) -> str:
    """Return a line for each column that has bounds: whether they cut it, and what else does not fit."""
    schema = _schema(tables[0], given)
    names = [shortened(name, _WIDEST_NAME) for name in schema.names]
    width = max(map(len, names))
    found = misfits_of(tables, schema)
    lines = [
        f"  {name.ljust(width)}  {_of_column(column, found[own])}"
        for name, (own, column) in zip(names, schema.columns, strict=True)
    ]
    return "\n".join([*lines, "", _ADVICE])


def _schema(table: Any, given: Bounds) -> Schema:
    """Return what is stated of the columns: one by one, or one pair for all that may be data."""
    check_columns(table, given.names, "does not have these columns of the bounds file:")
    if given.described is not None:
        return Schema.of(given.described)
    names = given.names or choose_columns(table, [])
    lower, upper = given.of(names)
    shape = np.ones(len(names))
    return Schema.of_numbers(names, lower * shape, upper * shape)


def _of_column(column: Column, found: Misfit) -> str:
    """Say in words what does not fit: yes or no, never a value."""
    if isinstance(column, CategoryColumn):
        said = ['cut: yes, values that are not listed become "other"' if found.unknown else "cut: no"]
    else:
        said = ["cut: yes, values lie outside the bounds" if found.cut else "cut: no"]
        if found.unknown:
            said.append("values that cannot be read as stated count as missing")
    if (found.missing or (found.unknown and len(said) > 1)) and column.missing == "refuse":
        said.append('values are missing, and `fit` refuses them: say missing = "ignore" or "level"')
    return "; ".join(said)
