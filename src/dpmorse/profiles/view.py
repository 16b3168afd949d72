"""What people read of the clusters of one cut, column by column: in tables, on pages and in pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr

from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.profiles.again import Again
from dpmorse.profiles.cautions import Caution
from dpmorse.profiles.estimate import NOT_KNOWN, Estimate, Interval, Quartiles, shown_decimals
from dpmorse.profiles.table import QUARTILES, ClusterTable
from dpmorse.schema import CategoryColumn, NumberColumn, Schema
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class ColumnView:
    """One column in every cluster.

    Attributes
    ----------
    place : int
        Where it is among the columns.
    name : str
        Its name.
    title : str
        What people call it, with its unit.
    missing : Estimate of shape (n_clusters,) or None
        Part of the cluster's records in which it is missing, where it may be and that was measured.
    """

    place: int
    name: str
    title: str
    missing: Estimate | None


@dataclass(frozen=True, kw_only=True)
class LevelView(ColumnView):
    """A column that is a category.

    Attributes
    ----------
    levels : tuple of str
        Names of the levels.
    level_share : Estimate of shape (n_clusters, n_levels)
        Part of the cluster's records with each level.
    """

    levels: tuple[str, ...]
    level_share: Estimate


@dataclass(frozen=True, kw_only=True)
class NumberView(Quartiles, ColumnView):
    """A column that is a number.

    Attributes
    ----------
    column : NumberColumn
        What was stated of it.
    quantiles : dict of Estimate of shape (n_clusters,)
        Its quantiles, by the part of the values that lies below.
    """

    column: NumberColumn
    quantiles: dict[float, Estimate]

    def decimals(self, number: Interval) -> int:
        """Return how many decimals of a value matter: two digits of half its interval.

        Where there is none, it is two digits of half the distance between quartiles, that of the cluster in
        which they lie furthest apart.
        """
        ends = number[1:] if number.is_known else (0.0, float(np.fmax.reduce(self.q3.value - self.q1.value)))
        return 0 if self.column.whole else max(shown_decimals(*ends), 0)

    def text(self, number: Interval, of_ends: str = "{} ({} to {})") -> str:
        """Write a value with its interval in the terms of the column."""
        if number.is_hidden:
            return NOT_KNOWN
        decimals = self.decimals(number)
        if not number.is_known:
            return self.column.text(number.value, decimals)
        return of_ends.format(*(self.column.text(part, decimals) for part in number))

    def half(self, cluster: int, of_quartiles: str = "{} to {}") -> str:
        """Write the quartiles of a cluster, between which half of its values lie."""
        ends = self.q1.at(cluster), self.q3.at(cluster)
        if any(end.is_hidden for end in ends):
            return NOT_KNOWN
        decimals = min(map(self.decimals, ends))
        return of_quartiles.format(*(self.column.text(end.value, decimals) for end in ends))


@dataclass(frozen=True)
class ClusterView:
    """The clusters of one cut.

    Attributes
    ----------
    schema : Schema
        What the columns are.
    share : Estimate of shape (n_clusters,)
        Part of all records.
    table : ClusterTable or None
        What was measured. None if nothing was: numbers are those of the mixture then, and have no intervals.
    columns : tuple of ColumnView
        The columns, in order: of type NumberView or LevelView.
    cautions : tuple of Caution
        What a reader must be told.
    again : Again or None
        How often each was found again, where that is known.
    """

    schema: Schema
    share: Estimate
    table: ClusterTable | None
    columns: tuple[ColumnView, ...]
    cautions: tuple[Caution, ...] = ()
    again: Again | None = None

    @classmethod
    def of(
        cls,
        table: ClusterTable,
        schema: Schema,
        cautions: Sequence[Caution] = (),
        again: Again | None = None,
    ) -> Self:
        """Take the numbers of a table, what must be said about it, and what rehearsals say."""
        columns = _columns(schema, table.quantiles, table.level_share, table.missing)
        return cls(schema, table.share, table, tuple(columns), tuple(cautions), again)

    @classmethod
    def of_mixture(cls, mixture: GaussianMixture | ProductMixture, labels: IntArray, schema: Schema) -> Self:
        """Take the numbers of the clusters that a mixture's components are labelled with, 0, 1, ...

        That is for where no profile was released.
        """
        return cls.of_groups(mixture, np.eye(int(labels.max()) + 1)[labels].T, schema)

    @classmethod
    def of_groups(
        cls, mixture: GaussianMixture | ProductMixture, members: FloatArray, schema: Schema
    ) -> Self:
        """Take those of any groups of components: rows of ``members`` have 1 where a component belongs.

        Of a group without weight nothing but its share is known.
        """
        weights = members * mixture.weights
        share = weights.sum(axis=1)
        parts = weights / np.where(share > 0, share, np.nan)[:, None]
        quantiles = {
            p: Estimate.alone(np.array([_quantiles(mixture, own, p) for own in parts])) for p in QUARTILES
        }
        levels = parts @ mixture.probabilities
        of_categories = [
            Estimate.alone(levels[:, part]) for part in schema.layout.levels[: len(schema.categories)]
        ]
        columns = _columns(schema, quantiles, of_categories, None)
        return cls(schema, Estimate.alone(share), None, tuple(columns))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.share.value)

    def found_again(self, cluster: int) -> str:
        """Say how often a cluster was found again; nothing where that is not known."""
        return "" if self.again is None else self.again.in_words(cluster)

    def notes(self, cluster: int, place: int) -> list[Caution]:
        """Return what is said about one column of one cluster: about the cluster, the column, or both."""
        return [
            note for note in self.cautions if note.cluster in {cluster, None} and note.column in {place, None}
        ]


def _columns(
    schema: Schema,
    quantiles: Mapping[float, Estimate],
    level_share: Sequence[Estimate],
    missing: Estimate | None,
) -> Iterator[ColumnView]:
    """Find each column: numbers and categories have an order of their own."""
    numbers = {place: j for j, place in enumerate(schema.number_places)}
    categories = {place: j for j, place in enumerate(schema.category_places)}
    for place, (name, column) in enumerate(schema.columns):
        j = numbers[place] if place in numbers else len(numbers) + categories[place]
        known = missing[:, j] if missing is not None and j in schema.with_gaps else None
        parts: dict[str, Any] = {
            "place": place,
            "name": name,
            "title": column.title(name),
            "missing": known,
        }
        if isinstance(column, NumberColumn):
            yield NumberView(**parts, column=column, quantiles={p: one[:, j] for p, one in quantiles.items()})
        elif isinstance(column, CategoryColumn):
            yield LevelView(**parts, levels=column.levels, level_share=level_share[categories[place]])


def _quantiles(mixture: GaussianMixture | ProductMixture, parts: FloatArray, p: float) -> FloatArray:
    """Return a quantile of each number in a group that has these parts of components, by halving."""
    own = parts > 0
    if not own.any():
        return np.full(mixture.means.shape[1], np.nan)
    means = mixture.means[own]
    deviations = np.sqrt(np.diagonal(mixture.covariances[own], axis1=1, axis2=2))
    low, high = (means - _FAR * deviations).min(axis=0), (means + _FAR * deviations).max(axis=0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = parts[own] @ ndtr((middle - means) / deviations) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


_FAR = 9.0
"""Standard deviations of a component beyond which it has no quantile that is asked for."""

_HALVINGS = 60
