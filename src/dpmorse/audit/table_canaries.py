"""Canaries of tables with categories: records at bounds and with random levels, told by the released moments.

A canary has one level in each column of categories. The released probabilities of levels, and the moments of
the numbers, move in its direction if it is there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.audit.canaries import moments_of_mixture, moments_of_records
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.schema import Schema
from dpmorse.statistics import Domain
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class TableCanaries:
    """Encoded records, each of them there if its coin says so.

    Attributes
    ----------
    schema : Schema
        The public columns.
    there, instead : ndarray of shape (n_canaries, layout.width)
        The record of each canary, and the record that replaces it where it is absent. Without ``instead``,
        absent canaries are left out.
    present : ndarray of bool
        The coins.
    """

    schema: Schema
    there: FloatArray
    instead: FloatArray | None
    present: BoolArray

    @classmethod
    def drawn(cls, schema: Schema, n: int, rng: np.random.Generator, *, replaced: bool) -> "TableCanaries":
        """Draw canaries, and toss their coins."""
        there, instead = (any_records(schema, n, rng, at_bounds=True) for _ in range(2))
        return cls(schema, there, instead if replaced else None, rng.random(n) < 0.5)

    def __len__(self) -> int:
        return len(self.present)

    @property
    def records(self) -> FloatArray:
        """The records that are added to the data, encoded."""
        chosen = self.there[self.present]
        return chosen if self.instead is None else np.vstack([chosen, self.instead[~self.present]])

    def scores(self, mixture: ProductMixture, others: FloatArray) -> FloatArray:
        """Return the projection of the moments of a mixture on the direction of each canary.

        ``others`` are the records beside the canaries, encoded: the attacker knows them.
        """
        there = self._moments(self.there)
        instead = np.zeros_like(there) if self.instead is None else self._moments(self.instead)
        n_expected = len(others) + len(self) / (2 if self.instead is None else 1)
        known = self._moments(others).sum(axis=0) + (there + instead).sum(axis=0) / 2
        return np.asarray((there - instead) @ (n_expected * self._released(mixture) - known))

    def _moments(self, encoded: FloatArray) -> FloatArray:
        """Return first and second moments of the numbers of each record, and its levels."""
        layout, domain = self.schema.layout, self._box
        levels = encoded[:, layout.level_part]
        if domain is None:
            return levels
        scaled = (encoded[:, layout.number_part] - domain.centre) / domain.half_width
        return np.hstack([moments_of_records(scaled), levels])

    def _released(self, mixture: ProductMixture) -> FloatArray:
        levels = np.asarray(mixture.weights @ mixture.probabilities)
        if self._box is None:
            return levels
        numbers = GaussianMixture(mixture.weights, mixture.means, mixture.covariances)
        return np.concatenate([moments_of_mixture(numbers, self._box), levels])

    @property
    def _box(self) -> Domain | None:
        layout = self.schema.layout
        return Domain(np.array(layout.lower), np.array(layout.upper)) if layout.n_numbers else None


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
    listed = [len(column.values) for _, column in schema.categories] + [1] * len(schema.tracked)
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
