"""What every kind of column says of itself, for all who read, encode, decode, write and show columns.

A kind is a file beside this one, and a line in ``__init__.py``. Nobody asks a column for its kind: what is
done with it is a method here. Two families have different places in an encoded record: columns that become a
number, and columns that become a category.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.schema.spellings import MISSING, OTHER, Value, text_of
from dpmorse.typing import BoolArray, FloatArray

_RULES = ("refuse", "ignore", "level")
"""What may happen to a record whose value is missing."""

_MISSING_ON_PAGES = {"refuse": "", "ignore": "; may be missing", "level": "; missing is a value of its own"}
_MISSING_IN_REGISTRY = {"refuse": "", "ignore": "; may be missing", "level": "; missing is a value"}

_LARGE, _MOST_DECIMALS = 1e12, 7
"""From this size on, and beyond so many decimals, a number is written by its first five digits."""


class Objects(Protocol):
    """The values of one column as Python's own objects."""

    def mapped(self, function: Callable[[object], float]) -> FloatArray:
        """Return a function of each value, None if it is missing."""
        ...


class Held(Protocol):
    """The values of one column, wherever they are: what a kind of column may ask of them.

    Each answer is about a value by itself, and the type that its storage states for the whole column.
    """

    def floats(self) -> FloatArray | None:
        """Return numbers: NaN for missing ones, infinity for what is none; None if the type has none."""
        ...

    def days(self) -> "npt.NDArray[np.datetime64] | None":
        """Return days, NaT where they are missing; None if they are not stored as dates."""
        ...

    def objects(self) -> Objects:
        """Return the values themselves."""
        ...


@dataclass(frozen=True)
class Form:
    """How a bounds file describes columns of a kind: a table of TOML with keys of its own.

    Attributes
    ----------
    needed, optional : tuple of str
        Its keys. Those that are needed tell the kind.
    example : str
        How messages show it.
    empty : str
        What a template has, with "?" for what must be filled in.
    lines : tuple of (str, str, str)
        Name, entry and meaning of columns that explain it at the head of a template.
    """

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    example: str
    empty: str
    lines: tuple[tuple[str, str, str], ...]


class Column(ABC):
    """A column of a table: public facts that its owner states, and no value of a record.

    Attributes
    ----------
    missing : {"refuse", "ignore", "level"}
        What happens to a record whose value is missing.
    label : str
        What people call it, where that is not its name in the data.
    """

    missing: str
    label: str

    texts: ClassVar[tuple[str, ...]] = ("label",)
    """What is for readers only, and may be empty; files have it where it is not."""

    parts: ClassVar[tuple[tuple[str, type], ...]]
    """What model files say of it, besides ``missing``, and of which types that is; float is any number."""

    form: ClassVar[Form | None] = None
    """How a bounds file describes it; None where the form of another kind does."""

    stored_as: ClassVar[Literal["number", "text", "boolean", "date"]]
    """As what most storages have its values: how files of text are read, and what a template suggests."""

    shown_as: ClassVar[Literal["number", "rank", "date", "category"]]
    """As what reports show its values."""

    @classmethod
    def from_entry(cls, **entry: Any) -> "Column":
        """Build the column that an entry of a bounds file describes; it has the keys of ``form``."""
        return cls(**entry)

    @property
    def listed(self) -> tuple[Value, ...]:
        """Values that the owner has listed: a text that is one of them stands for no missing value."""
        return ()

    def title(self, name: str) -> str:
        """Return what people call a column of this name."""
        return self.label or name

    @abstractmethod
    def encoded(self, held: Held) -> FloatArray | None:
        """Return numbers or places of levels: each depends on the own value and the column's public type.

        NaN where a value is missing, infinity where it is no number, and None if the type holds none.
        """

    @abstractmethod
    def from_codes(self, values: Any, xp: Any) -> Any:
        """Return the same for codes of a tensor, by the functions of its library ``xp``."""

    def as_written(self, value: Any) -> Any:
        """Return a synthetic value as files have it: text, because "other" may be among numbers."""
        return text_of(value)

    def stated(self, shown: Callable[[str], str]) -> str:
        """Return what was stated of it, for pages; ``shown`` makes texts of users fit to be shown."""
        return f"{self._stated(shown)}{_MISSING_ON_PAGES[self.missing]}"

    @property
    def domain_in_words(self) -> str:
        """What values it can have, for the registry of deployments."""
        return f"{self._domain_in_words}{_MISSING_IN_REGISTRY[self.missing]}"

    @abstractmethod
    def _stated(self, shown: Callable[[str], str]) -> str:
        """Return ``stated`` without what is said of missing values."""

    @property
    @abstractmethod
    def _domain_in_words(self) -> str:
        """``domain_in_words`` without what is said of missing values."""

    def _keep(self, **parts: object) -> None:
        """Store checked values in a frozen object; refuse unknown rules for missing ones, and odd texts."""
        _validate.choice(missing=self.missing, among=_RULES)
        for text in self.texts:
            _check_text(text, getattr(self, text))
        for name, value in parts.items():
            object.__setattr__(self, name, value)


