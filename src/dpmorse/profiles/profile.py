"""What a fit released about the records of each component: how many, and how many in each bin.

All of them are counts with noise of known size, so that those of several components add up, and every cut of
a tree has its table (``table.py``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import BoolArray, FloatArray, IntArray

SUPPORT = 3.0
"""A number of records below this many standard deviations of its noise may be noise alone."""


class Entries(NamedTuple):
    """Entries of one column in a row of counts; after bins or levels one more may be of missing values."""

    part: slice
    n_bins: int

    @property
    def present(self) -> slice:
        """Entries of the values that are there."""
        return slice(self.part.start, self.part.start + self.n_bins)

    @property
    def may_miss(self) -> bool:
        """Whether values may be missing."""
        return bool(self.part.stop - self.part.start > self.n_bins)


@dataclass(frozen=True, eq=False)
class Profile:
    """Released counts of the records of each component.

    Columns are numbers first, then categories. The row of a component has, for each column, counts of its
    bins or levels, then that of missing values where there may be any.

    Attributes
    ----------
    sizes : ndarray of shape (n_components,)
        Released numbers of records.
    entries : ndarray of shape (n_components, n_entries)
        Released rows.
    size_stddev, entry_stddev : float
        Noise of a size, and of an entry.
    edges : ndarray of shape (n_components, n_numbers, n_edges)
        Upper ends of the bins of numbers but for the last, which ends at the upper bound. A bin that another
        one ends at is always empty.
    curves : ndarray of shape (n_components, n_numbers, n_points)
        Values of each number that the mixture lets one expect at equal steps of the distribution function.
    expected : ndarray of shape (n_components, n_entries)
        Parts of the records of each component that the mixture lets one expect in each entry.
    lower, upper : ndarray of shape (n_numbers,)
        Bounds that numbers are clipped to.
    whole : ndarray of shape (n_numbers,)
        1 where values are whole numbers, else 0.
    outside : ndarray of shape (n_numbers, 2)
        Released numbers of records below and above the bounds.
    outside_stddev : float
        Their noise.
    n_levels : tuple of int
        Number of levels of each category.
    may_miss : tuple of int
        Which columns may be missing.
    n_records : float or None
        The number of all records where it is public.
    """

    sizes: FloatArray
    entries: FloatArray
    size_stddev: float
    entry_stddev: float
    edges: FloatArray
    curves: FloatArray
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray
    whole: FloatArray
    outside: FloatArray
    outside_stddev: float
    n_levels: tuple[int, ...] = ()
    may_miss: tuple[int, ...] = ()
    n_records: float | None = None

    def __repr__(self) -> str:
        noise = f"noise of a size {float(np.median(self.count_stddev)):.3g}"
        return f"Profile({self.n_components} components, {self.n_columns} columns, {noise})"

    def __post_init__(self) -> None:
        """Check that the parts fit to one another."""
        if np.ndim(self.edges) != 3 or np.ndim(self.curves) != 3 or np.ndim(self.entries) != 2:
            raise InvalidParameterError("profile: edges, curves and entries must be arrays of counts.")
        (k, d, n_edges), n_points = np.shape(self.edges), np.shape(self.curves)[2]
        n_bins = [n_edges + 1] * d + list(self.n_levels)
        n_entries = sum(n_bins) + len(self.may_miss)
        shapes = {
            "sizes": (k,), "entries": (k, n_entries), "edges": (k, d, n_edges), "curves": (k, d, n_points),
            "expected": (k, n_entries), "lower": (d,), "upper": (d,), "whole": (d,), "outside": (d, 2),
        }  # fmt: skip
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != shape or not np.isfinite(value).all():
                raise InvalidParameterError(
                    f"profile: {name} must be finite and have the shape of the others."
                )
            object.__setattr__(self, name, value)
        for name in ("size_stddev", "entry_stddev", "outside_stddev"):
            _validate.positive_real(**{f"profile.{name}": getattr(self, name)})
        for what, holds in self._claims(n_points).items():
            if not holds:
                raise InvalidParameterError(f"profile: {what}.")

    def _claims(self, n_points: int) -> dict[str, bool]:
        """Return what must hold of the values, and whether it does."""
        columns, bounds = set(range(self.n_columns)), (self.lower[:, None], self.upper[:, None])
        ranged = [
            bool(np.all((bounds[0] <= part) & (part <= bounds[1]))) for part in (self.edges, self.curves)
        ]
        return {
            "there must be a component and a column": bool(self.sizes.size and columns),
            "n_levels must be positive": all(n > 0 for n in self.n_levels),
            "may_miss must be columns, in ascending order": columns >= set(self.may_miss)
            and list(self.may_miss) == sorted(set(self.may_miss)),
            "curves must have two points at least": n_points > 1 or not self.lower.size,
            "lower must be at most upper": bool(np.all(self.lower <= self.upper)),
            "edges and curves must lie inside the bounds": all(ranged),
            "edges and curves must ascend": not any(
                np.any(np.diff(part, axis=2) < 0) for part in (self.edges, self.curves)
            ),
            "whole must be 0 or 1": bool(np.isin(self.whole, (0.0, 1.0)).all()),
            "expected must be parts": bool(np.all((self.expected >= 0) & (self.expected <= 1))),
            "n_records must be positive": self.n_records is None or self.n_records > 0,
        }

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.sizes.size)

    @property
    def n_numbers(self) -> int:
        """Number of columns that are numbers."""
        return int(self.lower.size)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_numbers + len(self.n_levels)

    @cached_property
    def columns(self) -> tuple[Entries, ...]:
        """Where the entries of each column are."""
        return tuple(self._columns())

    def _columns(self) -> Iterator[Entries]:
        start = 0
        for j, n_bins in enumerate([self.edges.shape[2] + 1] * self.n_numbers + list(self.n_levels)):
            stop = start + n_bins + (j in self.may_miss)
            yield Entries(slice(start, stop), n_bins)
            start = stop

    @cached_property
    def used(self) -> BoolArray:
        """Which entries may hold records: bins that end where another one ends hold none."""
        used = np.ones(self.entries.shape, dtype=np.bool_)
        for j in range(self.n_numbers):
            ends = np.concatenate([self.edges[:, j], np.full((self.n_components, 1), self.upper[j])], axis=1)
            # The first bin is there even if it ends at the lower bound: values at the bound are in it.
            used[:, self.columns[j].present] = np.diff(ends, prepend=-np.inf, axis=1) > 0
        return used

    @cached_property
    def n_used(self) -> IntArray:
        """Number of entries that may hold records, of each component and column."""
        found = [self.used[:, column.part].sum(axis=1) for column in self.columns]
        return np.column_stack(found)

    @cached_property
    def _precisions(self) -> tuple[FloatArray, float]:
        """Inverse variances of the sizes that each column's entries add up to, and of sizes themselves."""
        return 1 / (self.n_used * self.entry_stddev**2), self.size_stddev**-2

    @cached_property
    def counts(self) -> FloatArray:
        """Number of records of each component: sizes and sums of all columns, weighted by their noise."""
        of_columns, of_size = self._precisions
        sums = np.column_stack([self._sum(column) for column in self.columns])
        total: FloatArray = of_size * self.sizes + (of_columns * sums).sum(axis=1)
        return total * self.count_stddev**2

    @cached_property
    def count_stddev(self) -> FloatArray:
        """Noise of these numbers."""
        of_columns, of_size = self._precisions
        stddev: FloatArray = (of_columns.sum(axis=1) + of_size) ** -0.5
        return stddev

    def _sum(self, column: Entries) -> FloatArray:
        total: FloatArray = np.where(self.used, self.entries, 0.0)[:, column.part].sum(axis=1)
        return total

    @cached_property
    def unbiased(self) -> FloatArray:
        """Entries that add up to the counts in every column: the best linear estimates of all of them."""
        found = np.where(self.used, self.entries, 0.0)
        for j, column in enumerate(self.columns):
            rest = (self.counts - self._sum(column)) / self.n_used[:, j]
            found[:, column.part] += np.where(self.used[:, column.part], rest[:, None], 0.0)
        return found

    def supported(self) -> BoolArray:
        """Say which components hold more records than noise alone would."""
        seen: BoolArray = self.counts > SUPPORT * self.count_stddev
        return seen


def hidden_together(found: FloatArray, noise: FloatArray) -> BoolArray:
    """Say which numbers of records noise hides, even together.

    Many small components may hold most records: what the mixture says of them is then believed.
    """
    hidden: BoolArray = found <= SUPPORT * noise
    together = found[hidden].sum() > SUPPORT * np.sqrt(np.square(noise[hidden]).sum())
    return hidden & ~together
