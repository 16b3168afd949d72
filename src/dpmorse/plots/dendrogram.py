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
    in_words,
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
        if n_clusters is not None:
            tree.cut(n_clusters)  # raises an error for an impossible number
        order = leaves_list(matrix)
        x, y = _brackets(matrix, order)
        certified = tree.merge_certified[len(tree.merges.heights) - len(matrix) :]
        cut = None if n_clusters is None else _cut_height(matrix[:, 2], n_clusters)
        of_leaves = _clusters_of_leaves(tree, len(order), n_clusters)
        return cls(
            x,
            y,
            certified,
            [_leaf_name(tree, leaf) for leaf in order],
            cut,
            tree.height_label,
            "mode of the density" if tree.keeps_modes else "component of the mixture",
            of_leaves[order],
            _clusters_of_brackets(matrix, of_leaves, cut),
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
        self._name_leaves()
        self._mark_the_cut()
        self.ax_.set_ylabel(in_words(self.height_label))
        self.ax_.set_ylim(bottom=0)
        tidy(self.ax_)
        return self

    def _name_leaves(self) -> None:
        ticks = np.arange(len(self.leaf_labels))
        self.ax_.set_xticks(ticks, self.leaf_labels, rotation=90 if len(ticks) > 12 else 0, fontsize=8)
        for text, cluster in zip(self.ax_.get_xticklabels(), self.leaf_clusters, strict=True):
            text.set_color(colour(cluster))
        self.ax_.set_xlabel(self.leaf_name)

    def _mark_the_cut(self) -> None:
        """Draw a line where the tree is cut, with the number of clusters."""
        if self.cut_height is None:
            self.ax_.set_title("How clusters merge")
            return
        self.ax_.axhline(self.cut_height, color="0.6", linewidth=1, linestyle=":")
        handles = cluster_handles(self.leaf_clusters)
        self.ax_.set_title(f"Cut into {len(handles)} cluster{'s' if len(handles) > 1 else ''}")
        self.ax_.legend(handles=handles, fontsize=8, frameon=False)


def _clusters_of_leaves(tree: MergeTree, n_leaves: int, n_clusters: int | None) -> IntArray:
    """Return the cluster of each leaf that is drawn; -1 where the tree is not cut."""
    if n_clusters is None:
        return np.full(n_leaves, -1)
    return mode_labels(tree, n_clusters) if tree.keeps_modes else leaf_labels(tree, n_clusters)


def _clusters_of_brackets(matrix: FloatArray, of_leaves: IntArray, cut: float | None) -> IntArray:
    """Return the cluster of each bracket below the cut; -1 above it, or if there is no cut."""
    of_nodes = np.concatenate([of_leaves, np.full(len(matrix), -1)])
    n = len(of_leaves)
    for row, (left, _, height, _) in enumerate(matrix):
        if cut is not None and height <= cut:
            of_nodes[n + row] = of_nodes[int(left)]
    return of_nodes[n:]


def _leaf_name(tree: MergeTree, leaf: int) -> str:
    if tree.keeps_modes:
        return str(leaf)
    component = tree.leaves.components[leaf]
    return f"mode {tree.leaves.modes[leaf]}" if component < 0 else str(component)


def _brackets(matrix: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the bracket of each merge; leaf ``order[i]`` stands at x = i."""
    n = len(order)
    place, height = np.empty(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n)
    x, y = np.empty((n - 1, 4)), np.empty((n - 1, 4))
    for row, (left, right, level) in enumerate(matrix[:, :3]):
        a, b = int(left), int(right)
        x[row] = place[a], place[a], place[b], place[b]
        y[row] = height[a], level, level, height[b]
        place[n + row], height[n + row] = (place[a] + place[b]) / 2, level
    return x, y


def _cut_height(heights: FloatArray, n_clusters: int) -> float | None:
    """Return a height that leaves ``n_clusters`` clusters, or None if that is below the drawn tree."""
    n_merges = len(heights) + 1 - n_clusters
    if n_merges < 0:
        return None
    below = heights[n_merges - 1] if n_merges > 0 else 0.0
    above = heights[n_merges] if n_merges < len(heights) else 1.05 * heights[-1]
    return float(below + above) / 2
