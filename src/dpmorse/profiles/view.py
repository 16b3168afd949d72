"""What people read of the clusters of one cut, column by column: in tables, on pages and in pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.profiles.cautions import Caution
from dpmorse.profiles.estimate import Estimate
from dpmorse.profiles.table import ClusterTable
from dpmorse.schema import NumberColumn, Schema
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
    levels : tuple of str
        Names of the levels of a category; of a number of which "missing" is a level, whether it is there.
    level_share : Estimate of shape (n_clusters, n_levels)
        Part of the cluster's records with each level.
    missing : Estimate of shape (n_clusters,) or None
        Part of the cluster's records in which it is missing, where that was measured and is no level.
    """

    place: int
    name: str
    levels: tuple[str, ...]
    level_share: Estimate
    missing: Estimate | None


@dataclass(frozen=True, kw_only=True)
class NumberView(ColumnView):
    """A column that is a number: its mean and standard deviation, of shape (n_clusters,)."""

    column: NumberColumn
    centre: Estimate
    spread: Estimate


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
        The columns, in order; those that are numbers are of type NumberView.
    cautions : tuple of Caution
        What a reader must be told.
    """

    schema: Schema
    share: Estimate
    table: ClusterTable | None
    columns: tuple[ColumnView, ...]
    cautions: tuple[Caution, ...] = ()

    @classmethod
    def of(cls, table: ClusterTable, schema: Schema, cautions: Sequence[Caution] = ()) -> Self:
        """Take the numbers of a table, and what must be said about it."""
        levels = table.levels
        columns = _columns(schema, table.centre, table.spread, levels.share, levels.missing)
        return cls(schema, table.share, table, tuple(columns), tuple(cautions))

    @classmethod
    def of_mixture(cls, mixture: GaussianMixture | ProductMixture, labels: IntArray, schema: Schema) -> Self:
        """Take the moments of the groups of a mixture's components, where no profile was released."""
        members = np.eye(int(labels.max()) + 1, dtype=bool)[labels].T
        groups = [_moments(mixture, mine) for mine in members]
        share, mean, deviation, levels = (
            Estimate.alone(np.array(part)) for part in zip(*groups, strict=True)
        )
        return cls(schema, share, None, tuple(_columns(schema, mean, deviation, levels, None)))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.share.value)

    def notes(self, cluster: int, place: int) -> list[Caution]:
        """Return what is said about one column of one cluster: about the cluster, the column, or both."""
        return [
            note for note in self.cautions if note.cluster in {cluster, None} and note.column in {place, None}
        ]


def _columns(
    schema: Schema, centre: Estimate, spread: Estimate, level_share: Estimate, missing: Estimate | None
) -> Iterator[ColumnView]:
    """Find each column: numbers, categories, levels and missing values have an order of their own."""
    layout, n_categories = schema.layout, len(schema.category_places)
    of_number = {place: j for j, place in enumerate(schema.number_places)}
    of_labels = {place: j for j, place in enumerate(schema.category_places)}
    of_labels |= {schema.number_places[j]: n_categories + i for i, j in enumerate(schema.tracked)}
    for place, (name, column) in enumerate(schema.columns):
        label, j = of_labels.get(place), of_number.get(place, layout.n_numbers + of_labels.get(place, 0))
        may_miss = column.missing == "ignore" or (place in of_number and column.missing != "refuse")
        parts: dict[str, Any] = {
            "place": place,
            "name": name,
            "levels": () if label is None else schema.labels[label][1],
            "level_share": level_share[:, slice(0) if label is None else layout.levels[label]],
            "missing": missing[:, j] if missing is not None and may_miss else None,
        }
        if isinstance(column, NumberColumn):
            yield NumberView(**parts, column=column, centre=centre[:, j], spread=spread[:, j])
        else:
            yield ColumnView(**parts)


def _moments(
    mixture: GaussianMixture | ProductMixture, mine: IntArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return share, means, standard deviations and levels of some components, taken together.

    Variances add up by the law of total variance: inside the components, and between their means.
    """
    share, n = float(mixture.weights[mine].sum()), int(mine.sum())
    weights = mixture.weights[mine] / share if share > 0 else np.full(n, 1 / max(n, 1))
    mean = weights @ mixture.means[mine]
    inside = weights @ np.diagonal(mixture.covariances[mine], axis1=1, axis2=2)
    between = weights @ (mixture.means[mine] - mean) ** 2
    probabilities = getattr(mixture, "probabilities", np.empty((len(mixture.weights), 0)))
    return share, mean, np.sqrt(inside + between), weights @ probabilities[mine]
