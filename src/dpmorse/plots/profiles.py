"""Numbers about clusters, column by column, with their intervals."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.plots._drawing import cluster_handles, colour, panels, tidy
from dpmorse.profiles import NOT_KNOWN, ClusterView, Estimate, LevelView, NumberView

_DAY_ZERO = 719163
"""The day from which matplotlib counts, in days of Python."""


@dataclass(frozen=True)
class NumberPanel:
    """Median and quartiles of one column: arrays of length n_clusters, NaN where they are not known.

    ``ticks`` are names of values where those are ranks; ``first_day`` is set where they are dates.
    """

    name: str
    median: Estimate
    q1: Estimate
    q3: Estimate
    ticks: tuple[str, ...] = ()
    first_day: int | None = None

    def draw(self, ax: Any) -> None:
        """Draw a thick line for the interval of the median, a thin one from quartile to quartile."""
        move = 0 if self.first_day is None else self.first_day - _DAY_ZERO
        n = len(self.median.value)
        for cluster in range(n):
            of_line: dict[str, Any] = {"color": colour(cluster), "solid_capstyle": "butt"}
            median, *ends = (part + move for part in self.median.at(cluster))
            quartiles = [one.value[cluster] + move for one in (self.q1, self.q3)]
            if np.isnan(median):
                grey: dict[str, Any] = {"fontsize": 7, "color": "0.4", "va": "center_baseline"}
                ax.text(0.01, cluster, NOT_KNOWN, transform=ax.get_yaxis_transform(), **grey)
            ax.plot(quartiles, [cluster, cluster], linewidth=1, **of_line)
            ax.plot(ends, [cluster, cluster], linewidth=5, alpha=0.5, **of_line)
            ax.plot([median], [cluster], color=colour(cluster), marker="o", markersize=5)
        if self.first_day is not None:
            ax.xaxis_date()
            ax.tick_params(axis="x", labelrotation=30)
        if self.ticks:
            ax.set_xticks(range(len(self.ticks)), self.ticks, fontsize=8)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_ylim(n - 0.5, -0.5)  # the first cluster on top
        ax.set_xlabel("median, and half of the values", fontsize=8)


@dataclass(frozen=True)
class LevelPanel:
    """Shares of the levels of one category, and of missing values: shape (n_clusters, n_levels)."""

    name: str
    levels: tuple[str, ...]
    share: Estimate

    @classmethod
    def of(cls, column: LevelView) -> Self:
        """Add missing values to the levels, where there may be any: together they are all of a cluster."""
        if column.missing is None:
            return cls(column.title, column.levels, column.level_share)
        share = Estimate.stacked([column.level_share, column.missing])
        return cls(column.title, (*column.levels, "missing"), share)

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
        ax.set_xlim(left=0)
        hidden = ", ".join(map(str, np.flatnonzero(np.isnan(self.share.value[:, 0]))))
        ax.set_xlabel(f"% of the cluster{hidden and f' ({hidden}: {NOT_KNOWN})'}", fontsize=8)


@dataclass(eq=False)
class ProfileDisplay:
    """One panel for each column: medians with intervals, quartiles, and levels of categories as bars.

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
            NumberPanel(each.title, each.median, each.q1, each.q3, each.column.ranks, each.column.first)
            if isinstance(each, NumberView)
            else LevelPanel.of(each)
            for each in view.columns
            if isinstance(each, NumberView | LevelView)
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
