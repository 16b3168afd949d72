"""Which rows of a person are used: a rule that depends on that person's rows alone, in any order.

Every row has a hash, made of its owner's id and its values. Of an owner with more than ``most`` rows, those
with the smallest hashes are used. Rows with equal hashes are equal, so that only their number matters: how
many copies of the last one are used is noted beside the limit.

Privacy
-------
Let f(R) be the rows used of a person with rows R, a multiset. It depends on R alone and has at most ``most``
elements. What is used of a dataset is the union of f(R_p) over all persons p, so that adding or removing all
rows of one person adds or removes at most ``most`` records and touches no other (Lemma 4 of
docs/privacy.md). Neither order nor partitions enter. A pass that sees other rows than the first one is
refused (``Fingerprint``). Were two different rows of a person to have one hash, either might stand for both;
there would not be more of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpmorse.engine import Checked, Fingerprint, HashArray, add_up
from dpmorse.records.persons._kernels import find_places, smallest_of_each
from dpmorse.records.persons.ids import Ids
from dpmorse.records.persons.owners import Batch, Owners, check_spelling
from dpmorse.typing import BoolArray, FloatArray, IntArray

_COPIES_AT_A_TIME = 1 << 16
"""Copies of equal rows that are in memory at a time."""

Total = Callable[[Callable[[Batch], Checked[Any]]], Checked[Any]]
"""Makes a pass over all batches, and adds up a function of each."""


@dataclass(frozen=True)
class Smallest:
    """The smallest hashes of each owner, one more than are used; those of parts of the records can be added.

    Attributes
    ----------
    ids : Ids
        All owners.
    places : ndarray
        Owner of each hash, in ascending order.
    hashes : ndarray
        Hashes, in ascending order for each owner.
    most : int
        How many rows of an owner are used.
    types : frozenset of str
        In what types ids were stored.
    """

    ids: Ids
    places: IntArray
    hashes: HashArray
    most: int
    types: frozenset[str]

    @classmethod
    def of(cls, owners: Owners, hashes: HashArray, most: int) -> "Smallest":
        """Find those among the hashes of rows with these owners."""
        n_ids = len(owners.ids)
        counts = np.bincount(owners.places, minlength=n_ids)
        n_kept = np.minimum(counts, most + 1)
        kept, ordered = np.empty(n_kept.sum(), dtype=np.uint64), np.empty_like(hashes)
        smallest_of_each(owners.places, hashes, np.cumsum(counts), np.cumsum(n_kept), ordered, kept)
        return cls(owners.ids, np.repeat(np.arange(n_ids), n_kept), kept, most, owners.types)

    def __add__(self, other: "Smallest") -> "Smallest":
        ids, mine, theirs = self.ids.merged(other.ids)
        places = np.concatenate([mine[self.places], theirs[other.places]])
        hashes = np.concatenate([self.hashes, other.hashes])
        return self.of(Owners(ids, places, self.types | other.types), hashes, self.most)

    @property
    def n_used(self) -> int:
        """How many rows are used."""
        return int((_ranks(self.places) < self.most).sum())

    def choice(self, name: str) -> "RowChoice":
        """Return the rule for all rows, once those of all batches are added; refuse ids in two spellings."""
        check_spelling(self.ids, self.types, name)
        self.ids.check_distinct_hashes(name)
        last = _ranks(self.places) == self.most
        owners, limits = self.places[last], self.hashes[last]
        limit_of = np.zeros(len(self.ids), dtype=np.uint64)
        limit_of[owners] = limits
        tied = (self.hashes == limit_of[self.places]) & ~last
        copies = np.bincount(self.places[tied], minlength=len(self.ids))[owners]
        hashes = self.ids.hashes[owners]
        order = np.argsort(hashes)
        return RowChoice(hashes[order], limits[order], copies[order])


def _ranks(places: IntArray) -> IntArray:
    """Return how many entries with the same place come before each; places are in ascending order."""
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    lengths = np.diff(np.append(starts, len(places)))
    ranks: IntArray = np.arange(len(places)) - np.repeat(starts, lengths)
    return ranks


@dataclass(frozen=True)
class RowChoice:
    """Which rows are used of the owners that have too many; of all others, all are.

    Attributes
    ----------
    owners : ndarray of uint64
        Hashes of the ids that have too many rows, in ascending order. No two ids have the same hash.
    limits : ndarray of uint64
        Rows with smaller hashes are used.
    copies : ndarray of int
        How many of the rows whose hash is the limit are used too; they are equal to one another.
    """

    owners: HashArray
    limits: HashArray
    copies: IntArray

    def used(self, batch: Batch, hashes: HashArray) -> BoolArray:
        """Return which rows are used: those of owners with few rows, and those below the limit."""
        found, limits = self._of_rows(batch)
        used: BoolArray = (found < 0) | (hashes < limits)
        return used

    def at_limit(self, batch: Batch, hashes: HashArray) -> "AtLimit":
        """Return one row for each owner of which some rows, but not all, whose hash is the limit are used."""
        found, limits = self._of_rows(batch)
        rows = np.flatnonzero((found >= 0) & (hashes == limits) & (self.copies[found] > 0))
        places, first = np.unique(found[rows], return_index=True)
        return AtLimit(places, batch.array[rows[first]])

    def _of_rows(self, batch: Batch) -> tuple[IntArray, HashArray]:
        """Return the place of each row's owner, -1 for those with few rows, and its limit."""
        if batch.owners is None:
            raise ValueError("rows without owners cannot be chosen")
        found = np.full(len(batch), -1)
        if not len(self.owners):
            return found, np.zeros(len(batch), dtype=np.uint64)
        find_places(self.owners, *self._buckets, batch.owner_hashes, found)
        return found, self.limits[found]

    @cached_property
    def _buckets(self) -> tuple[IntArray, np.uint64]:
        """Where the owners whose hashes share their first bits begin, and by how many bits to shift."""
        n_bits = max(1, len(self.owners).bit_length())
        shift = np.uint64(64 - n_bits)
        starts = np.searchsorted(self.owners >> shift, np.arange((1 << n_bits) + 1, dtype=np.uint64))
        return starts, shift


