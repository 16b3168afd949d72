"""A density of two columns, seen from above."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import MergeTree
from dpmorse.plots._drawing import (
    LINE_COLOUR,
    axes,
    cluster_handles,
    colour,
    colours,
    mode_labels,
)
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(eq=False)
class LandscapeDisplay:
    """A density of two columns: contours of f, regions of clusters, modes, saddles and edges between them.

    Attributes
    ----------
    x, y : ndarray of shape (n,)
        Grid.
    heights : ndarray of shape (n, n)
        f on the grid.
    modes, saddles : ndarray of shape (.., 2)
        Critical points.
    edges : ndarray of int of shape (n_saddles, 2)
        Modes that each saddle joins.
    certified : ndarray of bool of shape (n_saddles,)
        Certificates.
    mode_labels : ndarray of int of shape (n_modes,)
        Cluster of each mode.
    regions : ndarray of int of shape (n, n)
        Cluster of each point of the grid: that of its most probable component.
    names : list of str
        Names of the two columns.
    """

    x: FloatArray
    y: FloatArray
    heights: FloatArray
    modes: FloatArray
    saddles: FloatArray
    edges: IntArray
    certified: BoolArray
    mode_labels: IntArray
    regions: IntArray
    names: list[str]
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_tree(
        cls,
        tree: MergeTree,
        mixture: GaussianMixture,
        n_clusters: int | None = None,
        resolution: int = 160,
        names: Any = None,
    ) -> Self:
        """Compute contours of a mixture of two columns, and the saddles that join its clusters."""
        if mixture.n_features != 2:
            raise InvalidParameterError(
                f"mixture must have 2 columns to be drawn as a landscape, got {mixture.n_features}. "
                "Use PairsDisplay or GraphDisplay for more."
            )
        # corners that hold nearly all of the mixture's mass, by a fixed sample of it
        low, high = np.quantile(mixture.sample(4000, rng=0)[0], [0.002, 0.998], axis=0)
        margin = 0.1 * (high - low)
        x, y = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
        grid = np.stack([g.ravel() for g in np.meshgrid(x, y)], axis=1)
        points = tree.critical_points
        used = tree.spanning_saddles
        labels = tree.cut(tree.suggested_n_clusters if n_clusters is None else n_clusters)
        return cls(
            x,
            y,
            -mixture.log_density(grid).reshape(resolution, resolution),
            points.modes,
            points.saddles[used],
            points.saddle_ends[used],
            points.saddle_certified[used],
            mode_labels(tree, n_clusters),
            labels[mixture.labels(grid)].reshape(resolution, resolution),
            ["column 0", "column 1"] if names is None else [str(name) for name in names],
        )

    @classmethod
    def from_estimator(cls, model: Any, resolution: int = 160) -> Self:
        """Compute the landscape of a fitted ``MorseClustering``, coloured by its clusters."""
        names = getattr(model, "feature_names_in_", None)
        return cls.from_tree(
            model.merge_tree_, model._released.partition_, model.n_clusters_, resolution, names
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes(ax)
        # Levels in quadratic steps: near a minimum f grows with the square of the distance, so that contours
        # are evenly spaced there. What lies inside of the outermost is tinted by cluster.
        levels = self.heights.min() + np.linspace(0, 3, 12) ** 2
        for cluster in np.unique(self.regions):
            inside = (self.regions == cluster) & (self.heights <= levels[-1])
            self.ax_.contourf(
                self.x, self.y, inside.astype(float), levels=[0.5, 1.5], colors=[colour(cluster)], alpha=0.18
            )
        self.ax_.contour(self.x, self.y, self.heights, levels=levels, colors="0.5", linewidths=0.5)
        for saddle, (a, b), certified in zip(self.saddles, self.edges, self.certified, strict=True):
            line = np.array([self.modes[a], saddle, self.modes[b]])
            self.ax_.plot(
                line[:, 0], line[:, 1], color=LINE_COLOUR, linestyle="-" if certified else "--", linewidth=1
            )
        saddles = self.ax_.scatter(
            *self.saddles.T, marker="x", color=LINE_COLOUR, s=24, zorder=3, label="saddle"
        )
        self.ax_.scatter(
            *self.modes.T, c=colours(self.mode_labels), s=60, zorder=4, edgecolors="white", label="mode"
        )
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1], title="Density, with its modes and saddles")
        handles = [*cluster_handles(self.mode_labels), *([saddles] if len(self.saddles) else [])]
        self.ax_.legend(handles=handles, fontsize=8, framealpha=0.8, loc=self._empty_corner())
        return self

    def _empty_corner(self) -> str:
        """Return the corner, in matplotlib's words, where the density is lowest."""
        half = len(self.x) // 2
        corners = {
            "lower left": self.heights[:half, :half],
            "lower right": self.heights[:half, half:],
            "upper left": self.heights[half:, :half],
            "upper right": self.heights[half:, half:],
        }
        return max(corners, key=lambda name: float(corners[name].min()) + float(np.median(corners[name])))
