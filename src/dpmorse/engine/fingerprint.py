"""A fingerprint of the records of a pass: two numbers that must be the same in every pass of a fit."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from dpmorse.engine.base import add_up
from dpmorse.exceptions import InvalidParameterError

Value = TypeVar("Value")

HashArray = npt.NDArray[np.uint64]

_CHANGED = (
    "X changed between two passes: it must have the same records each time, in any order, each with the same "
    "value of groups. Nothing was released from the pass that differs. Read X from a source that stays as it "
    "is (Dask, Spark: persist() it, or write it to files first)."
)


@dataclass(frozen=True)
class Fingerprint:
    """The number of records in a pass, and the sum of their hashes modulo 2^64.

    The sum does not depend on order, chunks or partitions. Passes over other records, or over the same
    ones with other owners, agree in both numbers with a probability of about 2^-64. The hash is not secret,
    so that a source built for the purpose could deceive it.
    """

    n_rows: int = 0
    total: int = 0

    @classmethod
    def of(cls, hashes: HashArray) -> "Fingerprint":
        """Note the records that have these hashes."""
        return cls(len(hashes), int(hashes.sum(dtype=np.uint64)))

    def __add__(self, other: "Fingerprint") -> "Fingerprint":
        return Fingerprint(self.n_rows + other.n_rows, (self.total + other.total) % (1 << 64))

    def check_same(self, other: "Fingerprint") -> None:
        """Refuse records that are others than those of an earlier pass."""
        if self != other:
            raise InvalidParameterError(_CHANGED)


@dataclass(frozen=True)
class Checked(Generic[Value]):
    """A value computed from some records, and the fingerprint of these. Those of parts can be added."""

    seen: Fingerprint
    value: Value

    def __add__(self: "Checked[Any]", other: "Checked[Any]") -> "Checked[Any]":
        return Checked(self.seen + other.seen, None if self.value is None else self.value + other.value)


def add_up_checked(parts: Iterable[Checked[Any]]) -> Checked[Any]:
    """Add up what was found in parts of the records; there may be no part."""
    every = iter(parts)
    nothing: Checked[Any] = Checked(Fingerprint(), None)  # the neutral element of +
    return add_up(itertools.chain([next(every, nothing)], every))
