"""The merge tree as a dendrogram."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import MergeTree
from dpmorse.plots._drawing import LINE_COLOUR, axes
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(eq=False)
class DendrogramDisplay:
    """The merge tree as a dendrogram; merges over saddles that are not certified are dashed.

    Attributes
    ----------
    x, y : ndarray of shape (n_merges, 4)
        Corners of the brackets.
    certified : ndarray of bool of shape (n_merges,)
        Certificate of each bracket.
    leaf_labels : list of str
        Names of the leaves from left to right.
    cut_height : float or None
        Where the tree is cut.
    height_label : str
        What the heights are, for the axis.
    ax_, figure_ : matplotlib objects
        Set by ``plot``.
    """

    x: FloatArray
    y: FloatArray
    certified: BoolArray
    leaf_labels: list[str]
    cut_height: float | None
    height_label: str
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
        return cls(
            x,
            y,
            certified,
            [_leaf_name(tree, leaf) for leaf in order],
            cut,
            tree.height_label,
        )

    @classmethod
    def from_estimator(cls, model: Any) -> Self:
        """Compute the dendrogram of a fitted ``MorseClustering``, cut as the model is."""
        return cls.from_tree(model.merge_tree_, model.n_clusters_)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes(ax)
        for x, y, certified in zip(self.x, self.y, self.certified, strict=True):
            self.ax_.plot(x, y, color=LINE_COLOUR, linestyle="-" if certified else "--", linewidth=1.2)
        if self.cut_height is not None:
            self.ax_.axhline(self.cut_height, color="tab:red", linewidth=1, linestyle=":")
        ticks = np.arange(len(self.leaf_labels))
        self.ax_.set_xticks(ticks, self.leaf_labels, rotation=90 if len(ticks) > 12 else 0, fontsize=8)
        self.ax_.set_ylabel(self.height_label)
        self.ax_.set_ylim(bottom=0)
        return self


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
