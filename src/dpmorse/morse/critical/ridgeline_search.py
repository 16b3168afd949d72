"""The search for modes and saddles along ridgelines."""

import numpy as np

from dpmorse.morse.critical.descent import Frames
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.pairs import crossing_bounds, touching_matrix
from dpmorse.morse.critical.passes import Passes, find_passes
from dpmorse.morse.critical.ridgelines import Wells, ridgelines, touching_points
from dpmorse.morse.critical.search import Search
from dpmorse.morse.critical.spanning import spanning_edges
from dpmorse.morse.critical.strings import relax
from dpmorse.typing import FloatArray, IntArray

_FEW = 40  # up to so many components, every pair and every pass is followed
_EXPLORED = 40  # pairs per component, the lowest, that are followed unless bounds forbid
_NODES_FEW = 33
_NODES_MANY = 13
_BATCH = 1024  # paths looked at together: bounds memory, and lets bounds learn from what was found
_GAP = 1.0  # nats above the lowest known path to which passes are followed, where there are many
_MOST_PER_PAIR_FEW = 40  # climbs between any two modes
_MOST_PER_PAIR = 4
_SOFT_STEP = 0.3
_ROUNDS = 3
_STRING_STEPS = 30
_STRING_NODES = 17


class RidgelineSearch(Search):
    """Finds modes and certified saddles along ridgelines; see ``docs/morse.md`` for the argument.

    1. Modes below all centres.
    2. Ridgelines between components, then between modes (with their local metrics): minima along them
       reveal further modes, maxima are passes.
    3. From every promising pass, and from every mode along its softest axis, a climb to a saddle.
    4. Passes that lie lower than the certified barrier prove that a saddle is missing: strings are relaxed
       through them, and followed anew.
    """

    def __init__(self, landscape: Landscape, *, thorough: bool | None = None) -> None:
        self.thorough = landscape.n_components <= _FEW if thorough is None else thorough
        super().__init__(landscape, thorough=self.thorough)
        self._n_climbed = 0

    def _explore(self) -> None:
        self._follow_components()
        self._climb()
        self._follow_modes()
        self._climb()
        self._leave_softly()
        for round_number in range(_ROUNDS):
            passes = self.passes
            tree = spanning_edges(len(self.modes), passes.left, passes.right, passes.heights)
            contested = tree[self.contested()[tree]]  # one string for each edge of the tree of known paths
            if not contested.size:
                break
            self._relax(passes[contested], _STRING_STEPS * (round_number + 1))

    def _follow_components(self) -> None:
        """Follow the ridgelines of the spanning tree of touching levels, then of pairs that may matter."""
        land = self.landscape
        wells = Wells(land.centres, land.whiteners, -land.offsets)
        levels = touching_matrix(wells)
        first, second = np.triu_indices(land.n_components, 1)
        tree = spanning_edges(land.n_components, first, second, levels[first, second])
        self._follow(wells, first[tree], second[tree], self.component_modes)
        rest = np.delete(np.arange(len(first)), tree)
        first, second = first[rest], second[rest]
        crossings = land.heights(touching_points(wells, first, second))
        order = np.argsort(crossings)
        first, second, crossings = first[order], second[order], crossings[order]
        bounds = crossing_bounds(levels)[first, second]
        pending = np.arange(len(first))
        while pending.size:
            if not self.thorough:
                between, known = self._known(first[pending], second[pending])
                promising = np.maximum(bounds, crossings - _GAP)[pending] < between
                open_question = (bounds[pending] < known) & (pending < _EXPLORED * land.n_components)
                pending = pending[promising | open_question]
            batch, pending = pending[:_BATCH], pending[_BATCH:]
            self._follow(wells, first[batch], second[batch], self.component_modes)

    def _known(self, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the levels at which modes, and centres, of two components are known to connect."""
        modes, centres = self.component_modes, self.landscape.heights(self.landscape.centres)
        between = self.bounds()[modes[first], modes[second]]
        return between, np.maximum(between, np.maximum(centres[first], centres[second]))

    def _follow_modes(self) -> None:
        """Follow the ridgelines between modes, seen as wells with the local metric."""
        modes = self.modes
        whiteners: FloatArray = np.linalg.cholesky(modes.metrics).swapaxes(1, 2).astype(np.float64)
        wells = Wells(modes.points, whiteners, modes.heights)
        first, second = np.triu_indices(len(modes), 1)
        if not self.thorough:
            crossings = self.landscape.heights(touching_points(wells, first, second))
            near = crossings - _GAP < self.bounds()[first, second]
            first, second = first[near], second[near]
        for start in range(0, len(first), _BATCH):
            rows = slice(start, start + _BATCH)
            self._follow(wells, first[rows], second[rows], np.arange(len(modes)))

    def _follow(self, wells: Wells, first: IntArray, second: IntArray, labels: IntArray) -> None:
        paths = ridgelines(wells, first, second, _NODES_FEW if self.thorough else _NODES_MANY)
        ends = np.stack([labels[first], labels[second]], axis=1)
        highest = self.bounds() + _GAP if not self.thorough else None
        self.passes += find_passes(self.landscape, self.modes, paths, ends, highest)

    def _climb(self) -> None:
        """Climb from the passes found since the last time, the promising ones if there are many."""
        passes = self.passes[self._n_climbed :]
        self._n_climbed = len(self.passes)
        if not self.thorough:
            bounds = self.bounds()[passes.left, passes.right]
            passes = passes[passes.heights - _GAP <= bounds]
        most = _MOST_PER_PAIR_FEW if self.thorough else _MOST_PER_PAIR
        passes = passes[passes.lowest_between_modes(most)]
        self.saddles.search(passes.points, passes.tangents)

    def _leave_softly(self) -> None:
        """Climb from every mode along its softest axis: the way to saddles close to shallow modes."""
        frames = Frames.of(self.landscape.shapes(self.modes.points))
        step = _SOFT_STEP * frames.axes[:, :, 0]
        starts = np.vstack([self.modes.points + step, self.modes.points - step])
        self.saddles.search(starts, np.vstack([step, step]))

    def _relax(self, contested: Passes, n_steps: int) -> None:
        """Relax strings through contested passes and follow what they become."""
        left, right = self.modes.points[contested.left], self.modes.points[contested.right]
        t = np.linspace(0, 1, _STRING_NODES)[:, None]
        up = left[:, None] + t * (contested.points - left)[:, None]
        down = contested.points[:, None] + t * (right - contested.points)[:, None]
        paths = relax(self.landscape, np.concatenate([up, down[:, 1:]], axis=1), n_steps)
        ends = np.stack([contested.left, contested.right], axis=1)
        self.passes += find_passes(self.landscape, self.modes, paths, ends)
        self._climb()
