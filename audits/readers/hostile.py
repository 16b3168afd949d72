"""Tables of hostile values: those that a storage can hold, and nobody would expect in a column.

A storage either states the type of a column, and then holds hostile values of that type, or states none, and
then holds values of all types side by side.
"""

import datetime as dt
import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema

Row = dict[str, Any]
Draw = Callable[[np.random.Generator], Any]

SCHEMA = Schema.of(
    {
        "age": Numeric(0, 120, missing="ignore"),
        "income": Numeric(-1e5, 1e5, missing="level"),
        "ward": Nominal(["north", "1", "NA", "2024-05-31"], missing="ignore"),
        "code": Nominal([1, 2, 2**53, "1180591620717411303424"], missing="level"),
        "smoker": Boolean(missing="level"),
        "grade": Ordinal(["low", 2, "high"], missing="ignore"),
        "joined": Date("2000-01-01", "2030-01-01", missing="ignore"),
    }
)
"""Columns of every kind. In none of them a value may be refused."""

NUMBERS, DATES = ("age", "income"), ("joined",)
"""Columns in which types that hold no numbers, or no dates, are refused before a value is read."""


class Ward(enum.Enum):
    """No text and no number."""

    NORTH = "north"


class Code(int, enum.Enum):
    """A number whose text, other than that of an IntEnum, is no number."""

    ONE = 1
    TWO = 2


class Spelled(str):
    """A text of a class of its own."""

    __slots__ = ()


class Day(dt.datetime):
    """A time of a class of its own."""


def _times(*zones: dt.tzinfo | None) -> list[dt.datetime]:
    hours = [(2024, 5, 31, 0, 30), (2024, 5, 31, 23, 30), (2009, 12, 31, 12, 0), (2000, 1, 1, 0, 0)]
    return [dt.datetime(*hour, tzinfo=zone) for hour in hours for zone in zones]


_ZONES = [dt.timezone(dt.timedelta(hours=h, minutes=m)) for h, m in ((1, 0), (-12, 0), (14, 0), (5, 45))]

_VALUES: dict[str, Sequence[Any]] = {
    "int64": [0, 1, 2, -1, 120, 121, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1, 20240531],
    "double": [
        *(0.0, -0.0, 1.0, 2.0, 0.1, 17.25, 2.0**53, 2.0**70, 1e308, -1e308, 5e-324),
        *(math.nan, math.inf, -math.inf, 120.0, np.nextafter(120, 121).item()),
    ],
    "decimal": [Decimal(text) for text in ("0.1", "1", "1.0000", "119.9999", "-0.3", "12345678901.2345")],
    "bool": [True, False],
    "text": [
        *(
            "north",
            "North",
            "north ",
            "NORTH",
            "nörth",
            "no\u0308rth",
            "n\u043erth",
            "low",
            "high",
            "2",
            "2.0",
        ),
        *(
            "1",
            "1.0",
            "01",
            " 1",
            "+1",
            "1e0",
            "1e999",
            "-1e999",
            "nan",
            "+NaN",
            "-inf",
            "inf",
            "0x10",
            "1_0",
            "\u0663",
            "12,5",
        ),
        *(
            "",
            " ",
            "NA",
            "N/A",
            "null",
            "None",
            "?",
            "yes",
            "YES",
            "true",
            "False",
            "t",
            "n",
            "other",
            "missing",
        ),
        *("2024-05-31", "2024-05-31T23:30:00+02:00", "20240531", "31.05.2024", "2024-13-01", "9999-12-31"),
        *("1180591620717411303424", "a,b", 'a"b', "a;b", "line\nbreak", "=1+1", "x" * 300, "\U0001f642"),
    ],
    "date": [dt.date(1, 1, 1), dt.date(1999, 12, 31), dt.date(2024, 5, 31), dt.date(9999, 12, 31)],
    "timestamp": _times(None),
    "timestamptz": _times(dt.UTC, *_ZONES),
    "binary": [b"", b"north", b"1", b"\xff\xfe", b"\x00"],
}
"""Values by the type that a column can have in a storage."""

