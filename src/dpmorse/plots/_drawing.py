"""Functions that the displays share: axes, and the cluster of each mode."""

import importlib
from typing import Any

import numpy as np

from dpmorse.exceptions import DPMorseError
from dpmorse.morse import MergeTree
from dpmorse.typing import IntArray

LINE_COLOUR = "0.35"
"""A dark grey for lines, in matplotlib's notation: black would outweigh the coloured points."""


def axes(ax: Any) -> tuple[Any, Any]:
    """Return the figure and axes to draw on, new ones if none are given."""
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise DPMorseError("plots need matplotlib: pip install 'dpmorse[plot]'") from error
    if ax is None:
        figure, ax = pyplot.subplots(layout="constrained")
        return figure, ax
    return ax.figure, ax


def mode_labels(tree: MergeTree, n_clusters: int | None) -> IntArray:
    """Return the cluster of each mode: that of the heaviest of its leaves."""
    labels = tree.cut(tree.suggested_n_clusters if n_clusters is None else n_clusters)
    of_leaves = labels[tree.leaves.components]
    of_leaves[tree.leaves.bare] = labels[len(tree.weights) :]
    order = np.argsort(tree.leaf_weights, kind="stable")
    of_modes = np.zeros(tree.n_modes, dtype=np.int64)
    of_modes[tree.leaves.modes[order]] = of_leaves[order]
    return of_modes
