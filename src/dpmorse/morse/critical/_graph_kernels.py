"""Compiled spanning forests of small graphs, and what they join.

Compiled functions call those of their own file only, because numba's cache notices changes per file.
"""

import numpy as np

from dpmorse._compile import compiled
from dpmorse.typing import BoolArray, FloatArray, IntArray


@compiled
def joining_edges(n_nodes: int, first: IntArray, second: IntArray) -> BoolArray:
    """Say which edges, looked at in order, join what the ones before have not joined (Kruskal)."""
    group, joins = np.arange(n_nodes), np.zeros(first.size, np.bool_)
    for edge in range(first.size):
        a, b = group[first[edge]], group[second[edge]]
        if a != b:
            joins[edge] = True
            _rename(group, b, a)
    return joins


@compiled
def fill_bottlenecks(first: IntArray, second: IntArray, weights: FloatArray, matrix: FloatArray) -> None:
    """Write the weight of each edge of a forest, lightest first, for all pairs of nodes that it joins."""
    group = np.arange(len(matrix))
    for edge in range(first.size):
        ours, theirs = group[first[edge]], group[second[edge]]
        for a in np.flatnonzero(group == ours):
            for b in np.flatnonzero(group == theirs):
                matrix[a, b] = matrix[b, a] = weights[edge]
        _rename(group, theirs, ours)


@compiled
def _rename(group: IntArray, old: int, new: int) -> None:
    for node in range(group.size):
        if group[node] == old:
            group[node] = new
