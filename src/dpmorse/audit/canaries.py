"""Canaries: records whose presence a coin decides, and guesses about the coins from a released mixture.

A canary is a random corner of the bounds. In D columns its products of coordinates point in one of many
nearly orthogonal directions, D (D + 3) / 2 of them, so that the released moments of a mixture move
noticeably in the direction of each canary that is there. In a table it also has a random level in each
column of categories, and moves the released probabilities of levels.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.schema import Schema
from dpmorse.statistics import Domain
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Canaries(ABC):
    """Records, each of them there if its coin says so.

    Attributes
    ----------
    there, instead : ndarray with a row for each canary
        The record of each canary, and the record that replaces it where it is absent. Without ``instead``,
        absent canaries are left out.
    present : ndarray of bool
        The coins.
    """

    there: FloatArray
    instead: FloatArray | None
    present: BoolArray

    def __len__(self) -> int:
        return len(self.present)

    @property
    def records(self) -> FloatArray:
        """The records that are added to the data."""
        chosen = self.there[self.present]
        return chosen if self.instead is None else np.vstack([chosen, self.instead[~self.present]])

    def scores(self, mixture: Any, others: FloatArray) -> FloatArray:
        """Return the projection of the moments of a mixture on the direction of each canary.

        ``others`` are the records beside the canaries: the attacker knows them.
        """
        there = self._moments(self.there)
        instead = np.zeros_like(there) if self.instead is None else self._moments(self.instead)
        expected = (there + instead).sum(axis=0) / 2
        n_expected = len(others) + len(self) / (2 if self.instead is None else 1)
        known = self._moments_of_others(others).sum(axis=0) + expected
        return np.asarray((there - instead) @ (n_expected * self._released(mixture) - known))

    @abstractmethod
    def _moments(self, records: FloatArray) -> FloatArray:
        """Return the moments of each record, as canaries have them."""

    def _moments_of_others(self, others: FloatArray) -> FloatArray:
        """Return the moments of each of the other records."""
        return self._moments(others)

    @abstractmethod
    def _released(self, mixture: Any) -> FloatArray:
        """Return the same moments of a mixture."""


@dataclass(frozen=True)
class BoxCanaries(Canaries):
    """Corners of a public box, in its units; other records are in the caller's units."""

    domain: Domain

    @classmethod
    def drawn(cls, domain: Domain, n: int, rng: np.random.Generator, *, replaced: bool) -> "BoxCanaries":
        """Draw canaries, and toss their coins."""
        there, instead = (rng.choice([-1.0, 1.0], size=(n, domain.n_features)) for _ in range(2))
        return cls(there, instead if replaced else None, rng.random(n) < 0.5, domain)

    @property
    def records(self) -> FloatArray:
        """The records that are added to the data, in the caller's units."""
        return self.domain.centre + self.domain.half_width * super().records

    def _moments(self, records: FloatArray) -> FloatArray:
        return _moments_of_records(records)

    def _moments_of_others(self, others: FloatArray) -> FloatArray:
        scaled = (others - self.domain.centre) / self.domain.unit
        return _moments_of_records(np.clip(scaled, -1, 1))

    def _released(self, mixture: Any) -> FloatArray:
        return _moments_of_mixture(mixture, self.domain)


@dataclass(frozen=True)
class TableCanaries(Canaries):
    """Encoded records of a table: numbers at their bounds, and random levels."""

    schema: Schema

    @classmethod
    def drawn(cls, schema: Schema, n: int, rng: np.random.Generator, *, replaced: bool) -> "TableCanaries":
        """Draw canaries, and toss their coins."""
        there, instead = (any_records(schema, n, rng, at_bounds=True) for _ in range(2))
        return cls(there, instead if replaced else None, rng.random(n) < 0.5, schema)

    @property
    def _box(self) -> Domain:
        layout = self.schema.layout
        return Domain(np.array(layout.lower), np.array(layout.upper))

    def _moments(self, records: FloatArray) -> FloatArray:
        layout, domain = self.schema.layout, self._box
        scaled = (records[:, layout.number_part] - domain.centre) / domain.half_width
        return np.hstack([_moments_of_records(scaled), records[:, layout.level_part]])

    def _released(self, mixture: Any) -> FloatArray:
        numbers = _moments_of_mixture(mixture, self._box)
        return np.concatenate([numbers, mixture.weights @ mixture.probabilities])


def _moments_of_records(scaled: FloatArray) -> FloatArray:
    """Return first and second moments of each record, those off the diagonal weighted by sqrt 2."""
    below = np.tril_indices(scaled.shape[1], -1)
    products = scaled[:, below[0]] * scaled[:, below[1]]
    return np.hstack([scaled, np.square(scaled), np.sqrt(2) * products])


def _moments_of_mixture(mixture: Any, domain: Domain) -> FloatArray:
    """Return the same moments of a mixture's numbers, in the units of a domain."""
    means = (mixture.means - domain.centre) / domain.unit
    covariances = mixture.covariances / (domain.unit[:, None] * domain.unit)
    squares = covariances + means[:, :, None] * means[:, None, :]
    second = np.einsum("k,kij->ij", mixture.weights, squares)
    below = np.tril_indices(len(second), -1)
    return np.concatenate([mixture.weights @ means, np.diagonal(second), np.sqrt(2) * second[below]])


def any_records(schema: Schema, n: int, rng: np.random.Generator, *, at_bounds: bool) -> FloatArray:
    """Return encoded records without missing values: random levels, numbers at the bounds or well inside.

    Levels that stand for missing values, or for those that are not listed, are not drawn.
    """
    layout = schema.layout
    encoded = np.zeros((n, layout.width))
    places = rng.choice([0.0, 1.0], size=(n, layout.n_numbers))
    if not at_bounds:
        places = np.clip(0.5 + 0.25 * rng.standard_normal((n, layout.n_numbers)), 0.0, 1.0)
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    encoded[:, layout.number_part] = lower + (upper - lower) * places
    listed = [len(column.listed) for _, column in schema.categories] + [1] * len(schema.tracked)
    for own, n_listed in zip(layout.levels, listed, strict=True):
        drawn = layout.level_part.start + own.start + rng.integers(n_listed, size=n)
        encoded[np.arange(n), drawn] = 1.0
    return encoded


def as_table(schema: Schema, encoded: FloatArray) -> Any:
    """Return encoded records as people have them: an array of objects, in the order of the columns."""
    columns = schema.decode(encoded)
    table = np.empty((len(encoded), len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        table[:, j] = values.astype(object)
    return table
