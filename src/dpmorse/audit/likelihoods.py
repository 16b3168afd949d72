"""Log-likelihood ratios of releases: the best possible score of an attacker who knows both datasets."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Mechanism, PlannedChoice, PlannedRelease
from dpmorse.privacy.exact import sealed
from dpmorse.typing import FloatArray, IntArray

_LARGEST_BATCH = 1 << 21
"""Values of noise that are drawn at a time, to bound the memory of many runs: 16 MB."""


@dataclass(frozen=True)
class Pair:
    """One question to the mechanism, with its exact answers on two neighbouring datasets."""

    planned: PlannedRelease | PlannedChoice
    exact: IntArray
    neighbour: IntArray

    def __post_init__(self) -> None:
        """Refuse answers that do not fit the question."""
        if self.exact.shape != self.neighbour.shape or self.exact.ndim != 1:
            raise InvalidParameterError(
                "exact and neighbour must be vectors of one length, got shapes "
                f"{self.exact.shape} and {self.neighbour.shape}."
            )
        if isinstance(self.planned, PlannedRelease) and self.planned.scales.shape != self.exact.shape:
            raise InvalidParameterError(
                f"exact and neighbour must have the {self.planned.scales.size} values of the plan, "
                f"got {self.exact.size}."
            )

    @property
    def moved(self) -> float:
        """Change of the answer between the neighbours, as a part of the change that the event pays for."""
        difference, event = (self.neighbour - self.exact).astype(np.float64), self.planned.event
        if isinstance(self.planned, PlannedChoice):
            return float(self.planned.rate) * float(np.ptp(difference)) / event.pure_epsilon
        noise = self.planned.noise
        cost = noise.cost(Fraction(noise.norm.of(difference / self.planned.scales)))
        return noise.widening(float(cost) / event.cost)

    def scores(self, mechanism: Mechanism, runs: int, *, neighbour: bool) -> FloatArray:
        """Draw releases of one dataset; return ln P(release | neighbour) - ln P(release | exact) of each."""
        if isinstance(self.planned, PlannedChoice):
            ratios = _log_probabilities(self.neighbour, self.planned)
            ratios -= _log_probabilities(self.exact, self.planned)
            penalties = sealed(self.neighbour if neighbour else self.exact)
            return ratios[[mechanism.choose(penalties, self.planned) for _ in range(runs)]]
        differs = self.exact != self.neighbour  # the other entries have the same noise on both datasets
        exact, other = self.exact[differs], self.neighbour[differs]
        scales, log_density = self.planned.scales[differs], self.planned.noise.log_density
        batch = max(1, _LARGEST_BATCH // max(1, len(scales)))
        scores = np.empty(runs)
        for start in range(0, runs, batch):
            n = min(batch, runs - start)
            many = PlannedRelease(np.tile(scales, n), self.planned.event)
            sums = sealed(np.tile(other if neighbour else exact, n))
            answers = mechanism.release(sums, many).reshape(n, -1)
            ratios = log_density((answers - other) / scales) - log_density((answers - exact) / scales)
            scores[start : start + n] = ratios.sum(axis=1)
        return scores


def _log_probabilities(penalties: IntArray, planned: PlannedChoice) -> FloatArray:
    logs = -float(planned.rate) * (penalties - penalties.min()).astype(np.float64)
    return np.asarray(logs - np.log(np.exp(logs).sum()))
