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
    def is_choice(self) -> bool:
        """Whether the answer is a random choice."""
        return isinstance(self.planned, PlannedChoice)

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
        batch = max(1, _LARGEST_BATCH // max(1, int(np.count_nonzero(differs))))
        return np.concatenate(
            [
                self._scores_of_sums(
                    mechanism, self.planned, differs, min(batch, runs - start), neighbour=neighbour
                )
                for start in range(0, runs, batch)
            ]
        )

    def _scores_of_sums(
        self,
        mechanism: Mechanism,
        planned: PlannedRelease,
        differs: IntArray | FloatArray,
        runs: int,
        *,
        neighbour: bool,
    ) -> FloatArray:
        exact, other, scales = self.exact[differs], self.neighbour[differs], planned.scales[differs]
        many = PlannedRelease(np.tile(scales, runs), planned.event)
        sums = sealed(np.tile(other if neighbour else exact, runs))
        answers = mechanism.release(sums, many).reshape(runs, -1)
        log_density = planned.noise.log_density
        ratios = log_density((answers - other) / scales) - log_density((answers - exact) / scales)
        return np.asarray(ratios.sum(axis=1))


def _log_probabilities(penalties: IntArray, planned: PlannedChoice) -> FloatArray:
    logs = -float(planned.rate) * (penalties - penalties.min()).astype(np.float64)
    return np.asarray(logs - np.log(np.exp(logs).sum()))
