"""Modes and saddles of a mixture, and the graph they make: modes are its nodes, saddles its edges."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpmorse.densities import DifferingPart
from dpmorse.typing import BoolArray, FloatArray, IntArray

# A mode counts as a cluster if the density there is more than twice that at the pass to a deeper mode.
# docs/morse.md ("How many clusters") measures how often that count is the true number; the rule "auto" is
# right more often.
_PERSISTENCE_OF_A_CLUSTER = math.log(2)

# Decimals to which heights are compared: smaller differences are rounding.
_DECIMALS = 9
ROUNDING = 2 * 10.0**-_DECIMALS


@dataclass(frozen=True, eq=False)
class CriticalPoints:
    """Modes and the saddles between them, lowest first, in the units of the mixture.

    Attributes
    ----------
    modes : ndarray of shape (n_modes, n_features)
        Local minima of f = -ln p.
    mode_heights : ndarray of shape (n_modes,)
        f there.
    mode_certified : ndarray of bool of shape (n_modes,)
        Whether the gradient vanishes to rounding and the Hessian is positive.
    component_modes : ndarray of int of shape (n_components,)
        The mode below each centre.
    saddles : ndarray of shape (n_saddles, n_features)
        Saddles between two modes; where ``saddle_certified`` is False, the highest point of a path.
    saddle_heights : ndarray of shape (n_saddles,)
        f there: the height of the pass, or an upper bound of it.
    saddle_bounds : ndarray of shape (n_saddles,)
        Lower bounds of the height of the pass; equal to ``saddle_heights`` where certified.
    saddle_ends : ndarray of int of shape (n_saddles, 2)
        The modes on either side.
    saddle_certified : ndarray of bool of shape (n_saddles,)
        Whether the gradient vanishes to rounding, exactly one eigenvalue of the Hessian is negative, and
        descents to both sides reach the two modes.
    """

    modes: FloatArray
    mode_heights: FloatArray
    mode_certified: BoolArray
    component_modes: IntArray
    saddles: FloatArray
    saddle_heights: FloatArray
    saddle_bounds: FloatArray
    saddle_ends: IntArray
    saddle_certified: BoolArray

    def __repr__(self) -> str:
        saddles = f"{len(self.saddles)} saddles, {int(self.saddle_certified.sum())} of them certified"
        return f"CriticalPoints({len(self.modes)} modes, {saddles})"

    def in_order(self) -> "CriticalPoints":
        """Return the same points with modes and saddles numbered by height, lowest first.

        Saddles whose heights differ by rounding only are numbered by the modes they join.
        """
        modes = np.argsort(self.mode_heights, kind="stable")
        number = np.argsort(modes)  # the new number of each mode
        ends = np.sort(number[self.saddle_ends], axis=1)
        saddles = np.lexsort((ends[:, 1], ends[:, 0], self.saddle_heights.round(_DECIMALS)))
        return CriticalPoints(
            modes=self.modes[modes],
            mode_heights=self.mode_heights[modes],
            mode_certified=self.mode_certified[modes],
            component_modes=number[self.component_modes],
            saddles=self.saddles[saddles],
            saddle_heights=self.saddle_heights[saddles],
            saddle_bounds=self.saddle_bounds[saddles],
            saddle_ends=ends[saddles],
            saddle_certified=self.saddle_certified[saddles],
        )

    def lifted(self, part: DifferingPart) -> "CriticalPoints":
        """Return the critical points of the whole mixture, given those of its differing part."""
        return replace(
            self,
            modes=part.lift(self.modes),
            mode_heights=self.mode_heights + part.height,
            saddles=part.lift(self.saddles),
            saddle_heights=self.saddle_heights + part.height,
            saddle_bounds=self.saddle_bounds + part.height,
        )

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return len(self.modes)

    @property
    def certified(self) -> bool:
        """Whether every mode and every saddle is certified."""
        return bool(self.mode_certified.all() and self.saddle_certified.all())

    @cached_property
    def barriers(self) -> FloatArray:
        """The height of the pass between any two modes, shape (n_modes, n_modes); -inf on the diagonal."""
        first, second = self.saddle_ends.T
        return bottlenecks(self.n_modes, first, second, self.saddle_heights)

    @cached_property
    def spanning_saddles(self) -> IntArray:
        """The saddles over which modes merge as water rises, lowest first: a minimum spanning tree."""
        first, second = self.saddle_ends.T
        return spanning_edges(self.n_modes, first, second, self.saddle_heights)

    def rises(self, saddles: IntArray) -> FloatArray:
        """Return the heights above the lowest mode of these saddles, which must be given lowest first.

        Rounding may put a saddle below a mode, or below the saddle before it: rises are never negative
        and never fall.
        """
        above = np.maximum(self.saddle_heights[saddles] - self.mode_heights[0], 0)
        return np.maximum.accumulate(above)

    def falls(self) -> tuple[IntArray, FloatArray, IntArray]:
        """Return for each mode the one beyond the saddle where its lake ends, its persistence, that saddle.

        This is the elder rule: as water rises and two lakes meet, the one whose lowest mode is higher ends.
        Persistence is f at that saddle minus f at the mode. The lowest mode of all falls to itself, with
        infinite persistence and no saddle (-1).
        """
        spanning = self.spanning_saddles
        lowest = np.arange(self.n_modes)  # of each mode's lake: its lowest mode; modes are sorted by height
        beyond, persistence = np.arange(self.n_modes), np.full(self.n_modes, np.inf)
        saddles = np.full(self.n_modes, -1)
        for saddle, rise in zip(spanning, self.rises(spanning), strict=True):
            a, b = self.saddle_ends[saddle]
            elder, younger = sorted((lowest[a], lowest[b]))
            # The mode across the saddle, which the deepest one of its lake may be far away from.
            beyond[younger], saddles[younger] = b if lowest[a] == younger else a, saddle
            persistence[younger] = max(rise - (self.mode_heights[younger] - self.mode_heights[0]), 0.0)
            lowest[lowest == younger] = elder
        return beyond, persistence, saddles

    @property
    def suggested_n_clusters(self) -> int:
        """Number of certified modes whose density is more than twice that of the pass to a deeper mode."""
        _, persistence, _ = self.falls()
        return max(1, int((self.mode_certified & (persistence > _PERSISTENCE_OF_A_CLUSTER)).sum()))


def spanning_edges(n_nodes: int, first: IntArray, second: IntArray, weights: FloatArray) -> IntArray:
    """Return the edges of a minimum spanning forest, lightest first. Ties go to the earlier edge.

    Parallel edges are allowed; loops and edges of infinite weight are left out.
    """
    return np.array([edge for edge, _, _ in _joins(n_nodes, first, second, weights)], dtype=np.int64)


def bottlenecks(n_nodes: int, first: IntArray, second: IntArray, weights: FloatArray) -> FloatArray:
    """Return, for every pair of nodes, the lowest possible largest weight on a path; inf if there is none.

    The diagonal is -inf.
    """
    matrix = np.full((n_nodes, n_nodes), np.inf)
    np.fill_diagonal(matrix, -np.inf)
    for edge, some, others in _joins(n_nodes, first, second, weights):
        rows = np.array(some)[:, None]
        matrix[rows, others] = matrix.T[rows, others] = weights[edge]
    return matrix


def _joins(
    n_nodes: int, first: IntArray, second: IntArray, weights: FloatArray
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield edges that join what the lighter ones have not joined, and the nodes on both sides (Kruskal)."""
    order = np.argsort(weights, kind="stable")
    order = order[np.isfinite(weights[order])]
    groups = [[node] for node in range(n_nodes)]  # of each node: all nodes that are joined to it
    for edge, a, b in zip(order.tolist(), first[order].tolist(), second[order].tolist(), strict=True):
        some, others = groups[a], groups[b]
        if some is not others:
            yield edge, some, others
            joined = some + others
            for node in joined:
                groups[node] = joined
