"""Modes and saddles of a mixture, as the user sees them."""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from dpmorse import _validate
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse.critical.landscape import Landscape
from dpmorse.morse.critical.quadratic_string import QuadraticStringSearch
from dpmorse.morse.critical.ridgeline_search import RidgelineSearch
from dpmorse.morse.critical.search import Search
from dpmorse.morse.critical.spanning import spanning_edges
from dpmorse.typing import BoolArray, FloatArray, IntArray

SEARCHES: dict[str, type[Search]] = {
    "ridgelines": RidgelineSearch,
    "quadratic-string": QuadraticStringSearch,
}

FARTHEST = 1e6  # in standard deviations of the whole mixture


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

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return len(self.modes)

    @property
    def certified(self) -> bool:
        """Whether every mode and every saddle is certified."""
        return bool(self.mode_certified.all() and self.saddle_certified.all())


def find_critical_points(mixture: GaussianMixture, search: str = "ridgelines") -> CriticalPoints:
    """Find the modes of a mixture and the saddles between them; saddles connect all modes.

    Parameters
    ----------
    mixture : GaussianMixture
        A density; components of weight 0 are ignored.
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        How saddles are looked for: along ridgelines, or literally as in the paper's Algorithm 3.

    Returns
    -------
    CriticalPoints
        "Certified" means that a saddle is real, not that no lower one exists; see ``docs/morse.md`` for
        how often that happens.
    """
    kind = SEARCHES[_validate.choice(search=search, among=SEARCHES)]
    landscape = Landscape(mixture)
    component_modes = np.empty(mixture.n_components, dtype=np.int64)
    weightless = np.setdiff1d(np.arange(mixture.n_components), landscape.kept)
    # Matrices are small: BLAS threads would only get in the way.
    with threadpool_limits(limits=1, user_api="blas"), np.errstate(over="ignore", invalid="ignore"):
        try:
            found = kind(landscape)
            found.run()
            component_modes[landscape.kept] = found.component_modes
            ghosts = np.clip(landscape.to_whitened(mixture.means[weightless]), -FARTHEST, FARTHEST)
            component_modes[weightless] = found.modes.reach(ghosts)
            found.connect()  # a centre without weight may lie above a mode not seen before
        except np.linalg.LinAlgError as error:
            raise InvalidParameterError(
                "mixture: components are too far apart, or too thin, for floating-point numbers."
            ) from error
    return _in_order(found, component_modes)


def _in_order(found: Search, component_modes: IntArray) -> CriticalPoints:
    """Number modes and edges by height, and bring everything to the mixture's units."""
    modes, landscape = found.modes, found.landscape
    points, heights, bounds, ends, certified = _edges(found)
    order = np.argsort(modes.heights, kind="stable")
    number = np.argsort(order)
    by_height = np.argsort(heights, kind="stable")
    return CriticalPoints(
        modes=landscape.from_whitened(modes.points[order]),
        mode_heights=modes.heights[order],
        mode_certified=modes.certified[order],
        component_modes=number[component_modes],
        saddles=landscape.from_whitened(points[by_height]),
        saddle_heights=heights[by_height],
        saddle_bounds=bounds[by_height],
        saddle_ends=np.sort(number[ends[by_height]], axis=1),
        saddle_certified=certified[by_height],
    )


def _edges(found: Search) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, BoolArray]:
    """Return certified saddles between different modes, and passes where those leave the tree too high."""
    saddles = found.saddles
    joins = np.flatnonzero(saddles.ends[:, 0] != saddles.ends[:, 1])
    lower = found.passes[found.contested()]
    points = np.vstack([saddles.points[joins], lower.points])
    heights = np.r_[saddles.heights[joins], lower.heights]
    ends = np.vstack([saddles.ends[joins], np.stack([lower.left, lower.right], axis=1)])
    certified = np.arange(len(heights)) < len(joins)
    used = certified.copy()
    used[spanning_edges(len(found.modes), ends[:, 0], ends[:, 1], heights)] = True
    floors = found.modes.heights[ends].max(axis=1, initial=-np.inf)
    heights = np.maximum(heights, floors)  # a pass is never below its ends; rounding may say so
    bounds = np.where(certified, heights, floors)
    return points[used], heights[used], bounds[used], ends[used], certified[used]
