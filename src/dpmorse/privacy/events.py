"""What was released: frozen events, and what a list of them adds up to."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from dpmorse.privacy import accounting
from dpmorse.privacy.budget import Budget, Neighboring
from dpmorse.privacy.steps import Step

_COARSEST = 8.0**-4  # Lemma 2 asks for scales of at least 8: one draw below that exceeds this sum


_NO_STEP = Step("")


class Noise(StrEnum):
    """What makes a release private.

    ``GAUSSIAN``: discrete Gaussian noise (Theorem 2). ``LAPLACE``: discrete Laplace noise, for promises
    with delta = 0. ``CHOICE``: the exponential mechanism, a random choice among options (Theorem 7).
    """

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    CHOICE = "choice"


def noise_of_sums(budget: Budget) -> Noise:
    """Return the noise that a budget asks for: Laplace if the promise may never fail."""
    return Noise.LAPLACE if budget.is_pure else Noise.GAUSSIAN


@dataclass(frozen=True, kw_only=True)
class ReleaseEvent:
    """One release of noisy integers or of a choice, described without any value that was released.

    Attributes
    ----------
    step : Step
        Which release of the fit it is: stage, part and turn.
    neighboring : Neighboring
        Relation under which ``rho`` holds.
    rho : float
        zCDP cost. For Gaussian noise: half the squared L2 sensitivity measured in units of the noise,
        rounded up.
    n_draws : int
        How many numbers were drawn, each once.
    smallest_scale : int
        Smallest scale of those draws, in integer units: enters the discreteness term of Gaussian noise.
    noise_stddev : mapping of str to float
        Noise of each block in the scaled units of the statistic, for people and plots.
    noise : Noise
        What makes the release private.
    pure_epsilon : float
        Cost of the release in pure differential privacy; infinite for Gaussian noise.
    """

    step: Step
    neighboring: Neighboring
    rho: float
    n_draws: int
    smallest_scale: int
    noise_stddev: Mapping[str, float]
    noise: Noise = Noise.GAUSSIAN
    pure_epsilon: float = math.inf

    def __post_init__(self) -> None:
        """Take names for what they name: kinds of noise and relations are compared by identity."""
        object.__setattr__(self, "noise", Noise(self.noise))
        object.__setattr__(self, "neighboring", Neighboring(self.neighboring))

    @property
    def name(self) -> str:
        """The step as a text for people: "coreset, round 2 of 3"."""
        return str(self.step)

    @property
    def gaussian_rho(self) -> float:
        """Half the squared mu of a Gaussian mechanism that is no more private than this release."""
        if self.noise is Noise.GAUSSIAN:
            return self.rho
        log_range = self.pure_epsilon * (2 if self.noise is Noise.LAPLACE else 1)
        return accounting.bounded_range_mu(log_range) ** 2 / 2

    @property
    def weighted_draws(self) -> float:
        """Sum of scale^-4 over the Gaussian draws, bounded from above."""
        if self.noise is not Noise.GAUSSIAN:
            return 0.0
        return self.n_draws / float(self.smallest_scale) ** 4


@dataclass(frozen=True)
class Composition:
    """The joint cost of any number of adaptively chosen releases.

    Guarantees
    ----------
    ``epsilon(delta)`` is an upper bound: the smallest of the pure epsilon and those of Theorems 3 and 4 of
    docs/privacy.md; all hold at once.
    """

    rho: float
    weighted_draws: float
    gaussian_rho: float
    pure_epsilon: float

    @classmethod
    def of(cls, events: Iterable[ReleaseEvent]) -> "Composition":
        """Add up events; every curve composes by addition."""
        listed = list(events)
        return cls(
            rho=math.fsum(event.rho for event in listed),
            weighted_draws=math.fsum(event.weighted_draws for event in listed),
            gaussian_rho=math.fsum(event.gaussian_rho for event in listed),
            pure_epsilon=math.fsum(event.pure_epsilon for event in listed),
        )

    def __add__(self, other: "Composition") -> "Composition":
        return Composition(
            self.rho + other.rho,
            self.weighted_draws + other.weighted_draws,
            self.gaussian_rho + other.gaussian_rho,
            self.pure_epsilon + other.pure_epsilon,
        )

    def __sub__(self, other: "Composition") -> "Composition":
        return Composition(
            max(0.0, self.rho - other.rho),
            max(0.0, self.weighted_draws - other.weighted_draws),
            max(0.0, self.gaussian_rho - other.gaussian_rho),
            math.inf if math.isinf(self.pure_epsilon) else max(0.0, self.pure_epsilon - other.pure_epsilon),
        )

    def in_one_curve(self) -> "Composition":
        """Return a cost that is no less, and the same number in the zCDP and the Gaussian curve.

        A budget over fits that are chosen on the way (a privacy filter, docs/privacy.md section 6) holds for
        each curve, not for the better of two; with one number both say the same. (The pure curve may stay
        beside them: where it certifies a branch, no delta is used up.)
        """
        larger = max(self.rho, self.gaussian_rho)
        return replace(self, rho=larger, gaussian_rho=larger)

    def covers(self, cost: "Composition") -> bool:
        """Say whether this much, up to rounding of the sums, pays for a cost in every curve."""
        slack = 1 + 1e-9
        return (
            cost.rho <= self.rho * slack
            and cost.weighted_draws <= self.weighted_draws * slack
            and cost.gaussian_rho <= self.gaussian_rho * slack
            and cost.pure_epsilon <= self.pure_epsilon * slack
        )

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon proved at ``delta``."""
        if delta == 0:
            return self.pure_epsilon
        return min(self.pure_epsilon, self.epsilon_zcdp(delta), self.epsilon_gaussian(delta))

    def epsilon_zcdp(self, delta: float) -> float:
        """Return epsilon by the zCDP conversion (Theorem 3), infinite for delta = 0."""
        if delta == 0:
            return math.inf
        return accounting.zcdp_epsilon(self.rho, delta)

    def epsilon_gaussian(self, delta: float) -> float:
        """Return epsilon by the Gaussian curve with its discreteness term (Theorem 4)."""
        if self.weighted_draws > _COARSEST:
            return math.inf
        ceiling = self.epsilon_zcdp(delta)  # the term is charged at the largest epsilon of interest
        left = delta - accounting.discreteness_delta(ceiling, self.weighted_draws)
        return accounting.gaussian_epsilon(math.sqrt(2 * self.gaussian_rho), left) if left > 0 else math.inf