class NumberColumn(Column):
    """A column that becomes a number."""

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return True

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Bounds of the number."""

    @property
    def ranks(self) -> tuple[str, ...]:
        """Names of the numbers 0, 1, 2, ..., where they have names."""
        return ()

    @property
    def first(self) -> int | None:
        """Where numbers are days, the day that counts as 0, counted as Python counts days."""
        return None

    @property
    def unit(self) -> str:
        """What its number counts, for the axes of pictures; nothing where it is the value itself."""
        return ""

    @abstractmethod
    def decoded(self, values: FloatArray, missing: BoolArray | None) -> npt.NDArray[Any]:
        """Return numbers as values that people read; ``missing`` says where there are none."""

    def from_codes(self, values: Any, xp: Any) -> Any:
        """Return the numbers of a tensor, NaN where one is missing."""
        return values

    def plain(self, value: float) -> float | str | None:
        """Return a value as plain data, for JSON; None if it is not known."""
        return None if math.isnan(value) else self._plain(value)

    def _plain(self, value: float) -> float | str:
        return round(value) if self.whole else float(value)

    def text(self, value: float, decimals: int) -> str:
        """Write a value in the terms of the column, with so many decimals where these matter."""
        digits = 0 if self.whole else decimals
        if abs(value) >= _LARGE or digits > _MOST_DECIMALS:
            return f"{value:.5g}"
        return f"{round(value, digits) + 0.0:.{digits}f}"  # no minus before a zero

    def _whole(self, values: FloatArray) -> FloatArray:
        """Round to whole numbers inside the bounds; to the nearest one where there is none inside."""
        lower, upper = np.ceil(self.bounds[0]), np.floor(self.bounds[1])
        return np.asarray(np.clip(np.rint(values), lower, max(lower, upper)))


class CategoryColumn(Column):
    """A column that becomes a category."""

    shown_as = "category"

    telling_level: ClassVar[int | None] = None
    """The level of two that says in fewer words where a cluster differs."""

    @property
    @abstractmethod
    def levels(self) -> tuple[str, ...]:
        """Names of the levels: those of listed values, then "other", and "missing" where it is a level."""

    @abstractmethod
    def code_of(self, value: object) -> float:
        """Return the place of a value's level. None is a missing value, which may have no level: NaN."""

    def encoded(self, held: Held) -> FloatArray:
        """Return the place of each row's level, NaN where there is none."""
        return held.objects().mapped(self.code_of)

    def from_codes(self, values: Any, xp: Any) -> Any:
        """Return the place of each row's level; codes are places of listed values."""
        known = xp.where(is_code(values, len(self.listed), xp), values, self.code_of(object()))
        return xp.where(xp.isnan(values), self.code_of(None), known)

    def decoded(self, levels: FloatArray) -> npt.NDArray[Any]:
        """Return the listed values, "other" or None, which is a missing value, where these levels are 1."""
        names = [*self.listed, *self.levels[len(self.listed) :], None]
        if self.missing == "level":
            names[self.levels.index(MISSING)] = None
        # A list of texts would become an array of texts, and None one of them.
        choices = np.empty(len(names), dtype=object)
        choices[:] = names
        places = np.where(levels.max(axis=1) > 0, levels.argmax(axis=1), len(names) - 1)
        return np.asarray(choices[places])

    @property
    def _code_of_missing(self) -> float:
        return self.levels.index(MISSING) if self.missing == "level" else math.nan

    def _with_added(self, names: list[str]) -> tuple[str, ...]:
        """Add the names of the levels that no list must have."""
        added = [OTHER, MISSING] if self.missing == "level" else [OTHER]
        return (*names, *(name for name in added if name not in names))


def _check_text(name: str, value: object) -> None:
    """Refuse what could not stand in a sentence."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be text, got {_validate.describe(value)}.")
    if len(value) > _LONGEST_TEXT or not value.isprintable():
        raise InvalidParameterError(
            f"{name} must have at most {_LONGEST_TEXT} printable characters, got {len(value)}"
            f"{'' if value.isprintable() else ', not all printable'}. It stands in sentences: keep it short."
        )


_LONGEST_TEXT = 60
"""Most characters of a label or a unit."""


def with_missing(values: npt.NDArray[Any], missing: BoolArray | None, gap: Any) -> npt.NDArray[Any]:
    """Put what stands for a missing value where there is one."""
    if missing is not None:
        values[missing] = gap
    return values


def is_code(values: Any, n_values: int, xp: Any) -> Any:
    """Say which numbers of a tensor are the place of a value in a list."""
    return (values >= 0) & (values < n_values) & (values == xp.floor(values))
