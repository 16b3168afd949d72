"""The merge tree as a dendrogram."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import MergeTree
from dpmorse.plots._drawing import (
    axes,
    cluster_handles,
    colour,
    leaf_labels,
    mode_labels,
    tidy,
)
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(eq=False)
class DendrogramDisplay:
    """The merge tree as a dendrogram, in the colours of its clusters where it is cut.

    Merges over saddles that are not certified are dashed.

    Attributes
    ----------
    x, y : ndarray of shape (n_merges, 4)
        Corners of the brackets.
    certified : ndarray of bool of shape (n_merges,)
        Certificate of each bracket.
    leaf_labels : list of str
        Names of the leaves from left to right.
    cut_height : float or None
        Height at which the tree is cut.
    height_label : str
        Meaning of the heights, for the axis.
    leaf_name : str
        Meaning of a leaf: a component of the mixture, or a mode of its density.
    leaf_clusters : ndarray of int of shape (n_leaves,)
        Cluster of each leaf from left to right; -1 where the tree is not cut.
    bracket_clusters : ndarray of int of shape (n_merges,)
        Cluster that each bracket is within; -1 for those that join clusters.
    ax_, figure_ : matplotlib objects
        Set by ``plot``.
    """

    x: FloatArray
    y: FloatArray
    certified: BoolArray
    leaf_labels: list[str]
    cut_height: float | None
    height_label: str
    leaf_name: str
    leaf_clusters: IntArray
    bracket_clusters: IntArray
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_tree(cls, tree: MergeTree, n_clusters: int | None = None) -> Self:
        """Compute the dendrogram of a tree, with a line where it is cut."""
        matrix = tree.linkage_matrix()
        if not len(matrix):
            raise InvalidParameterError("tree has one mode: there is nothing to merge and nothing to draw.")
        order, cut, of_leaves = leaves_list(matrix), None, np.full(len(matrix) + 1, -1)
        if n_clusters is not None:
            of_leaves = (mode_labels if tree.keeps_modes else leaf_labels)(tree, n_clusters)
            cut = _cut_height(matrix[:, 2], n_clusters)
        x, y, of_brackets = _brackets(matrix, order, of_leaves, cut)
        names = [str(leaf) for leaf in order]
        if not tree.keeps_modes:  # where a mode has no component, it is a leaf itself
            leaves = zip(tree.leaves.components[order], tree.leaves.modes[order], strict=True)
            names = [str(component) if component >= 0 else f"mode {mode}" for component, mode in leaves]
        return cls(
            x,
            y,
            tree.merge_certified[len(tree.merges.heights) - len(matrix) :],
            names,
            cut,
            tree.height_label,
            "mode of the density" if tree.keeps_modes else "component of the mixture",
            of_leaves[order],
            of_brackets,
        )

    @classmethod
    def from_estimator(cls, model: Any) -> Self:
        """Compute the dendrogram of a fitted ``MorseClustering``, cut as the model is."""
        return cls.from_tree(model.merge_tree_, model.n_clusters_)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes(ax)
        brackets = zip(self.x, self.y, self.certified, self.bracket_clusters, strict=True)
        for x, y, certified, cluster in brackets:
            style = "-" if certified else "--"
            self.ax_.plot(x, y, color=colour(cluster), linestyle=style, linewidth=1.4)
        ticks = np.arange(len(self.leaf_labels))
        self.ax_.set_xticks(ticks, self.leaf_labels, rotation=90 if len(ticks) > 12 else 0, fontsize=8)
        for text, cluster in zip(self.ax_.get_xticklabels(), self.leaf_clusters, strict=True):
            text.set_color(colour(cluster))
        self.ax_.set_xlabel(self.leaf_name)
        if self.cut_height is None:
            self.ax_.set_title("How clusters merge")
        else:
            self.ax_.axhline(self.cut_height, color="0.6", linewidth=1, linestyle=":")
            handles = cluster_handles(self.leaf_clusters)
            self.ax_.set_title(f"Cut into {len(handles)} cluster{'s' if len(handles) > 1 else ''}")
            self.ax_.legend(handles=handles, fontsize=8, frameon=False)
        self.ax_.set_ylabel(self.height_label.replace(" (nats)", "\n(nats: each is a factor of 2.7)"))
        self.ax_.set_ylim(bottom=0)
        tidy(self.ax_)
        return self


def _brackets(
    matrix: FloatArray, order: IntArray, of_leaves: IntArray, cut: float | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the corners of the bracket of each merge, and its cluster; leaf ``order[i]`` stands at x = i.

    The cluster is -1 above the cut, or if there is no cut.
    """
    n = len(order)
    of_nodes = np.concatenate([of_leaves, np.full(n - 1, -1)])
    place, height = np.empty(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n)
    x, y = np.empty((n - 1, 4)), np.empty((n - 1, 4))
    for row, (left, right, level) in enumerate(matrix[:, :3]):
        a, b = int(left), int(right)
        x[row] = place[a], place[a], place[b], place[b]
        y[row] = height[a], level, level, height[b]
        place[n + row], height[n + row] = (place[a] + place[b]) / 2, level
        if cut is not None and level <= cut:
            of_nodes[n + row] = of_nodes[a]
    return x, y, of_nodes[n:]


def _cut_height(heights: FloatArray, n_clusters: int) -> float | None:
    """Return a height that leaves ``n_clusters`` clusters, or None if that is below the drawn tree."""
    n_merges = len(heights) + 1 - n_clusters
    if n_merges < 0:
        return None
    below = heights[n_merges - 1] if n_merges > 0 else 0.0
    above = heights[n_merges] if n_merges < len(heights) else 1.05 * heights[-1]
    return float(below + above) / 2
