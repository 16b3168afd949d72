"""Minimum spanning trees and the bottlenecks they define."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from dpmorse.typing import FloatArray, IntArray


def spanning_edges(n_nodes: int, first: IntArray, second: IntArray, weights: FloatArray) -> IntArray:
    """Return the edges of a minimum spanning forest, lightest first. Ties go to the earlier edge.

    Parallel edges are allowed; loops and edges of infinite weight are left out.
    """
    order = np.argsort(weights, kind="stable")
    order = order[np.isfinite(weights[order]) & (first[order] != second[order])]
    low, high = np.minimum(first, second)[order], np.maximum(first, second)[order]
    _, lightest = np.unique(low * n_nodes + high, return_index=True)
    lightest.sort()
    ranks = np.arange(1.0, len(lightest) + 1)  # scipy takes 0 for no edge, so weights are ranks from 1
    places = low[lightest].astype(np.int32), high[lightest].astype(np.int32)  # all that older scipy takes
    graph = coo_array((ranks, places), shape=(n_nodes, n_nodes))
    chosen: IntArray = order[lightest[np.sort(minimum_spanning_tree(graph.tocsr()).data).astype(int) - 1]]
    return chosen


def bottlenecks(n_nodes: int, first: IntArray, second: IntArray, weights: FloatArray) -> FloatArray:
    """Return, for every pair of nodes, the lowest possible largest weight on a path; inf if there is none.

    The diagonal is -inf.
    """
    matrix = np.full((n_nodes, n_nodes), np.inf)
    np.fill_diagonal(matrix, -np.inf)
    group, members = np.arange(n_nodes), [np.array([i]) for i in range(n_nodes)]
    for edge in spanning_edges(n_nodes, first, second, weights):
        a, b = group[first[edge]], group[second[edge]]
        matrix[np.ix_(members[a], members[b])] = matrix[np.ix_(members[b], members[a])] = weights[edge]
        members[a] = np.concatenate([members[a], members[b]])
        group[members[b]] = a
    return matrix
