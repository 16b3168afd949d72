"""Tables that are read in Arrow batches, anew in every pass: files, queries, objects of other libraries."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from dpmorse.records.files.reading import Reading

Part = tuple[Any, float]
"""Some rows, as a pyarrow RecordBatch, and the fraction of the table that has been read with them."""


@dataclass(frozen=True)
class Asked:
    """Columns that are asked for: ``numbers``, then ``others`` in their own type, or as text.

    Text that stands for a missing value, such as NA, is read as missing, unless ``raw`` others are asked
    for; of a database these stay Python objects where its driver returns such. In ``lenient`` columns a
    value that cannot be read is missing, too; in all others it is refused.
    """

    numbers: Sequence[str]
    others: Sequence[str] = ()
    raw: bool = False
    lenient: Collection[str] = ()

    @property
    def columns(self) -> list[str]:
        """All columns, in order."""
        return [*self.numbers, *self.others]


class BatchedTable(ABC):
    """Names and types of columns, and rows in batches.

    Attributes
    ----------
    path : str
        Where it is, or what it is called in messages.
    kind : str
        "csv", "parquet", "feather", "arrow" or "query".
    reading : Reading
        What was said of how it is written.
    types : mapping
        The columns, in order, and their types; None where that is not known before values are read.
    """

    path: str
    kind: str
    reading: Reading
    types: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)

    @property
    def numeric(self) -> list[str]:
        """Columns that hold numbers by their type, or of which that is not known."""
        return [name for name, kind in self.types.items() if kind is None or is_number(kind)]

    def held(self) -> AbstractContextManager[Self]:
        """Return a context with the table as it is now, where its storage can hold it."""
        return nullcontext(self)

    @abstractmethod
    def parts(self, asked: Asked) -> Iterator[Part]:
        """Yield rows of these columns. Where the fraction that has been read is unknown, it is 0."""


def is_number(kind: Any) -> bool:
    """Say whether values of a type can be used as numbers."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def is_text(kind: Any) -> bool:
    """Say whether values of a type are text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
