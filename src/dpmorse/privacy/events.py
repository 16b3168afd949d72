"""Events, the descriptions of releases: their place in a fit, their joint cost, and their form in files."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import accounting
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.noise import GAUSSIAN, LARGEST_SCALE, Law, law_named
from dpmorse.privacy.unit import Neighboring

_COARSEST = 8.0**-4
"""Lemma 2 asks for scales of at least 8: one draw with a smaller one makes the sum of s^-4 exceed this."""

_LARGEST_RHO = 1e18
"""The largest rho that is read from a file, that of an epsilon of a billion: accounting works up to there."""


_TURN = re.compile(r"(?P<rest>.*) (?P<turn>[1-9]\d{0,8}) of (?P<turns>[1-9]\d{0,8})", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """The place of a release in the plan of a fit.

    Attributes
    ----------
    stage : str
        The stage of the plan that pays for it, such as "coreset".
    part : str
        The release within the stage, such as "round"; empty where the stage makes only one.
    turn, turns : int or None
        Number of the repetition, and of all repetitions, where it is repeated.
    """

    stage: str
    part: str = ""
    turn: int | None = None
    turns: int | None = None

    def __str__(self) -> str:
        """Return the text of tables and files: "coreset, round 2 of 3"."""
        name = f"{self.stage}, {self.part}" if self.part else self.stage
        return name if self.turn is None else f"{name} {self.turn} of {self.turns}"

    @classmethod
    def parse(cls, text: str) -> "Step":
        """Parse the text that ``str`` writes; any other text is a stage of that name."""
        turn = _TURN.fullmatch(text)
        rest = turn["rest"] if turn else text
        stage, _, part = rest.partition(", ")
        step = cls(stage, part, *((int(turn["turn"]), int(turn["turns"])) if turn else ()))
        return step if str(step) == text else cls(text)


_NO_STEP = Step("")


@dataclass(frozen=True, kw_only=True)
class ReleaseEvent:
    """One release of noisy integers or of a choice, described without any value that was released.

    Attributes
    ----------
    step : Step
        The place of the release in the plan of the fit: stage, part and turn.
    neighboring : Neighboring
        Relation under which ``rho`` holds.
    rho : float
        zCDP cost. For Gaussian noise: half the squared L2 sensitivity measured in units of the noise,
        rounded up.
    n_draws : int
        Number of noise values drawn, each once.
    smallest_scale : int
        Smallest scale of those draws, in integer units: enters the discreteness term of Gaussian noise.
    noise_stddev : mapping of str to float
        Noise of each block in the scaled units of the statistic, for people and plots.
    noise : Law
        Gaussian noise, Laplace noise, or a random choice.
    pure_epsilon : float
        Cost of the release in pure differential privacy; infinite for Gaussian noise.
    """

    step: Step
    neighboring: Neighboring
    rho: float
    n_draws: int
    smallest_scale: int
    noise_stddev: Mapping[str, float]
    noise: Law = GAUSSIAN
    pure_epsilon: float = math.inf

    @property
    def cost(self) -> float:
        """The one number that all curves follow from: a pure epsilon, or rho for Gaussian noise."""
        return self.pure_epsilon if self.noise.is_pure else self.rho

    @property
    def name(self) -> str:
        """The step as a text for people: "coreset, round 2 of 3"."""
        return str(self.step)

    @property
    def gaussian_rho(self) -> float:
        """Half the squared mu of a Gaussian mechanism that is no more private than this release."""
        return self.noise.gaussian_rho(self.cost)

    @property
    def weighted_draws(self) -> float:
        """Sum of scale^-4 over the Gaussian draws, bounded from above."""
        return self.noise.weighted_draws(self.n_draws, self.smallest_scale)


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
        """Say whether this cost, up to rounding of the sums, covers another one in every curve."""
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
    noise: Law,
    neighboring: Neighboring,
    n_draws: int,
    smallest_scale: int = 1,
    noise_stddev: Mapping[str, float] | None = None,
    step: Step = _NO_STEP,
) -> ReleaseEvent:
    """Return the event of a release whose own cost is known.

    ``cost`` is rho for Gaussian noise, epsilon for Laplace noise, and the range of the log-likelihood ratio
    for a choice; the other curves follow (Lemma 3 of docs/privacy.md).
    """
    stated = round_up(cost)
    return ReleaseEvent(
        step=step,
        neighboring=neighboring,
        rho=round_up(noise.rho(Fraction(stated))),
        n_draws=n_draws,
        smallest_scale=smallest_scale,
        noise_stddev=dict(noise_stddev or {}),
        noise=noise,
        pure_epsilon=noise.pure_epsilon(stated),
    )


def event_for_groups(event: ReleaseEvent, budget: Budget) -> ReleaseEvent:
    """Return an event with its cost where neighbours differ in up to ``budget.rows`` records."""
    if budget.rows == 1:
        return replace(event, neighboring=budget.neighboring)
    cost = round_up(event.noise.cost_of_rows(Fraction(event.cost), budget.rows))
    rho, pure = round_up(event.noise.rho(Fraction(cost))), event.noise.pure_epsilon(cost)
    return replace(event, neighboring=budget.neighboring, rho=rho, pure_epsilon=pure)


def event_to_dict(event: ReleaseEvent) -> dict[str, Any]:
    """Return an event as plain data."""
    return {
        "name": event.name,
        "neighboring": event.neighboring.value,
        "rho": event.rho,
        "n_draws": event.n_draws,
        "smallest_scale": event.smallest_scale,
        "noise_stddev": dict(event.noise_stddev),
        "noise": event.noise.name,
        "pure_epsilon": None if math.isinf(event.pure_epsilon) else event.pure_epsilon,
    }


def event_from_dict(content: object) -> ReleaseEvent:
    """Rebuild an event; costs must be costs, whatever a checksum says."""
    keys = ("name", "neighboring", "rho", "n_draws", "smallest_scale", "noise_stddev")
    parts = fields("event", content, *keys, "noise", "pure_epsilon")
    stddev = of_type("event.noise_stddev", parts["noise_stddev"], dict)
    rho = number("event.rho", parts["rho"])
    if not 0 <= rho <= _LARGEST_RHO:
        raise ModelFormatError("event.rho is out of range.")
    noise = rebuild("event.noise", lambda: law_named(parts["noise"]))
    return ReleaseEvent(
        step=Step.parse(of_type("event.name", parts["name"], str)),
        neighboring=rebuild("event.neighboring", lambda: Neighboring.parse(parts["neighboring"])),
        rho=rho,
        n_draws=_count("event.n_draws", parts["n_draws"]),
        smallest_scale=_count("event.smallest_scale", parts["smallest_scale"]),
        noise_stddev={block: _stddev(value) for block, value in stddev.items()},
        noise=noise,
        pure_epsilon=_pure_epsilon(parts["pure_epsilon"], noise, rho),
    )


def same_events(some: Sequence[ReleaseEvent], others: Sequence[ReleaseEvent]) -> bool:
    """Say whether these are the same releases, up to rounding between platforms."""
    return len(some) == len(others) and all(map(_same_event, some, others))


def _same_event(a: ReleaseEvent, b: ReleaseEvent) -> bool:
    numbers = ((a.rho, b.rho), (a.smallest_scale, b.smallest_scale), (a.pure_epsilon, b.pure_epsilon))
    return (
        (a.step, a.noise, a.n_draws, a.neighboring) == (b.step, b.noise, b.n_draws, b.neighboring)
        and set(a.noise_stddev) == set(b.noise_stddev)
        and all(math.isclose(x, y, rel_tol=1e-6) for x, y in numbers)
        and all(math.isclose(a.noise_stddev[k], b.noise_stddev[k], rel_tol=1e-6) for k in a.noise_stddev)
    )


def _stddev(value: object) -> float:
    stddev = number("event.noise_stddev", value)
    if stddev < 0:
        raise ModelFormatError("event.noise_stddev is out of range.")
    return stddev


def _pure_epsilon(value: object, noise: Law, rho: float) -> float:
    """Return the pure epsilon of an event; it must be the one that its rho follows from."""
    if not noise.is_pure:
        if value is not None:
            raise ModelFormatError("event.pure_epsilon must be null for Gaussian noise.")
        return math.inf
    pure = number("event.pure_epsilon", value)
    if pure <= 0 or not math.isclose(rho, noise.rho(Fraction(pure)), rel_tol=1e-6):
        raise ModelFormatError("event.pure_epsilon does not agree with event.rho.")
    return pure


def _count(name: str, value: object) -> int:
    count = of_type(name, value, int)
    if not 1 <= count <= LARGEST_SCALE:
        raise ModelFormatError(f"{name} is out of range.")
    return count
