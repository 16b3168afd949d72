"""Modes and saddles along ridgelines."""

import numpy as np

from dpmorse.morse.landscape import Landscape
from dpmorse.morse.modes import ModeSet
from dpmorse.morse.pairs import crossing_bounds, touching_matrix
from dpmorse.morse.passes import Passes, find_passes
from dpmorse.morse.ridgelines import Wells, ridgelines, touching_levels
from dpmorse.morse.saddles import SaddleSet
from dpmorse.morse.spanning import bottlenecks, spanning_edges
from dpmorse.typing import FloatArray, IntArray

_NODES = 33
_BATCH = 512
_SPARE = 3.0
_MOST = 4
_FEW = 40
_GAP = 1.0


class RidgelineSearch:
    def __init__(self, landscape: Landscape) -> None:
        self.landscape = landscape
        self.modes = ModeSet(landscape)
        self.saddles = SaddleSet(landscape, self.modes)
        self.passes = Passes.none(landscape.n_features)
        self.component_modes = self.modes.reach(landscape.centres)
        self.n_pairs = 0
        self.n_climbed = 0

    def run(self):
        self.from_components()
        self.climb()
        self.from_modes()
        self.climb()
        return self

    def barriers(self) -> FloatArray:
        s = self.saddles
        return bottlenecks(len(self.modes), s.ends[:, 0], s.ends[:, 1], s.heights)

    def bounds(self) -> FloatArray:
        """Upper bounds of barriers, from saddles and paths"""
        s, p = self.saddles, self.passes
        return bottlenecks(len(self.modes), np.r_[s.ends[:, 0], p.left], np.r_[s.ends[:, 1], p.right], np.r_[s.heights, p.heights])

    def from_components(self) -> None:
        land = self.landscape
        wells = Wells(land.centres, land.whiteners, -land.offsets)
        levels = touching_matrix(wells)
        bounds = crossing_bounds(levels)
        first, second = np.triu_indices(land.n_components, 1)
        tree = spanning_edges(land.n_components, first, second, levels[first, second])
        self.follow(wells, first[tree], second[tree], self.component_modes)
        rest = np.setdiff1d(np.arange(len(first)), tree)
        rest = rest[np.argsort(bounds[first, second][rest])]
        floor = land.heights(land.centres)
        while rest.size:
            c = self.component_modes
            known = self.bounds()[c[first[rest]], c[second[rest]]]
            known = np.maximum(known, np.maximum(floor[first[rest]], floor[second[rest]]))
            rest = rest[bounds[first[rest], second[rest]] < known]
            batch, rest = rest[:_BATCH], rest[_BATCH:]
            self.follow(wells, first[batch], second[batch], c)

    def from_modes(self) -> None:
        modes = self.modes
        if len(modes) < 2: return
        whiteners = np.linalg.cholesky(modes.metrics).swapaxes(1, 2)
        wells = Wells(modes.points, whiteners, modes.heights)
        first, second = np.triu_indices(len(modes), 1)
        levels = touching_levels(wells, first, second)
        near = levels - _SPARE < self.bounds()[first, second]
        first,second=first[near],second[near]
        lab=np.arange(len(modes))
        for i in range(0,len(first),_BATCH):
            self.follow(wells, first[i:i+_BATCH], second[i:i+_BATCH], lab)

    def follow(self, wells: Wells, first: IntArray, second: IntArray, labels: IntArray) -> None:
        self.n_pairs += len(first)
        paths = ridgelines(wells, first, second, _NODES)
        self.passes += find_passes(self.landscape, self.modes, paths, np.c_[labels[first], labels[second]])

    def climb(self) -> None:
        passes = self.passes[self.n_climbed:]
        self.n_climbed = len(self.passes)
        b = self.bounds()
        gap = np.inf if self.landscape.n_components <= _FEW else _GAP
        passes = passes[passes.heights - gap <= b[passes.left, passes.right]]
        if self.landscape.n_components > _FEW:
            passes = passes[_lowest_of_each_pair(passes, len(self.modes), _MOST)]
        self.saddles.search(passes.points, passes.tangents)


def _lowest_of_each_pair(passes: Passes, n_modes: int, most: int) -> IntArray:
    """Return up to ``most`` passes between any two modes, the lowest."""
    key = np.minimum(passes.left, passes.right) * n_modes + np.maximum(passes.left, passes.right)
    order = np.lexsort((passes.heights, key))
    starts = np.r_[True, np.diff(key[order]) != 0] if len(order) else np.empty(0, bool)
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    return order[rank < most]
