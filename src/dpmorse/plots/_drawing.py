"""Common parts of the displays: axes, colours of clusters, words, and the cluster of each mode."""

import importlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpmorse.exceptions import DPMorseError
from dpmorse.morse import MergeTree
from dpmorse.typing import IntArray

LINE_COLOUR = "0.35"
"""A dark grey for lines, in matplotlib's notation: black would outweigh the coloured points."""

COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
    "#56B4E9", "#7E3251", "#0C4898", "#A3BE91", "#B22A06",
)  # fmt: skip
"""Colours of clusters, as in reports, that people with any colour vision tell apart (after Okabe and Ito)."""

_MOST_ACROSS = 4
"""Panels in one row of a figure."""


def pyplot() -> Any:
    """Return matplotlib's module, loaded only when something is drawn."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise DPMorseError("plots need matplotlib: pip install 'dpmorse[plot]'") from error


def axes(ax: Any) -> tuple[Any, Any]:
    """Return the figure and axes to draw on, new ones if none are given."""
    drawing = pyplot()
    if ax is None:
        figure, ax = drawing.subplots(layout="constrained")
        return figure, ax
    return ax.figure, ax


def panels(n: int) -> tuple[Any, list[Any]]:
    """Return a figure with this many panels, and their axes."""
    down = math.ceil(n / _MOST_ACROSS)
    across = math.ceil(n / down)
    size = (2.9 * across + 0.4, 2.3 * down + 0.5)
    figure, grid = pyplot().subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for spare in grid.flat[n:]:
        spare.set_axis_off()
    return figure, list(grid.flat[:n])


def colour(cluster: int) -> str:
    """Return the colour of a cluster; grey lines for -1, which is none."""
    return LINE_COLOUR if cluster < 0 else COLOURS[int(cluster) % len(COLOURS)]


def colours(clusters: Iterable[int]) -> list[str]:
    """Return the colour of each of these."""
    return [colour(cluster) for cluster in clusters]


def cluster_handles(clusters: Iterable[int]) -> list[Any]:
    """Return one entry of a legend for each cluster that occurs."""
    marks = importlib.import_module("matplotlib.lines").Line2D
    return [
        marks([], [], color=colour(c), marker="o", linestyle="", label=f"cluster {c}")
        for c in sorted({int(cluster) for cluster in clusters})
        if c >= 0
    ]


def tidy(ax: Any) -> None:
    """Leave out the lines of a frame that mark nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def leaf_labels(tree: MergeTree, n_clusters: int | None) -> IntArray:
    """Return the cluster of each leaf of a tree."""
    labels = tree.cut(tree.suggested_n_clusters if n_clusters is None else n_clusters)
    of_leaves = labels[tree.leaves.components]
    of_leaves[tree.leaves.bare] = labels[len(tree.weights) :]
    return of_leaves


def mode_labels(tree: MergeTree, n_clusters: int | None) -> IntArray:
    """Return the cluster of each mode: that of the heaviest of its leaves."""
    of_leaves = leaf_labels(tree, n_clusters)
    order = np.argsort(tree.leaf_weights, kind="stable")
    of_modes = np.zeros(tree.n_modes, dtype=np.int64)
    of_modes[tree.leaves.modes[order]] = of_leaves[order]
    return of_modes
