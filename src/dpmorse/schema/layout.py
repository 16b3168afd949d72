"""Where the columns of a table are in an encoded record: a vector of numbers, ``[holes | numbers | levels]``.

* *holes*: for each number that may be missing, 1 where it is, else 0;
* *numbers*: values; the middle of the bounds where one is missing;
* *levels*: for each column of categories one entry for each level, 1 at the record's own. All are 0 where the
  category is missing.

Everything that is done to a table is linear in this vector: a missing number moves to any other place by a
multiple of its entry in ``holes``, a category adds what its level is worth, and a missing one adds nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Layout:
    """The order of an encoded record, made of public values only.

    Parameters
    ----------
    lower, upper : tuple of float
        Bounds of the numbers.
    holes : tuple of int
        Which numbers may be missing: their places among the numbers, ascending.
    n_levels : tuple of int
        Number of levels of each column of categories.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    holes: tuple[int, ...] = ()
    n_levels: tuple[int, ...] = ()

    @property
    def n_holes(self) -> int:
        """Number of numbers that may be missing."""
        return len(self.holes)

    @property
    def n_numbers(self) -> int:
        """Number of columns that hold numbers."""
        return len(self.lower)

    @property
    def n_categories(self) -> int:
        """Number of columns that hold categories."""
        return len(self.n_levels)

    @property
    def n_all_levels(self) -> int:
        """Levels of all columns of categories together."""
        return sum(self.n_levels)

    @property
    def only_numbers(self) -> bool:
        """Whether records are their numbers, none of which may be missing."""
        return not self.n_holes + self.n_categories

    @property
    def width(self) -> int:
        """Entries of an encoded record."""
        return self.n_holes + self.n_numbers + self.n_all_levels

    @property
    def hole_part(self) -> slice:
        """Where it is told which numbers are missing."""
        return slice(0, self.n_holes)

    @property
    def number_part(self) -> slice:
        """Where the numbers are."""
        return slice(self.n_holes, self.n_holes + self.n_numbers)

    @property
    def level_part(self) -> slice:
        """Where the levels of all categories are."""
        return slice(self.n_holes + self.n_numbers, self.width)

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """Where the levels of each column of categories are, counted from the first level of all."""
        return tuple(slice(a, b) for a, b in pairwise(accumulate(self.n_levels, initial=0)))

    @cached_property
    def category_of_level(self) -> IntArray:
        """The column of categories that each level belongs to."""
        return np.repeat(np.arange(self.n_categories), self.n_levels)

    @property
    def middle(self) -> FloatArray:
        """What stands for a missing number: the middle of its bounds."""
        lower, upper = np.array(self.lower), np.array(self.upper)
        return np.asarray(lower + (upper - lower) / 2)