def round_up(value: Fraction) -> float:
    """Return a float >= value: a cost is never written down as less than it is."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def release_event(
    *,
    cost: Fraction,
    noise: Noise,
    neighboring: Neighboring,
    n_draws: int,
    smallest_scale: int = 1,
    scales: Mapping[str, float] | None = None,
    step: Step = _NO_STEP,
) -> ReleaseEvent:
    """Return the event of a release whose own cost is known.

    ``cost`` is rho for Gaussian noise, epsilon for Laplace noise, and the range of the log-likelihood ratio
    for a choice; the other curves follow (Lemma 3 of docs/privacy.md). ``scales`` are those of the blocks.
    """
    noise, stated = Noise(noise), round_up(cost)
    pure = math.inf if noise is Noise.GAUSSIAN else stated
    squared = Fraction(stated) ** 2
    rho = {Noise.GAUSSIAN: Fraction(stated), Noise.LAPLACE: squared / 2, Noise.CHOICE: squared / 8}[noise]
    spread = math.sqrt(2) if noise is Noise.LAPLACE else 1.0
    return ReleaseEvent(
        step=step,
        neighboring=neighboring,
        rho=round_up(rho),
        n_draws=n_draws,
        smallest_scale=smallest_scale,
        noise_stddev={block: spread * scale for block, scale in (scales or {}).items()},
        noise=noise,
        pure_epsilon=pure,
    )


def event_for_groups(event: ReleaseEvent, budget: Budget) -> ReleaseEvent:
    """Return an event with its cost where neighbours differ in up to ``budget.rows`` records.

    If one record moves a sum by v, m records move it by at most m v (Lemma 4 of docs/privacy.md): m^2 times
    rho for Gaussian noise, m times epsilon for Laplace noise.
    """
    if budget.rows == 1:
        return replace(event, neighboring=budget.neighboring)
    m = Fraction(budget.rows)
    if event.noise is Noise.GAUSSIAN:
        return replace(event, neighboring=budget.neighboring, rho=round_up(m * m * Fraction(event.rho)))
    pure = round_up(m * Fraction(event.pure_epsilon))
    rho = round_up(Fraction(pure) ** 2 / 2)
    return replace(event, neighboring=budget.neighboring, rho=rho, pure_epsilon=pure)