_OBJECTS: Sequence[Any] = [
    *(pd.NA, pd.NaT, pd.Timestamp("2024-05-31 23:30", tz="Asia/Tokyo"), pd.Timestamp(10**12, unit="s")),
    *(2**64, 2**70, -(2**70), 10**400, Code.ONE, Code.TWO, Ward.NORTH, Spelled("north"), Spelled("5")),
    *(
        np.int8(1),
        np.int64(2**53 + 1),
        np.uint64(2**63),
        np.float32(0.1),
        np.float64("nan"),
        np.longdouble("0.1"),
    ),
    *(
        np.bool_(1),
        np.str_("north"),
        np.bytes_(b"north"),
        np.datetime64("2024-05-31T23:30"),
        np.complex64(1),
    ),
    *(
        np.datetime64("NaT"),
        np.datetime64(10**9, "D"),
        np.timedelta64(1, "ns"),
        Decimal("NaN"),
        Decimal("sNaN"),
    ),
    *(
        Decimal("1E+400"),
        Decimal("Infinity"),
        Decimal("1.0"),
        Fraction(1, 3),
        Fraction(2),
        Fraction(10**400, 3),
    ),
    *(
        1 + 0j,
        object(),
        [1],
        [],
        ("north",),
        {"a": 1},
        frozenset({1}),
        range(2),
        memoryview(b"north"),
        bytearray(),
    ),
    *(
        dt.time(1, 2),
        dt.timedelta(1),
        Day(2024, 5, 31, 23, tzinfo=_ZONES[1]),
        UUID(int=1),
        "\ud800",
        "\x00",
        1e22,
    ),
]
"""Objects that only Python's own containers hold."""


def _one_of(values: Sequence[Any]) -> Draw:
    return lambda rng: values[int(rng.integers(len(values)))]


def _mixed(*kinds: str) -> Draw:
    """Return values of these types, side by side."""
    draws = [DRAWS[kind] for kind in kinds]
    return lambda rng: draws[int(rng.integers(len(draws)))](rng)


DRAWS: dict[str, Draw] = {kind: _one_of(values) for kind, values in _VALUES.items()}
DRAWS["objects"] = _one_of(_OBJECTS)
DRAWS["any object"] = _mixed(
    "int64",
    "double",
    "decimal",
    "bool",
    "text",
    "date",
    "timestamp",
    "timestamptz",
    "binary",
    "objects",
    "objects",
)
DRAWS["sqlite"] = _mixed("int64", "double", "text", "text", "binary")
DRAWS["cell"] = _mixed("int64", "double", "bool", "text", "date", "timestamp")

_NUMBERS_AS_TEXT = (
    "0",
    "1",
    "01",
    " 1",
    "+1",
    "1e0",
    "-0.1",
    "119.9999",
    "9007199254740993",
    "1e-400",
    "yes",
    "No",
)

_FINITE_OBJECTS = [
    *(
        2**53 + 1,
        2**70,
        -(2**70),
        True,
        Code.TWO,
        Decimal("0.1"),
        Decimal("12345678901.2345"),
        Fraction(1, 3),
    ),
    *(
        np.int8(1),
        np.int64(2**53 + 1),
        np.uint64(2**63),
        np.float32(0.1),
        np.longdouble("0.1"),
        0.1,
        1e308,
        5e-324,
    ),
]

FINITE: dict[str, Draw] = {
    "int64": DRAWS["int64"],
    "double": _one_of([value for value in _VALUES["double"] if math.isfinite(value)]),
    "decimal": DRAWS["decimal"],
    "any object": _one_of(_FINITE_OBJECTS),
    "text": _one_of(_NUMBERS_AS_TEXT),
}
"""Finite numbers, by the type of their column."""

FINITE["sqlite"] = FINITE["cell"] = lambda rng: FINITE["int64" if rng.random() < 0.5 else "double"](rng)

_NO_NUMBERS = {"date", "timestamp", "timestamptz", "binary"}
"""Types whose columns cannot be described as numbers."""


OWNER = "who"
"""The column that says whose record a row is."""


