"""What was released: frozen events, and what a list of them adds up to."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpmorse.privacy import accounting
from dpmorse.privacy.budget import Neighboring

_COARSEST = 8.0**-4  # Lemma 2 asks for scales of at least 8: one draw below that exceeds this sum


@dataclass(frozen=True, kw_only=True)
class ReleaseEvent:
    """One release of noisy integers, described without any value that was released.

    Attributes
    ----------
    name : str
        What was released and when, for a person to read ("round 3 of 10").
    neighboring : Neighboring
        Relation under which ``rho`` holds.
    rho : float
        zCDP cost: half the squared L2 sensitivity measured in units of the noise, rounded up.
    n_draws : int
        How many discrete Gaussian numbers were drawn, each once.
    smallest_scale : int
        Smallest scale of those draws, in integer units: enters the discreteness term.
    noise_stddev : mapping of str to float
        Noise of each block in the scaled units of the statistic, for people and plots.
    """

    name: str
    neighboring: Neighboring
    rho: float
    n_draws: int
    smallest_scale: int
    noise_stddev: Mapping[str, float]

    @property
    def weighted_draws(self) -> float:
        """Sum of scale^-4 over the draws, bounded from above."""
        return self.n_draws / float(self.smallest_scale) ** 4


@dataclass(frozen=True)
class Composition:
    """The joint cost of any number of adaptively chosen releases.

    Guarantees
    ----------
    ``epsilon(delta)`` is an upper bound proved by Theorem 3 or Theorem 4 of docs/privacy.md,
    whichever is smaller; both hold at once.
    """

    rho: float
    weighted_draws: float

    @classmethod
    def of(cls, events: Iterable[ReleaseEvent]) -> "Composition":
        """Add up events; zCDP and the chi-square bound both compose by addition."""
        listed = list(events)
        return cls(
            rho=math.fsum(event.rho for event in listed),
            weighted_draws=math.fsum(event.weighted_draws for event in listed),
        )

    def __add__(self, other: "Composition") -> "Composition":
        return Composition(self.rho + other.rho, self.weighted_draws + other.weighted_draws)

    def __sub__(self, other: "Composition") -> "Composition":
        return Composition(
            max(0.0, self.rho - other.rho), max(0.0, self.weighted_draws - other.weighted_draws)
        )

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon proved at ``delta``."""
        return min(self.epsilon_zcdp(delta), self.epsilon_gaussian(delta))

    def epsilon_zcdp(self, delta: float) -> float:
        """Return epsilon by the zCDP conversion (Theorem 3)."""
        return accounting.zcdp_epsilon(self.rho, delta)

    def epsilon_gaussian(self, delta: float) -> float:
        """Return epsilon by the Gaussian curve with its discreteness term (Theorem 4)."""
        if self.weighted_draws > _COARSEST:
            return math.inf
        ceiling = self.epsilon_zcdp(delta)  # the term is charged at the largest epsilon of interest
        left = delta - accounting.discreteness_delta(ceiling, self.weighted_draws)
        return accounting.gaussian_epsilon(math.sqrt(2 * self.rho), left) if left > 0 else math.inf


def round_up(value: Fraction) -> float:
    """Return a float >= value: a cost is never written down as less than it is."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
