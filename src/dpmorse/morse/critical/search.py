"""What every search for modes and saddles keeps, and how it ends: connected, with doubts made visible."""

from abc import ABC, abstractmethod

import numpy as np

from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.modes import ModeSet
from dpmorse.morse.critical.passes import Passes, find_passes
from dpmorse.morse.critical.saddles import SaddleSet
from dpmorse.morse.critical.spanning import bottlenecks
from dpmorse.typing import BoolArray, FloatArray, IntArray

_CONTEST = 1e-6  # a path this much lower than the barrier proves that a saddle is missing


class Search(ABC):
    """Modes, certified saddles, and passes of paths, of one landscape."""

    def __init__(self, landscape: Landscape, *, thorough: bool = True) -> None:
        self.landscape = landscape
        self.modes = ModeSet(landscape, thorough=thorough)
        self.saddles = SaddleSet(landscape, self.modes)
        self.passes = Passes.none(landscape.n_features)
        self.component_modes: IntArray = self.modes.reach(landscape.centres)

    def run(self) -> None:
        """Find what there is to find; afterwards saddles and passes connect all modes."""
        if self.landscape.n_components > 1:
            self._explore()
        self.connect()

    @abstractmethod
    def _explore(self) -> None:
        """Fill modes, saddles and passes."""

    def barriers(self) -> FloatArray:
        """Return the barriers between modes over certified saddles."""
        ends = self.saddles.ends
        return bottlenecks(len(self.modes), ends[:, 0], ends[:, 1], self.saddles.heights)

    def bounds(self) -> FloatArray:
        """Return upper bounds of the barriers, from saddles and paths alike."""
        ends, passes = self.saddles.ends, self.passes
        first, second = np.r_[ends[:, 0], passes.left], np.r_[ends[:, 1], passes.right]
        return bottlenecks(len(self.modes), first, second, np.r_[self.saddles.heights, passes.heights])

    def contested(self) -> BoolArray:
        """Say which passes lie lower than the certified barrier between their modes: a saddle is missing."""
        contested: BoolArray = (
            self.passes.heights < self.barriers()[self.passes.left, self.passes.right] - _CONTEST
        )
        return contested

    def connect(self) -> None:
        """Join modes that nothing joins yet by straight lines, each to the nearest one beyond."""
        while (lost := np.flatnonzero(self.bounds()[0] == np.inf)).size:
            home = np.setdiff1d(np.arange(len(self.modes)), lost)
            away = self.modes.points[lost, None] - self.modes.points[home]
            squared = np.einsum("lhd,lde,lhe->lh", away, self.modes.metrics[lost], away)
            nearest = home[squared.argmin(axis=1)]
            paths = np.stack([self.modes.points[lost], self.modes.points[nearest]], axis=1)
            found = find_passes(self.landscape, self.modes, paths, np.stack([lost, nearest], axis=1))
            self.saddles.search(found.points, found.tangents)
            self.passes += found
            if (self.bounds()[0][lost] == np.inf).all():  # no maximum in between: the higher end is the pass
                self.passes += self._higher_ends(lost, nearest)

    def _higher_ends(self, first: IntArray, second: IntArray) -> Passes:
        """Return the higher of two modes as the pass between them."""
        higher = np.where(self.modes.heights[first] >= self.modes.heights[second], first, second)
        tangents = self.modes.points[second] - self.modes.points[first]
        return Passes(self.modes.points[higher], tangents, self.modes.heights[higher], first, second)
