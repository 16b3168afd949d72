"""Clusters of any number of columns, as a matrix of pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.plots._drawing import cluster_handles, colour, colours, pyplot, tidy
from dpmorse.profiles import draw_records
from dpmorse.typing import FloatArray, IntArray

_MOST_COLUMNS = 5
"""Columns that are chosen where none are named."""

_GRID = 200


@dataclass(eq=False)
class PairsDisplay:
    """Synthetic records of each pair of columns, coloured by cluster, and densities on the diagonal.

    All that is shown comes from the released model: no point is a record. Densities are those of its mixture.

    Attributes
    ----------
    names : list of str
        Columns that are shown; where none were named, up to five in which clusters differ most.
    points : ndarray of shape (n_samples, n_columns)
        Synthetic records.
    labels : ndarray of int of shape (n_samples,)
        Cluster of each.
    grids : ndarray of shape (n_columns, n_points)
        Values of each column at which densities are known.
    densities : ndarray of shape (n_columns, n_clusters, n_points)
        Density of each cluster in each column, weighted by its share.
    """

    names: list[str]
    points: FloatArray
    labels: IntArray
    grids: FloatArray
    densities: FloatArray
    axes_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, model: Any, columns: Sequence[str] | None = None, n_samples: int = 1500, random_state: int = 0
    ) -> Self:
        """Draw synthetic records of a fitted model; of a table, the columns that are numbers."""
        mixture, clusters = model.mixture_, model._labels_of_components(None)
        schema = model._released.schema_
        every = list(schema.number_names)
        if not every:
            raise InvalidParameterError("model must have columns of numbers for pairs. Use ProfileDisplay.")
        profile, rng = model._released.profile_, np.random.default_rng(random_state)
        points, components = (
            mixture.sample(n_samples, rng)
            if profile is None
            else draw_records(profile, model._released.partition_, schema, n_samples, rng)
        )
        points = points[:, schema.layout.number_part]
        if columns is None:
            shown = _telling(mixture, clusters)
        elif len(columns) and all(name in every for name in columns):
            shown = [every.index(name) for name in columns]
        else:
            raise InvalidParameterError(f"columns must name columns of numbers: {', '.join(every[:8])}.")
        grids = np.linspace(points[:, shown].min(axis=0), points[:, shown].max(axis=0), _GRID, axis=1)
        densities = np.stack([_marginals(mixture, clusters, j, x) for j, x in zip(shown, grids, strict=True)])
        # dates are days since the earliest, ordered values ranks
        called = (schema.numbers[j] for j in shown)
        titles = [f"{name} ({column.unit})" if column.unit else name for name, column in called]
        return cls(titles, points[:, shown], clusters[components], grids, densities)

    def plot(self) -> Self:
        """Draw on a new figure."""
        n = len(self.names)
        size = max(2.0 * n, 5.0)
        self.figure_, self.axes_ = pyplot().subplots(n, n, figsize=(size, size), squeeze=False, sharex="col")
        edge = 0.65 / size  # for names and ticks, in inches
        self.figure_.subplots_adjust(
            left=edge, right=0.98, bottom=0.8 * edge, top=1 - 0.6 * edge, wspace=0.08, hspace=0.08
        )
        for i, j in np.ndindex(n, n):
            ax = self.axes_[i, j]
            if i == j:
                for cluster, density in enumerate(self.densities[i]):
                    ax.fill_between(self.grids[i], density, color=colour(cluster), alpha=0.25, linewidth=0)
                    ax.plot(self.grids[i], density, color=colour(cluster), linewidth=1.2)
                ax.set_ylim(bottom=0)
                ax.set_yticks([])
            elif i > j:
                self._draw_records(ax, j, i)
            else:
                ax.set_axis_off()
            tidy(ax)
        for across, up, name in zip(self.axes_[-1], self.axes_[:, 0], self.names, strict=True):
            across.set_xlabel(name)
            up.set_ylabel(name)
        self.axes_[0, 0].set_ylabel("density")
        handles = cluster_handles(self.labels)
        self.figure_.legend(
            handles=handles, frameon=False, loc="upper right", bbox_to_anchor=(0.99, 1 - 0.6 * edge)
        )
        self.figure_.suptitle("Synthetic records of the released model, by cluster", fontsize=11)
        return self

    def _draw_records(self, ax: Any, across: int, up: int) -> None:
        ax.scatter(
            *self.points[:, [across, up]].T,
            s=4,
            alpha=0.5,
            c=colours(self.labels),
            linewidths=0,
            rasterized=True,
        )
        low, high = self.grids[up, [0, -1]]
        margin = 0.05 * (high - low)
        ax.set_ylim(low - margin, high + margin)  # the same in all panels of a row
        ax.tick_params(labelleft=across == 0)


def _telling(mixture: Any, clusters: IntArray) -> list[int]:
    """Return the columns in which most of the variance is between clusters, in their order."""
    members = np.eye(int(clusters.max()) + 1)[clusters].T * mixture.weights
    shares = np.maximum(members.sum(axis=1), np.finfo(np.float64).tiny)
    centres = members @ mixture.means / shares[:, None]
    within = mixture.weights @ np.diagonal(mixture.covariances, axis1=1, axis2=2)
    total = within + mixture.weights @ (mixture.means - mixture.weights @ mixture.means) ** 2
    between = shares @ (centres - mixture.weights @ mixture.means) ** 2
    order = np.argsort(-between / np.maximum(total, np.finfo(np.float64).tiny), kind="stable")
    return sorted(int(j) for j in order[:_MOST_COLUMNS])


def _marginals(mixture: Any, clusters: IntArray, column: int, x: FloatArray) -> FloatArray:
    """Return the density of one column, for each cluster, weighted by its share."""
    spread = np.sqrt(mixture.covariances[:, column, column])[:, None]
    bells = np.exp(-(((x - mixture.means[:, column, None]) / spread) ** 2) / 2) / (
        spread * np.sqrt(2 * np.pi)
    )
    members = np.eye(int(clusters.max()) + 1)[clusters].T * mixture.weights
    return np.asarray(members @ bells)