@dataclass(frozen=True)
class HostileTable:
    """Rows, and the type of each column, if the storage states one."""

    rows: list[Row]
    types: dict[str, str]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return [row[name] for row in self.rows]

    def alone(self, i: int) -> "HostileTable":
        """Return a table with one row only."""
        return HostileTable([self.rows[i]], self.types)

    def with_rows(self, rows: list[Row]) -> "HostileTable":
        """Return a table with other rows."""
        return HostileTable(rows, self.types)

    def owned_by(self, ids: Sequence[int]) -> "HostileTable":
        """Return a table with a column of ids: whole numbers where the storage has these, else text."""
        kind = next((kind for kind in self.types.values() if kind not in _VALUES), "int64")
        made = str if kind in {"cell", "text"} else int
        rows = [{**row, OWNER: made(i)} for row, i in zip(self.rows, ids, strict=True)]
        return HostileTable(rows, {**self.types, OWNER: kind})


def hostile_table(rng: np.random.Generator, n_rows: int, kinds: Sequence[str]) -> HostileTable:
    """Draw a table whose columns have some of these types; every sixth value is missing."""
    fit = {
        name: [kind for kind in kinds if name not in NUMBERS or kind not in _NO_NUMBERS]
        for name in SCHEMA.names
    }
    types = {name: _one_of(of)(rng) for name, of in fit.items()}
    return HostileTable([], types).with_rows(hostile_rows(rng, types, n_rows))


def hostile_rows(rng: np.random.Generator, types: dict[str, str], n_rows: int) -> list[Row]:
    """Draw rows of which every sixth value is missing, and hardly one is ordinary."""
    return [
        {name: None if rng.random() < 1 / 6 else DRAWS[kind](rng) for name, kind in types.items()}
        for _ in range(n_rows)
    ]


def ordinary_rows(rng: np.random.Generator, types: dict[str, str], n_rows: int) -> list[Row]:
    """Draw rows as people have them, for columns of these types."""
    return [{name: _ordinary(rng, name, kind) for name, kind in types.items()} for _ in range(n_rows)]


def number_table(rng: np.random.Generator, n_rows: int, kinds: Sequence[str]) -> HostileTable:
    """Draw a table of hostile numbers, all of them finite, for estimators without a schema."""
    types = {name: _one_of(kinds)(rng) for name in ("a", "b", "c")}
    return HostileTable(number_rows(rng, types, n_rows), types)


def number_rows(rng: np.random.Generator, types: dict[str, str], n_rows: int) -> list[Row]:
    """Draw rows of finite numbers."""
    return [{name: FINITE[kind](rng) for name, kind in types.items()} for _ in range(n_rows)]


_ORDINARY: dict[str, Sequence[Any]] = {
    "age": [20, 35, 50, 80],
    "income": [1000, 20_000, -500],
    "ward": ["north", "1", "south"],
    "code": [1, 2, 3],
    "smoker": [True, False],
    "grade": ["low", 2, "high"],
    "joined": [dt.date(2010, 1, 1), dt.date(2024, 5, 31)],
}
"""What people have in the columns of the schema."""


def _ordinary(rng: np.random.Generator, name: str, kind: str) -> Any:
    value = _one_of(_ORDINARY[name])(rng)
    return _CASTS.get(kind, lambda given: given)(value)


def _as_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 1.0


def _as_time(value: Any) -> dt.datetime:
    day = value if isinstance(value, dt.date) else dt.date(2020, 1, 1)
    return dt.datetime.combine(day, dt.time(12))


_CASTS: dict[str, Callable[[Any], Any]] = {
    "int64": lambda value: int(_as_number(value)),
    "double": _as_number,
    "decimal": lambda value: Decimal(int(_as_number(value))),
    "bool": bool,
    "text": str,
    "date": lambda value: _as_time(value).date(),
    "timestamp": _as_time,
    "timestamptz": lambda value: _as_time(value).replace(tzinfo=dt.UTC),
    "binary": lambda value: str(value).encode(),
    "sqlite": lambda value: value if isinstance(value, int | float | str) else str(value),
}
"""What makes an ordinary value one of a type."""
