"""The search for modes and saddles: its results, its exploration and its end.

Every search ends connected: modes that no certified saddles join are joined by paths, which are flagged.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpmorse import _validate
from dpmorse._threads import one_blas_thread
from dpmorse.densities import GaussianMixture, differing_part
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse.critical._well_kernels import Wells
from dpmorse.morse.critical.landscape import FARTHEST, Landscape, relax_strings
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.morse.critical.points import CriticalPoints, bottlenecks, spanning_edges
from dpmorse.morse.critical.quadratic_string import critical_points_between_centres
from dpmorse.morse.critical.ridgelines import crossing_bounds, ridgelines, touchings, wells_with
from dpmorse.morse.critical.saddles import Crests, SaddleSet, find_crests
from dpmorse.typing import BoolArray, FloatArray, IntArray

# A crest that is lower than the certified barrier by more than this proves that a saddle is missing; smaller
# differences are rounding.
_CONTEST = 1e-6

# Largest number of components for which every pair and every crest is followed; with more, only those that
# bounds and the gap below leave. With 60 components that gives the tree of the full search in 63 of 66
# mixtures (docs/morse.md).
_FEW = 40

# With many components: number of lowest pairs per component that are followed for hidden modes.
_EXPLORED = 40

# With many components: nats above the lowest known path up to which crests are followed. f at a crest is an
# upper bound of the saddle that a climb from there reaches, which may be lower than the known path.
_GAP = 1.0

# Nodes of a ridgeline, and climbs between any two modes, for few components and for many.
_NODES_FEW, _NODES_MANY = 33, 13
_CLIMBS_FEW, _CLIMBS_MANY = 40, 4

# Paths in a batch: bounds memory, and lets each batch use the barriers that earlier ones have found.
_BATCH = 1024

# Nats by which all other components may deepen a component's own well, and it still counts as untouched.
_LONE = 1e-9

# Distance from a mode, along its softest axis, at which the climb to a saddle beside a shallow mode starts.
_SOFT_STEP = 0.3

# Rounds of strings through contested crests, nodes of each half of a string, and steps for which it is
# relaxed in the first round; in the second it is twice as many, in the third three times.
_ROUNDS, _STRING_NODES, _STRING_STEPS = 3, 17, 30


def find_critical_points(mixture: GaussianMixture, search: str = "ridgelines") -> CriticalPoints:
    """Find the modes of a mixture and the saddles between them; saddles connect all modes.

    Parameters
    ----------
    mixture : GaussianMixture
        A density; components of weight 0 are ignored.
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        Search for saddles: along ridgelines, or by the paper's Algorithm 3 to the letter.

    Returns
    -------
    CriticalPoints
        "Certified" means that a saddle is real, not that no lower one exists; see ``docs/morse.md`` for
        how often that happens.
    """
    return _found(mixture, SEARCHES[_validate.choice(search=search, among=SEARCHES)])


def find_what_matters(mixture: GaussianMixture, search: str = "ridgelines") -> CriticalPoints:
    """Find critical points along low paths only, as with many components: high saddles may be missing.

    This takes half the time, for mixtures whose tree is one proposal among others.
    """
    kind = SEARCHES[search]
    return _found(mixture, partial(RidgelineSearch, thorough=False) if kind is RidgelineSearch else kind)


def _found(mixture: GaussianMixture, kind: "Callable[[Landscape], Search]") -> CriticalPoints:
    with one_blas_thread():
        part = differing_part(mixture)
        return _search(mixture, kind) if part is None else _search(part.mixture, kind).lifted(part)


def _search(mixture: GaussianMixture, kind: "Callable[[Landscape], Search]") -> CriticalPoints:
    """Find the critical points of a mixture whose components differ in all directions."""
    landscape = Landscape(mixture)
    component_modes = np.empty(len(mixture.weights), dtype=np.int64)
    weightless = np.flatnonzero(mixture.weights <= 0)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            found = kind(landscape)
            found.run()
            component_modes[landscape.kept] = found.component_modes
            centres = np.clip(landscape.to_whitened(mixture.means[weightless]), -FARTHEST, FARTHEST)
            component_modes[weightless] = found.modes.reach(centres)
            found.connect()  # a centre without weight may lie above a mode not seen before
        except np.linalg.LinAlgError as error:
            raise InvalidParameterError(
                "mixture: components are too far apart, or too thin, for floating-point numbers."
            ) from error
    points = found.critical_points(component_modes).in_order()
    modes, saddles = landscape.from_whitened(points.modes), landscape.from_whitened(points.saddles)
    return replace(points, modes=modes, saddles=saddles)


class Search(ABC):
    """Modes, certified saddles, and crests of paths, found so far in one landscape."""

    def __init__(self, landscape: Landscape, *, thorough: bool = True) -> None:
        self.landscape, self.thorough = landscape, thorough
        self.modes = ModeSet(landscape, thorough=thorough)
        self.component_modes: IntArray = self.modes.reach(landscape.centres)
        self.saddles = SaddleSet(landscape, self.modes)
        nowhere, none = np.empty((0, landscape.n_features)), np.empty(0, dtype=np.int64)
        self.crests = Crests(nowhere, nowhere, np.empty(0), none, none)

    def run(self) -> None:
        """Find modes, saddles and crests; afterwards saddles and crests connect all modes."""
        if self.landscape.n_components > 1:
            self._explore()
        self.connect()

    @abstractmethod
    def _explore(self) -> None:
        """Fill modes, saddles and crests."""

    def known_barriers(self) -> FloatArray:
        """Return upper bounds of the barriers between modes, from saddles and crests alike."""
        ends, crests = self.saddles.ends, self.crests
        first, second = np.r_[ends[:, 0], crests.left], np.r_[ends[:, 1], crests.right]
        return bottlenecks(len(self.modes), first, second, np.r_[self.saddles.heights, crests.heights])

    def contested(self) -> BoolArray:
        """Say which crests lie lower than the certified barrier between their modes: a saddle is missing."""
        first, second = self.saddles.ends.T
        certified = bottlenecks(len(self.modes), first, second, self.saddles.heights)
        contested: BoolArray = self.crests.heights < certified[self.crests.left, self.crests.right] - _CONTEST
        return contested

    def connect(self) -> None:
        """Join modes that nothing joins yet by straight lines, each to the nearest one beyond."""
        while (lost := np.flatnonzero(self.known_barriers()[0] == np.inf)).size:
            home = np.setdiff1d(np.arange(len(self.modes)), lost)
            away = self.modes.points[lost, None] - self.modes.points[home]
            squared = np.einsum("lhd,lde,lhe->lh", away, self.modes.metrics[lost], away)
            nearest = home[squared.argmin(axis=1)]
            paths = np.stack([self.modes.points[lost], self.modes.points[nearest]], axis=1)
            found = find_crests(self.landscape, self.modes, paths, np.stack([lost, nearest], axis=1))
            self.saddles.search(found.points, found.tangents)
            self.crests += found
            if (self.known_barriers()[0][lost] == np.inf).all():  # no maximum in between
                points, heights = self.modes.points, self.modes.heights
                higher = np.where(heights[lost] >= heights[nearest], lost, nearest)
                tangents = points[nearest] - points[lost]
                self.crests += Crests(points[higher], tangents, heights[higher], lost, nearest)

    def critical_points(self, component_modes: IntArray) -> CriticalPoints:
        """Return certified saddles between different modes, and crests where those leave the tree too high.

        Points are whitened and in the order in which they were found.
        """
        modes, saddles = self.modes, self.saddles
        joins = np.flatnonzero(saddles.ends[:, 0] != saddles.ends[:, 1])
        lower = self.crests[self.contested()]
        points = np.vstack([saddles.points[joins], lower.points])
        heights = np.r_[saddles.heights[joins], lower.heights]
        ends = np.vstack([saddles.ends[joins], np.stack([lower.left, lower.right], axis=1)])
        certified = np.arange(len(heights)) < len(joins)
        used = certified.copy()
        used[spanning_edges(len(modes), ends[:, 0], ends[:, 1], heights)] = True
        floors = modes.heights[ends].max(axis=1, initial=-np.inf)
        heights = np.maximum(heights, floors)  # a pass is never below its ends; rounding may say so
        bounds = np.where(certified, heights, floors)
        edges = (points[used], heights[used], bounds[used], ends[used], certified[used])
        return CriticalPoints(modes.points, modes.heights, modes.certified, component_modes, *edges)


class RidgelineSearch(Search):
    """Finds modes and certified saddles along ridgelines; see ``docs/morse.md`` for the argument.

    1. Modes below all centres.
    2. Ridgelines between components, then between modes (with their local metrics): minima along them
       reveal further modes, maxima are crests.
    3. From every promising crest, and from every mode along its softest axis, a climb to a saddle.
    4. Crests that lie lower than the certified barrier prove that a saddle is missing: strings are relaxed
       through them, and followed anew.
    """

    def __init__(self, landscape: Landscape, *, thorough: bool | None = None) -> None:
        super().__init__(landscape, thorough=landscape.n_components <= _FEW if thorough is None else thorough)
        self._n_climbed = 0

    def _explore(self) -> None:
        self._follow_components()
        self._climb()
        self._follow_modes()
        self._climb()
        # From modes along their softest axis: the way to saddles close to shallow modes. Around a lone
        # component f is round, and no axis is softer than another.
        modes = self.modes.points[~self._lone_modes()]
        step = _SOFT_STEP * self.landscape.newton_steps(modes).axes
        self.saddles.search(np.vstack([modes + step, modes - step]), np.vstack([step, step]))
        for round_number in range(_ROUNDS):
            crests = self.crests
            tree = spanning_edges(len(self.modes), crests.left, crests.right, crests.heights)
            contested = tree[self.contested()[tree]]  # one string for each edge of the tree of known paths
            if not contested.size:
                break
            self._relax(crests[contested], _STRING_STEPS * (round_number + 1))

    def _follow_components(self) -> None:
        """Follow the ridgelines between all components; where there are many, those that may matter.

        The latter are the spanning tree of touching levels, then pairs that bounds and known paths leave.
        """
        land, modes = self.landscape, self.component_modes
        wells = wells_with(land.centres, land.whiteners, -land.offsets)
        first, second = np.triu_indices(land.n_components, 1)
        if self.thorough:
            self._follow(wells, first, second, modes)
            return
        levels, points = touchings(wells, first, second)
        tree = spanning_edges(len(wells.floors), first, second, levels)
        self._follow(wells, first[tree], second[tree], modes)
        rest = np.delete(np.arange(len(first)), tree)
        bounds = crossing_bounds(wells, first, second, levels)[rest]
        centres, crossings = land.heights(land.centres), land.heights(points[rest])
        order = np.argsort(crossings)
        first, second = first[rest][order], second[rest][order]
        bounds, crossings = bounds[order], crossings[order]
        pending = np.arange(len(first))
        while pending.size:
            a, b = first[pending], second[pending]
            between = self.known_barriers()[modes[a], modes[b]]  # the level at which modes connect
            known = np.maximum(between, np.maximum(centres[a], centres[b]))  # and centres
            promising = np.maximum(bounds, crossings - _GAP)[pending] < between
            open_question = (bounds[pending] < known) & (pending < _EXPLORED * len(wells.floors))
            pending = pending[promising | open_question]
            batch, pending = pending[:_BATCH], pending[_BATCH:]
            self._follow(wells, first[batch], second[batch], modes)

    def _follow_modes(self) -> None:
        """Follow the ridgelines between modes, seen as wells with the local metric."""
        modes = self.modes
        whiteners: FloatArray = np.linalg.cholesky(modes.metrics).swapaxes(1, 2).astype(np.float64)
        wells = wells_with(modes.points, whiteners, modes.heights)
        first, second = np.triu_indices(len(modes), 1)
        if self.thorough:
            lone = self._lone_modes()
            new = ~(lone[first] & lone[second])  # between lone ones, components have been followed
        else:
            crossings = self.landscape.heights(touchings(wells, first, second)[1])
            new = crossings - _GAP < self.known_barriers()[first, second]
        self._follow(wells, first[new], second[new], np.arange(len(modes)))

    def _lone_modes(self) -> BoolArray:
        """Say which modes are centres of components that no other reaches."""
        lone = -self.landscape.offsets - self.modes.heights[self.component_modes] < _LONE
        return np.isin(np.arange(len(self.modes)), self.component_modes[lone])

    def _follow(self, wells: Wells, first: IntArray, second: IntArray, labels: IntArray) -> None:
        for start in range(0, len(first), _BATCH):
            rows = slice(start, start + _BATCH)
            paths = ridgelines(wells, first[rows], second[rows], _NODES_FEW if self.thorough else _NODES_MANY)
            ends = np.stack([labels[first[rows]], labels[second[rows]]], axis=1)
            highest = self.known_barriers() + _GAP if not self.thorough else None
            self.crests += find_crests(self.landscape, self.modes, paths, ends, highest)

    def _climb(self) -> None:
        """Climb from the crests found since the last time, the promising ones if there are many."""
        crests = self.crests[self._n_climbed :]
        self._n_climbed = len(self.crests)
        if not self.thorough:
            known = self.known_barriers()[crests.left, crests.right]
            crests = crests[crests.heights - _GAP <= known]
        crests = crests[crests.lowest_between_modes(_CLIMBS_FEW if self.thorough else _CLIMBS_MANY)]
        self.saddles.search(crests.points, crests.tangents)

    def _relax(self, contested: Crests, n_steps: int) -> None:
        """Relax strings through contested crests and follow what they become."""
        left, right = self.modes.points[contested.left], self.modes.points[contested.right]
        t = np.linspace(0, 1, _STRING_NODES)[:, None]
        up = left[:, None] + t * (contested.points - left)[:, None]
        down = contested.points[:, None] + t * (right - contested.points)[:, None]
        paths = relax_strings(self.landscape, np.concatenate([up, down[:, 1:]], axis=1), n_steps)
        ends = np.stack([contested.left, contested.right], axis=1)
        self.crests += find_crests(self.landscape, self.modes, paths, ends)
        self._climb()


class QuadraticStringSearch(Search):
    """The paper's search: what ``quadratic_string`` finds, certified.

    Solutions with one negative eigenvalue whose two descents end in different modes are edges. Modes are
    those below centres, and those that descents happen to reveal.
    """

    def _explore(self) -> None:
        for points in critical_points_between_centres(self.landscape):
            self.saddles.search(points, np.zeros_like(points))


SEARCHES: dict[str, type[Search]] = {
    "ridgelines": RidgelineSearch,
    "quadratic-string": QuadraticStringSearch,
}
