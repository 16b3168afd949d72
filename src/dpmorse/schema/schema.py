"""The columns of a table, in order, and where they are in an encoded record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, ModelFormatError
from dpmorse.schema.columns import KINDS, CategoryColumn, Column, NumberColumn, Numeric
from dpmorse.schema.layout import Layout
from dpmorse.schema.spellings import MISSING, PRESENT
from dpmorse.typing import BoolArray, FloatArray

_MOST_LEVELS = 512
"""Most levels of all categories together: some sums are over all pairs of levels, for each record."""

_HINT = (
    'Give a dictionary such as {"age": Numeric(0, 120), "status": Nominal(["employed", "retired"])}, with '
    f"{', '.join(kind.__name__ for kind in KINDS[:-1])} and {KINDS[-1].__name__}."
)

_KINDS_IN_FILES = {kind.__name__.lower(): kind for kind in KINDS}
"""What the kinds are called in files."""


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are: public facts, stated by whoever owns the table.

    Parameters
    ----------
    columns : tuple of (str, column)
        Names and columns, in order. ``Schema.of`` checks what a user gives.
    stated : bool, default=True
        Whether a user said what the columns are, so that records are read column by column. False for arrays
        of numbers, of which no more than bounds is known.
    """

    columns: tuple[tuple[str, Column], ...]
    stated: bool = True

    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Names of the columns."""

    numbers: tuple[tuple[str, NumberColumn], ...] = field(init=False, repr=False, compare=False)
    """Columns that become numbers, and their names."""

    number_places: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Places of the columns that become numbers."""

    categories: tuple[tuple[str, CategoryColumn], ...] = field(init=False, repr=False, compare=False)
    """Columns that become categories, and their names."""

    category_places: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Places of the columns that become categories."""

    def __post_init__(self) -> None:
        """Sort the columns by what they become."""
        numbers, categories = {}, {}
        object.__setattr__(self, "names", tuple([name for name, _ in self.columns]))
        for place, (name, column) in enumerate(self.columns):
            if isinstance(column, NumberColumn):
                numbers[place] = name, column
            elif isinstance(column, CategoryColumn):
                categories[place] = name, column
        object.__setattr__(self, "numbers", tuple(numbers.values()))
        object.__setattr__(self, "number_places", tuple(numbers))
        object.__setattr__(self, "categories", tuple(categories.values()))
        object.__setattr__(self, "category_places", tuple(categories))

    @classmethod
    def of(cls, columns: object) -> "Schema":
        """Validate the parameter ``columns`` of an estimator: a dictionary of names and columns.

        Examples
        --------
        >>> from dpmorse import Boolean, Numeric
        >>> schema = Schema.of({"age": Numeric(0, 120), "smoker": Boolean()})
        >>> schema.names, schema.layout.width
        (('age', 'smoker'), 4)
        """
        if isinstance(columns, Schema):
            return columns
        if not isinstance(columns, Mapping):
            raise InvalidTypeError(
                f"columns must be a dictionary, got {_validate.describe(columns)}. {_HINT}"
            )
        if not columns:
            raise InvalidParameterError(f"columns must name one column or more, got none. {_HINT}")
        for name, column in columns.items():
            _check_column(name, column)
        schema = cls(tuple(columns.items()))
        if schema.layout.n_all_levels > _MOST_LEVELS:
            raise InvalidParameterError(
                f"columns must have at most {_MOST_LEVELS} levels in all, got {schema.layout.n_all_levels} "
                "(with those for other and missing values). List frequent values only: all others become "
                "'other'."
            )
        return schema

    @classmethod
    def of_stated(cls, columns: object) -> "Schema":
        """Return the schema of this parameter; one without columns if nothing was stated of them."""
        return cls((), stated=False) if columns is None else cls.of(columns)

    @classmethod
    def of_numbers(cls, names: Sequence[object] | None, lower: FloatArray, upper: FloatArray) -> "Schema":
        """Return the columns of an array of numbers, which are called by their places if they have no names.

        Equal bounds are those of a constant column, infinite ones of a column whose bounds are not known.
        """
        called = [f"column {i}" for i in range(len(lower))] if names is None else list(map(str, names))
        bounds = zip(np.asarray(lower).tolist(), np.asarray(upper).tolist(), strict=True)
        columns = [Numeric.within(low, high) for low, high in bounds]
        return cls(tuple(zip(called, columns, strict=True)), stated=False)

    def called(self, names: Sequence[str]) -> "Schema":
        """Return the same columns under other names."""
        columns = tuple((new, column) for new, (_, column) in zip(names, self.columns, strict=True))
        return replace(self, columns=columns)

    @cached_property
    def whole(self) -> BoolArray:
        """Which numbers are whole: ranks, days, and those of which it is stated."""
        return np.array([column.whole for _, column in self.numbers], dtype=np.bool_)

    @cached_property
    def with_gaps(self) -> tuple[int, ...]:
        """Which columns may be missing and have no level for it, numbers first, then categories."""
        gaps = [column.missing != "refuse" for _, column in self.numbers]
        gaps += [column.missing == "ignore" for _, column in self.categories]
        return tuple(j for j, may_miss in enumerate(gaps) if may_miss)

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the columns that become numbers."""
        return tuple(name for name, _ in self.numbers)

    @cached_property
    def tracked(self) -> tuple[int, ...]:
        """Places, among the numbers, of those for which it is a category whether they are missing."""
        return tuple(j for j, (_, column) in enumerate(self.numbers) if column.missing == "level")

    @cached_property
    def labels(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """For each category of an encoded record the name of its column, and the names of its levels."""
        of_numbers = tuple((self.number_names[j], (PRESENT, MISSING)) for j in self.tracked)
        return tuple((name, column.levels) for name, column in self.categories) + of_numbers

    @cached_property
    def layout(self) -> Layout:
        """Where the columns are in an encoded record."""
        bounds = [column.bounds for _, column in self.numbers]
        return Layout(
            lower=tuple(lower for lower, _ in bounds),
            upper=tuple(upper for _, upper in bounds),
            holes=tuple(j for j, (_, column) in enumerate(self.numbers) if column.missing != "refuse"),
            n_levels=tuple(len(levels) for _, levels in self.labels),
        )

    def decode(self, encoded: FloatArray) -> dict[str, Any]:
        """Return the columns of encoded records, in the order of the table.

        Numbers are floats, NaN where they are missing; whole numbers are rounded and clipped, and integers
        if none may be missing; dates are datetime64[D], NaT where they are missing; all others are arrays
        of objects, None where they are missing.
        """
        layout = self.layout
        holes = dict(zip(layout.holes, encoded[:, layout.hole_part].T, strict=True))
        columns = zip(self.numbers, encoded[:, layout.number_part].T, strict=True)
        parts = {
            name: column.decoded(values, holes[j] > 0.5 if j in holes else None)
            for j, ((name, column), values) in enumerate(columns)
        }
        # Levels that tell whether a number is missing come last, and are not needed: ``holes`` tells it.
        levels = encoded[:, layout.level_part]
        for (name, category), part in zip(self.categories, layout.levels, strict=False):
            parts[name] = category.decoded(levels[:, part])
        return {name: parts[name] for name in self.names}

    def to_plain(self) -> dict[str, Any]:
        """Return the schema as plain data, for JSON; a list, because the order of columns matters."""
        return {"columns": [_column_to_plain(name, column) for name, column in self.columns]}

    @classmethod
    def from_plain(cls, content: object) -> "Schema":
        """Return the schema of plain data, or raise ``ModelFormatError``."""
        listed = of_type("columns", fields("the schema", content, "columns")["columns"], list)
        columns = dict(map(_column_from_plain, listed))
        if len(columns) < len(listed):
            raise ModelFormatError("columns must have different names.")
        return rebuild("columns", lambda: cls.of(columns))


def _check_column(name: object, column: object) -> None:
    if not isinstance(name, str):
        raise InvalidTypeError(
            f"columns must have names that are text, got {_validate.describe(name)}. {_HINT}"
        )
    if isinstance(column, type) and issubclass(column, Column):
        raise InvalidTypeError(
            f"columns: {name!r} must be a column, got the class {column.__name__}. Call it. {_HINT}"
        )
    if not isinstance(column, Column):
        raise InvalidTypeError(
            f"columns: {name!r} must be a kind of column, got {_validate.describe(column)}. {_HINT}"
        )


def _column_to_plain(name: str, column: Column) -> dict[str, Any]:
    """Return a column as plain data."""
    parts = {part: getattr(column, part) for part in _parts(type(column))}
    for part, value in parts.items():
        if isinstance(value, date):
            parts[part] = value.isoformat()
        elif isinstance(value, tuple):
            parts[part] = list(value)
    texts = {text: value for text in column.texts if (value := getattr(column, text))}
    return {"name": name, "kind": type(column).__name__.lower(), **parts, **texts}


def _column_from_plain(content: object) -> tuple[str, Column]:
    """Return the name and the column of plain data, every part of which is checked."""
    written = of_type("a column", content, dict)
    called = written.get("kind")
    kind = _KINDS_IN_FILES.get(of_type("the kind of a column", called, str))
    if kind is None:
        raise ModelFormatError(f"the kind of a column must be one of {', '.join(_KINDS_IN_FILES)}.")
    no_texts = dict.fromkeys(kind.texts, "")
    wanted = {**_parts(kind), **dict.fromkeys(kind.texts, str)}
    parts = dict(fields("a column", {**no_texts, **written}, "name", "kind", *wanted))
    name = of_type("the name of a column", parts.pop("name"), str)
    parts.pop("kind")
    for (
        part,
        value,
    ) in parts.items():  # nothing that Python would take for something else than is written there
        parts[part] = number(part, value) if wanted[part] is float else of_type(part, value, wanted[part])
    return name, rebuild("a column", lambda: kind(**parts))


def _parts(kind: type[Column]) -> dict[str, type]:
    return {**dict(kind.parts), "missing": str}
