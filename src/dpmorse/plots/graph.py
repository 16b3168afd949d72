"""Modes and saddles of any number of columns, laid out in the plane."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpmorse.morse import MergeTree
from dpmorse.plots._drawing import axes, cluster_handles, colours, mode_labels
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(eq=False)
class GraphDisplay:
    """Modes and the saddles that join them, laid out in the plane, for any number of columns.

    Positions are along the two directions in which the modes spread most, columns scaled to equal spread.

    Attributes
    ----------
    positions : ndarray of shape (n_modes, 2)
        Positions of the modes in the picture.
    edges, barriers, certified : arrays of length n_edges
        Modes joined, height above the deepest mode, certificate.
    masses : ndarray of shape (n_modes,)
        Weight of the components below each mode.
    mode_labels : ndarray of int of shape (n_modes,)
        Cluster of each mode.
    """

    positions: FloatArray
    edges: IntArray
    barriers: FloatArray
    certified: BoolArray
    masses: FloatArray
    mode_labels: IntArray
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_tree(cls, tree: MergeTree, n_clusters: int | None = None) -> Self:
        """Compute a layout of the modes of a tree."""
        points = tree.critical_points
        used = tree.spanning_saddles
        masses = np.bincount(points.component_modes, weights=tree.weights, minlength=points.n_modes).astype(
            np.float64
        )
        return cls(
            _spread(points.modes),
            points.saddle_ends[used],
            points.saddle_heights[used] - points.mode_heights[0],
            points.saddle_certified[used],
            masses,
            mode_labels(tree, n_clusters),
        )

    @classmethod
    def from_estimator(cls, model: Any) -> Self:
        """Compute the layout of a fitted ``MorseClustering``, coloured by its clusters."""
        return cls.from_tree(model.merge_tree_, model.n_clusters_)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; low passes are thick, big modes large."""
        self.figure_, self.ax_ = axes(ax)
        widest = 4.0 / (1.0 + self.barriers - self.barriers.min(initial=np.inf))
        for (a, b), width, certified in zip(self.edges, widest, self.certified, strict=True):
            line = self.positions[[a, b]]
            self.ax_.plot(
                line[:, 0],
                line[:, 1],
                color="0.7",
                linewidth=width,
                linestyle="-" if certified else "--",
                zorder=1,
            )
        size = 120 + 1200 * self.masses
        self.ax_.scatter(
            *self.positions.T,
            s=size,
            c=colours(self.mode_labels),
            edgecolors="white",
            linewidths=1.5,
            zorder=2,
        )
        for i, position in enumerate(self.positions):
            self.ax_.annotate(
                str(i), position, ha="center", va="center", fontsize=8, color="white", fontweight="bold"
            )
        self.ax_.set_xticks([])
        self.ax_.set_yticks([])
        self.ax_.margins(0.15)  # circles of large modes stay inside
        self.ax_.set_title("Modes, and the passes between them")
        self.ax_.set_xlabel(
            "first direction in which modes differ\n(circles: share; thick lines: low passes)"
        )
        self.ax_.set_ylabel("second direction")
        self.ax_.spines[:].set_color("0.8")
        self.ax_.legend(handles=cluster_handles(self.mode_labels), fontsize=8, frameon=False)
        return self


def _spread(modes: FloatArray) -> FloatArray:
    """Return the coordinates of modes along their two widest directions, columns scaled alike."""
    centred = modes - modes.mean(axis=0)
    spread = centred.std(axis=0)
    # Columns in which modes differ by rounding only are left out: dividing by their spread would magnify it.
    centred = np.where(spread > 1e-9 * np.abs(modes).max(axis=0), centred / np.maximum(spread, 1e-300), 0.0)
    # Principal components of the modes by singular values, in which squares of small spreads do not
    # underflow.
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(modes), 2))
    flat[:, : min(2, len(scale))] = (left * scale)[:, :2]
    return flat