@dataclass(frozen=True)
class AtLimit:
    """Rows at the limits of their owners, one for each; those of parts of the records can be added."""

    places: IntArray
    rows: FloatArray

    def __add__(self, other: "AtLimit") -> "AtLimit":
        new = ~np.isin(other.places, self.places)
        return AtLimit(
            np.concatenate([self.places, other.places[new]]), np.concatenate([self.rows, other.rows[new]])
        )

    def repeated(self, choice: RowChoice) -> Iterator[FloatArray]:
        """Yield the rows, each as often as it is used, few at a time."""
        copies = choice.copies[self.places]
        for rows in _runs(copies):
            yield np.repeat(self.rows[rows], copies[rows], axis=0)


def _runs(copies: IntArray) -> Iterator[slice]:
    """Cut rows into runs with about ``_COPIES_AT_A_TIME`` copies each."""
    before = np.cumsum(copies) - copies
    for part in np.split(np.arange(len(copies)), np.flatnonzero(np.diff(before // _COPIES_AT_A_TIME)) + 1):
        if len(part):
            yield slice(part[0], part[-1] + 1)


@dataclass(frozen=True)
class Chosen:
    """Which rows of the records are used, and what the pass that found it has seen.

    Attributes
    ----------
    seen : Fingerprint
        What every pass must see.
    n_used : int
        How many rows are used.
    choice : RowChoice or None
        Which rows are used; None for all.
    at_limit : AtLimit or None
        Further rows that are used, counted in advance because they are equal to rows that are not used.
    """

    seen: Fingerprint
    n_used: int
    choice: RowChoice | None = None
    at_limit: AtLimit | None = None

    def mask_of(self, batch: Batch) -> BoolArray:
        """Return which rows of a batch are used, but for those at limits."""
        return self._used(batch, batch.hashes())

    def rows_of(self, batch: Batch) -> Checked[FloatArray]:
        """Return the rows of a batch that are used, but for those at limits, and what was seen."""
        hashes = batch.hashes()
        used = self._used(batch, hashes)
        return Checked(Fingerprint.of(hashes), batch.array if used.all() else batch.array[used])

    def others(self) -> Iterator[FloatArray]:
        """Yield the rows at limits that are used."""
        if self.choice is not None and self.at_limit is not None:
            yield from self.at_limit.repeated(self.choice)

    def _used(self, batch: Batch, hashes: HashArray) -> BoolArray:
        return np.ones(len(batch), dtype=bool) if self.choice is None else self.choice.used(batch, hashes)


def survey(batch: Batch, most: int | None) -> Checked[Smallest | None]:
    """Look at one batch for the first time; what is found in several can be added."""
    hashes = batch.hashes()
    smallest = None
    if most is not None and batch.owners is not None:
        smallest = Smallest.of(batch.owners.exact(), hashes, most)
    return Checked(Fingerprint.of(hashes), smallest)


def at_limits(batch: Batch, choice: RowChoice) -> Checked[AtLimit]:
    """Look for rows at limits in one batch; what is found in several can be added."""
    hashes = batch.hashes()
    return Checked(Fingerprint.of(hashes), choice.at_limit(batch, hashes))


def choose(surveyed: Checked[Smallest | None], total: Total, name: str) -> Chosen:
    """Decide which rows are used.

    Parameters
    ----------
    surveyed : Checked
        What the first pass over all records has found.
    total : callable
        Makes a second pass, which is needed only where some of a person's equal rows are used and some not:
        returns the sum of a function of all batches.
    name : str
        What ids are called in messages.
    """
    seen, smallest = surveyed.seen, surveyed.value
    if smallest is None:
        return Chosen(seen, seen.n_rows)
    choice = smallest.choice(name)
    if not choice.copies.any():
        return Chosen(seen, smallest.n_used, choice)
    again = total(partial(at_limits, choice=choice))
    seen.check_same(again.seen)
    return Chosen(seen, smallest.n_used, choice, again.value)


def choose_among(batches: Callable[[], Iterable[Batch]], most: int | None, name: str) -> Chosen:
    """Decide which rows are used of batches that can be gone through again."""

    def total(function: Callable[[Batch], Checked[Any]]) -> Checked[Any]:
        return add_up(map(function, batches()))

    return choose(total(partial(survey, most=most)), total, name)


def used_rows(batch: Batch, most: int | None, name: str) -> FloatArray:
    """Return the rows that are used of records that are all in memory."""
    if batch.owners is None or most is None:
        return batch.array
    chosen = choose_among(lambda: [batch], most, name)
    rows, others = chosen.rows_of(batch).value, list(chosen.others())
    return np.concatenate([rows, *others]) if others else rows
