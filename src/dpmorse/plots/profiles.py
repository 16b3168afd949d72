"""Numbers about clusters, column by column, with their intervals."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.plots._drawing import cluster_handles, colour, panels, tidy
from dpmorse.profiles import ClusterView, Estimate, NumberView

_DAY_ZERO = 719163
"""The day from which matplotlib counts, in days of Python."""


@dataclass(frozen=True)
class NumberPanel:
    """Centre and spread of one column: arrays of length n_clusters, with ends of the centre's interval.

    ``ticks`` are names of values where those are ranks; ``first_day`` is set where they are dates.
    """

    name: str
    centre: Estimate
    spread: Estimate
    ticks: tuple[str, ...] = ()
    first_day: int | None = None

    def draw(self, ax: Any) -> None:
        """Draw a thick line for the interval of the centre, a thin one for a spread to either side."""
        move = 0 if self.first_day is None else self.first_day - _DAY_ZERO
        n = len(self.centre.value)
        for cluster in range(n):
            centre, low, high = (
                getattr(self.centre, end)[cluster] + move for end in ("value", "low", "high")
            )
            spread = self.spread.value[cluster]
            ax.plot(
                [centre - spread, centre + spread], [cluster, cluster], color=colour(cluster), linewidth=1
            )
            ax.plot([low, high], [cluster, cluster], color=colour(cluster), linewidth=5, alpha=0.5)
            ax.plot([centre], [cluster], color=colour(cluster), marker="o", markersize=5)
        if self.first_day is not None:
            ax.xaxis_date()
            ax.tick_params(axis="x", labelrotation=30)
        if self.ticks:
            ax.set_xticks(range(len(self.ticks)), self.ticks, fontsize=8)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_ylim(n - 0.5, -0.5)  # the first cluster on top
        ax.set_xlabel("mean ± spread", fontsize=8)


@dataclass(frozen=True)
class LevelPanel:
    """Shares of the levels of one category: shape (n_clusters, n_levels)."""

    name: str
    levels: tuple[str, ...]
    share: Estimate

    def draw(self, ax: Any) -> None:
        """Draw a bar for each level and cluster, with its interval."""
        n_clusters, n_levels = self.share.value.shape
        thick, places = 0.8 / n_clusters, np.arange(n_levels)
        for cluster in range(n_clusters):
            value, low, high = (100 * getattr(self.share, end)[cluster] for end in ("value", "low", "high"))
            ax.barh(
                places + (cluster - (n_clusters - 1) / 2) * thick,
                value,
                height=0.9 * thick,
                xerr=np.abs([value - low, high - value]),
                color=colour(cluster),
                error_kw={"elinewidth": 0.8, "ecolor": "0.25"},
            )
        ax.set_yticks(places, self.levels, fontsize=8)
        ax.invert_yaxis()
        ax.set_xlabel("% of the cluster", fontsize=8)


@dataclass(eq=False)
class ProfileDisplay:
    """One panel for each column: means with intervals and spreads, and levels of categories as bars.

    Attributes
    ----------
    shares : Estimate of shape (n_clusters,)
        Part of all records.
    panels : list of NumberPanel and LevelPanel
        What is drawn, in the order of the columns.
    """

    shares: Estimate
    panels: list[Any]
    axes_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, model: Any, n_clusters: int | None = None, *, level: float = 0.95, population: bool = False
    ) -> Self:
        """Take the table of a fitted model with a profile, cut as the model is or as asked."""
        table = model.table(n_clusters, level=level, population=population)
        view = ClusterView.of(table, model._released.schema_)
        panels = [
            NumberPanel(each.name, each.centre, each.spread, each.column.ranks, each.column.first)
            if isinstance(each, NumberView)
            else LevelPanel(each.name, each.levels, each.level_share)
            for each in view.columns
        ]
        return cls(view.share, panels)

    def plot(self) -> Self:
        """Draw on a new figure."""
        self.figure_, self.axes_ = panels(len(self.panels))
        for panel, ax in zip(self.panels, self.axes_, strict=True):
            panel.draw(ax)
            ax.set_title(panel.name, fontsize=10)
            tidy(ax)
        handles = cluster_handles(range(len(self.shares.value)))
        for handle, share in zip(handles, self.shares.value, strict=True):
            handle.set_label(f"{handle.get_label()}: {100 * share:.0f} %")
        self.figure_.legend(
            handles=handles, loc="outside lower center", ncols=min(len(handles), 6), frameon=False, fontsize=9
        )
        self.figure_.suptitle("Clusters, column by column, with intervals", fontsize=11)
        return self
