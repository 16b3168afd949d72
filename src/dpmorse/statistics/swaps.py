"""The score by which centres are exchanged: a k-means cost whose every term is bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse._compile import compiled_any_order
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import CHOICE, GAUSSIAN, Neighboring, Noise, PlannedChoice, Step, release_event
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics.codes import BinaryCodes, Tally, squared_distances
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SwapCosts:
    """Costs ``u(S) = sum_x min(min_{s in S} |x - s|^2, limit)`` of sets of centres: exact, for choices only.

    Parameters
    ----------
    places : Exact
        Points of the records, as integers of shape (n_points, n_axes), and the number of records at each.
    limit : int
        Largest squared distance that counts; public.
    """

    places: Exact[tuple[IntArray, IntArray]]
    limit: int

    @classmethod
    def of(cls, tally: Exact[Tally], codes: BinaryCodes, depth: int, limit: int) -> "SwapCosts":
        """Return the costs for records that are rounded to cubes, ``depth`` halvings deep."""
        short = opened(tally).shortened(depth * codes.n_axes)
        return cls(sealed((codes.centres(short.codes, depth), short.counts)), limit)

    def after_swaps(self, candidates: IntArray, chosen: IntArray) -> Exact[IntArray]:
        """Return u(S) after each of k centres is exchanged for each of m candidates: entry i m + j.

        With d1, d2 the distances from a record to its nearest and second nearest centre, and o its nearest,
        ``u(i -> j) = sum min(D_j, d1) + sum_{o = i} (min(D_j, d2) - min(D_j, d1))``: one pass for all swaps.
        All values are integers below 2^53 in float64, so that their sums are exact.
        """
        points, counts = opened(self.places)
        distances = np.minimum(squared_distances(points, candidates[chosen]), self.limit)
        owner = distances.argmin(axis=1)
        ranked = np.partition(np.column_stack([distances, np.full(len(distances), self.limit)]), 1, axis=1)
        kept, moved = np.zeros(len(candidates)), np.zeros((len(chosen), len(candidates)))
        add_swaps(
            points.astype(np.float64),
            counts.astype(np.float64),
            np.ascontiguousarray(candidates.T, dtype=np.float64),
            ranked[:, 0].astype(np.float64),
            ranked[:, 1].astype(np.float64),
            owner,
            kept,
            moved,
        )
        return sealed((kept + moved).astype(np.int64).ravel())

    @staticmethod
    def of_options(met: Sequence[tuple[Exact[IntArray], int]]) -> Exact[IntArray]:
        """Return the costs of options that came up in a search: each an entry of costs after swaps."""
        return sealed(np.array([opened(costs)[option] for costs, option in met]))

    @staticmethod
    def plan(
        step: Step, limit: int, cost: float, neighboring: Neighboring, noise: Noise = GAUSSIAN
    ) -> PlannedChoice:
        """Return the choice that spends at most ``cost``, in the unit of ``noise``, on these costs.

        Privacy
        -------
        One record more raises every u by a value in [0, limit], so the exponents ``-rate u`` of any two
        options move apart by at most ``rate * limit``; replacing one record, by twice that (Theorem 7).
        """
        if cost <= 0:
            raise InvalidParameterError("epsilon is too small: nothing is left for this choice.")
        moved = limit * (1 if neighboring is Neighboring.ADD_REMOVE else 2)
        log_range = Fraction(noise.range_of_choice(cost))
        event = release_event(step=step, cost=log_range, noise=CHOICE, neighboring=neighboring, n_draws=1)
        return PlannedChoice(log_range / moved, event)


@compiled_any_order
def add_swaps(  # noqa: PLR0917 - compiled code takes arrays
    points: FloatArray,
    counts: FloatArray,
    candidates: FloatArray,
    nearest: FloatArray,
    second: FloatArray,
    owner: IntArray,
    kept: FloatArray,
    moved: FloatArray,
) -> None:
    """Add ``min(D_j, d1)`` to the cost kept, and ``min(D_j, d2) - min(D_j, d1)`` to that of each owner."""
    n_axes, n_candidates = candidates.shape
    distance = np.empty(n_candidates)
    for r in range(points.shape[0]):
        distance[:] = 0.0
        for axis in range(n_axes):
            x, column = points[r, axis], candidates[axis]
            for j in range(n_candidates):
                distance[j] += (x - column[j]) * (x - column[j])
        row, n, d1, d2 = moved[owner[r]], counts[r], nearest[r], second[r]
        for j in range(n_candidates):
            stays = min(distance[j], d1)
            kept[j] += n * stays
            row[j] += n * (min(distance[j], d2) - stays)
