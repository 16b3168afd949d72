"""A density of two columns, seen from above."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import MergeTree
from dpmorse.plots._drawing import LINE_COLOUR, axes, mode_labels
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(eq=False)
class LandscapeDisplay:
    """A density of two columns: contours of f, modes, saddles, and the edges between them.

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
    """

    x: FloatArray
    y: FloatArray
    heights: FloatArray
    modes: FloatArray
    saddles: FloatArray
    edges: IntArray
    certified: BoolArray
    mode_labels: IntArray
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_tree(
        cls, tree: MergeTree, mixture: GaussianMixture, n_clusters: int | None = None, resolution: int = 160
    ) -> Self:
        """Compute contours of a mixture of two columns, and the saddles that join its clusters."""
        if mixture.n_features != 2:
            raise InvalidParameterError(
                f"mixture must have 2 columns to be drawn as a landscape, got {mixture.n_features}. "
                "Use GraphDisplay for more."
            )
        low, high = _extent(mixture)
        x, y = (np.linspace(a, b, resolution) for a, b in zip(low, high, strict=True))
        grid = np.stack([g.ravel() for g in np.meshgrid(x, y)], axis=1)
        points = tree.critical_points
        used = tree.spanning_saddles
        return cls(
            x,
            y,
            -mixture.log_density(grid).reshape(resolution, resolution),
            points.modes,
            points.saddles[used],
            points.saddle_ends[used],
            points.saddle_certified[used],
            mode_labels(tree, n_clusters),
        )

    @classmethod
    def from_estimator(cls, model: Any, resolution: int = 160) -> Self:
        """Compute the landscape of a fitted ``MorseClustering``, coloured by its clusters."""
        return cls.from_tree(model.merge_tree_, model.partition_, model.n_clusters_, resolution)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes(ax)
        lowest = self.heights.min()
        # Levels in quadratic steps: near a minimum f grows with the square of the distance, so that contours
        # are evenly spaced there.
        levels = lowest + np.linspace(0, 3, 16) ** 2
        self.ax_.contour(self.x, self.y, self.heights, levels=levels, cmap="Greys_r", linewidths=0.6)
        for saddle, (a, b), certified in zip(self.saddles, self.edges, self.certified, strict=True):
            line = np.array([self.modes[a], saddle, self.modes[b]])
            self.ax_.plot(
                line[:, 0], line[:, 1], color=LINE_COLOUR, linestyle="-" if certified else "--", linewidth=1
            )
        self.ax_.scatter(*self.saddles.T, marker="x", color="tab:red", s=24, zorder=3, label="saddle")
        self.ax_.scatter(
            *self.modes.T,
            c=self.mode_labels % 10,
            cmap="tab10",
            vmin=-0.5,
            vmax=9.5,
            s=36,
            zorder=4,
            label="mode",
        )
        return self


def _extent(mixture: GaussianMixture) -> tuple[FloatArray, FloatArray]:
    """Return corners that hold nearly all of the mixture's mass, by a fixed sample of it."""
    sample = mixture.sample(4000, rng=0)[0]
    low, high = np.quantile(sample, [0.002, 0.998], axis=0)
    margin = 0.1 * (high - low)
    return low - margin, high + margin
