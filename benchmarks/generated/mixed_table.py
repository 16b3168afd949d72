"""A generated table of numbers and categories with missing values, and its encoded records."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from benchmarks.generated.draws import Rng
from dpmorse.schema import Layout
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class MixedTable:
    """Records with their classes.

    Parameters
    ----------
    name : str
        Name in results.
    numbers : ndarray of shape (n, d)
        NaN where one is missing.
    codes : ndarray of shape (n, C)
        Levels of categories, from 0; -1 where one is missing.
    n_levels : tuple of int
        Number of levels of each category.
    lower, upper : ndarray of shape (d,)
        Public bounds of the numbers.
    y : ndarray of shape (n,)
        Classes.
    """

    name: str
    numbers: FloatArray
    codes: IntArray
    n_levels: tuple[int, ...]
    lower: FloatArray
    upper: FloatArray
    y: IntArray

    @property
    def n_clusters(self) -> int:
        """Number of classes."""
        return int(np.unique(self.y).size)

    @cached_property
    def layout(self) -> Layout:
        """The order of an encoded record. Any number may be missing in a table where one is."""
        holes = range(self.lower.size) if np.isnan(self.numbers).any() else ()
        return Layout(tuple(self.lower.tolist()), tuple(self.upper.tolist()), tuple(holes), self.n_levels)

    def encoded(self) -> FloatArray:
        """Return the encoded records, of shape (n, layout.width)."""
        layout, missing = self.layout, np.isnan(self.numbers)
        records = np.zeros((len(self.y), layout.width))
        records[:, layout.hole_part] = missing[:, list(layout.holes)]
        records[:, layout.number_part] = np.where(missing, layout.middle, self.numbers)
        for own, codes in zip(layout.levels, self.codes.T, strict=True):
            known = np.flatnonzero(codes >= 0)
            records[known, layout.level_part.start + own.start + codes[known]] = 1.0
        return records


def with_noise_column(table: MixedTable, n_levels: int = 30, random_state: int = 0) -> MixedTable:
    """Append a category of many levels, all as frequent, that tells nothing of the class."""
    noise = np.random.default_rng(random_state).integers(n_levels, size=(len(table.y), 1))
    return replace(table, codes=np.hstack([table.codes, noise]), n_levels=(*table.n_levels, n_levels))


def generous_bounds(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds three times as wide as the range of complete numbers: what a careful owner may state."""
    if not numbers.size:
        return np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    lower, upper = numbers.min(axis=0), numbers.max(axis=0)
    width = np.maximum(upper - lower, 1e-9)
    return lower - width, upper + width


def punched(numbers: FloatArray, codes: IntArray, share: float, rng: Rng) -> tuple[FloatArray, IntArray]:
    """Take away a share of all values, whatever they are."""
    return (
        np.where(rng.random(numbers.shape) < share, np.nan, numbers),
        np.where(rng.random(codes.shape) < share, -1, codes),
    )


def draw_codes(probabilities: list[FloatArray], kinds: IntArray, rng: Rng) -> IntArray:
    """Draw the levels of records of the given kinds; one array (kinds, levels) for each category."""
    codes = np.zeros((kinds.size, len(probabilities)), dtype=np.int64)
    for column, p in enumerate(probabilities):
        steps = np.cumsum(p, axis=1)[:, :-1]
        codes[:, column] = np.sum(rng.random(kinds.size)[:, None] >= steps[kinds], axis=1)
    return codes
