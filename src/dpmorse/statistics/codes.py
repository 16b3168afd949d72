"""Nested cells of a projection: every record has a code of bits, and a prefix of it is a larger cell.

A record ``q`` is projected to ``y = A q``, exactly, since A and q hold integers and no sum reaches 2^53.
Each coordinate of y is cut into ``2^bits`` cells of equal width around 0, the outermost ones without end. The
code holds the first bit of every coordinate, then the second of every coordinate, and so on. With one bit a
coordinate this is a hash by random hyperplanes; with few coordinates it is a tree of cubes.

A code depends on its record and on public values only, so that groups of codes are groups of records that
no other record can change.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics.domain import GRID_BITS, Domain, refuse_other_grids
from dpmorse.typing import FloatArray, IntArray

LARGEST_N_BITS = 62
"""The longest code: codes are non-negative numbers of int64, and one bit is spare."""

PROJECTION_BITS = 20
"""Entries of A are at most 2^20, so that y is exact for up to 2^21 columns."""


@dataclass(frozen=True)
class BinaryCodes:
    """The rule that gives a record its code."""

    domain: Domain
    """Public domain of the records."""

    projection: FloatArray
    """A: integer-valued, entries at most 2^20."""

    width: int
    """Width of the smallest cells, in units of y."""

    bits: int
    """Halvings of each axis."""

    def __post_init__(self) -> None:
        """Refuse other grids, whose projections would not be exact for as many columns."""
        refuse_other_grids(self.domain)

    @classmethod
    def rounded(cls, domain: Domain, projection: FloatArray, reach: float, bits: int) -> "BinaryCodes":
        """Round a real projection of scaled records; cells tile ``[-reach, reach]`` on every axis."""
        scale = 2.0**PROJECTION_BITS / np.abs(projection).max()
        width = max(1, round(2 * reach * scale * 2.0**GRID_BITS / 2**bits))
        return cls(domain, np.rint(projection * scale), width, bits)

    @property
    def n_axes(self) -> int:
        """Number of projected coordinates."""
        return len(self.projection)

    @property
    def n_bits(self) -> int:
        """Length of a code."""
        return self.n_axes * self.bits

    def codes(self, q: IntArray) -> IntArray:
        """Return the code of each quantised record."""
        y = (q.astype(np.float64) @ self.projection.T).astype(np.int64)
        cells = np.clip((y + (self.width << self.bits) // 2) // self.width, 0, (1 << self.bits) - 1)
        return self.at(cells)

    def at(self, places: IntArray) -> IntArray:
        """Return the codes of the smallest cells at these places, counted from 0 along each axis."""
        codes = np.zeros(len(places), dtype=np.int64)
        for bit in range(self.bits - 1, -1, -1):
            for axis in range(self.n_axes):
                codes = (codes << 1) | ((places[:, axis] >> bit) & 1)
        return codes

    def centres(self, prefixes: IntArray, depth: int) -> IntArray:
        """Return the centres of cells that are ``depth`` halvings deep, in halves of the smallest width.

        All axes have been halved equally often, so a prefix has ``depth * n_axes`` bits.
        """
        cells = np.zeros((len(prefixes), self.n_axes), dtype=np.int64)
        for position in range(depth * self.n_axes):
            bit = (prefixes >> (depth * self.n_axes - 1 - position)) & 1
            axis = position % self.n_axes
            cells[:, axis] = (cells[:, axis] << 1) | bit
        return ((2 * cells + 1) << (self.bits - depth)) - (1 << self.bits)


@dataclass(frozen=True)
class Tally:
    """Counts of records by their code. Exact: never stored, printed or returned to a user.

    ``codes`` are in ascending order and have ``n_bits`` bits; ``counts`` are positive.
    """

    codes: IntArray
    counts: IntArray
    n_bits: int

    @classmethod
    def of(cls, codes: IntArray, counts: IntArray, n_bits: int) -> "Tally":
        """Bring codes in order and add up equal ones."""
        unique, position = np.unique(codes, return_inverse=True)
        totals = np.zeros(len(unique), dtype=np.int64)
        np.add.at(totals, position, counts)
        return cls(unique, totals, n_bits)

    def __add__(self, other: "Tally") -> "Tally":
        """Return the tally of the records of both."""
        return Tally.of(
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.counts, other.counts]),
            self.n_bits,
        )

    def starting_with(self, prefixes: IntArray, n_bits: int) -> IntArray:
        """Return the number of records whose code starts with each prefix of ``n_bits`` bits."""
        before = np.concatenate([[0], np.cumsum(self.counts)])
        shift = self.n_bits - n_bits
        first = np.searchsorted(self.codes, prefixes << shift)
        end = np.searchsorted(self.codes, (prefixes + 1) << shift)
        counts: IntArray = before[end] - before[first]
        return counts

    def shortened(self, n_bits: int) -> "Tally":
        """Return the tally of the codes' first ``n_bits`` bits."""
        return Tally.of(self.codes >> (self.n_bits - n_bits), self.counts, n_bits)


def counts_starting_with(tally: Exact[Tally], prefixes: IntArray, n_bits: int) -> Exact[IntArray]:
    """Return the number of records whose code starts with each prefix of ``n_bits`` bits."""
    return sealed(opened(tally).starting_with(prefixes, n_bits))


@dataclass(frozen=True)
class PrefixCells:
    """Cells that are disjoint intervals of codes; records between them have none.

    ``starts`` and ``ends`` are in ascending order; a cell holds ``start <= code < end``.
    """

    codes: BinaryCodes
    starts: IntArray
    ends: IntArray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.starts)

    def labels(self, q: IntArray) -> IntArray:
        """Return the cell of each quantised record, -1 for none."""
        codes = self.codes.codes(q)
        cell = np.searchsorted(self.starts, codes, side="right") - 1
        inside = (cell >= 0) & (codes < self.ends[np.maximum(cell, 0)])
        return np.where(inside, cell, -1)


@dataclass(frozen=True)
class NearestCubes:
    """Cells of the nearest centre in the projection, for records rounded to the centre of their cube.

    ``centres`` are integers, in halves of the smallest width.
    """

    codes: BinaryCodes
    depth: int
    centres: IntArray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.centres)

    def labels(self, q: IntArray) -> IntArray:
        """Return the cell of each quantised record; ties go to the lowest index."""
        spare = self.codes.n_bits - self.depth * self.codes.n_axes
        cubes = self.codes.centres(self.codes.codes(q) >> spare, self.depth)
        labels: IntArray = squared_distances(cubes, self.centres).argmin(axis=1)
        return labels


def squared_distances(points: IntArray, centres: IntArray) -> IntArray:
    """Return exact squared distances, one axis after the other."""
    total = np.zeros((len(points), len(centres)), dtype=np.int64)
    for axis in range(points.shape[1]):
        total += np.square(points[:, axis, None] - centres[:, axis])
    return total
