"""Laws of releases: Gaussian or Laplace noise on sums, or a random choice.

Each law is one small class that knows all that differs between laws: the unit of its cost, the cost in every
privacy curve, the scales that a cost buys, and the method that draws it. To add a kind of noise, write one
class here and add it to ``LAWS``; a new distribution also needs a method of the sampler.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import accounting
from dpmorse.privacy.accounting import Calibration
from dpmorse.privacy.budget import Budget
from dpmorse.typing import FloatArray, IntArray

SMALLEST_SCALE = 2**24
"""No release uses finer noise than this, which keeps the discreteness term of Theorem 4 negligible."""

LARGEST_SCALE = 2**56
"""No release uses coarser noise than this: the sampler draws U + s V with V < 127 in int64, and a larger V
has probability e^-127."""


class NoiseSampler(Protocol):
    """Independent integer noise, and random choices."""

    secure: bool

    def gaussian(self, scales: IntArray) -> IntArray:
        """Draw the noise of one release: N_Z(0, s^2) for each scale s."""
        ...

    def laplace(self, scales: IntArray) -> IntArray:
        """Draw the noise of one release: mass proportional to exp(-|x| / s) for each scale s."""
        ...

    def choose(self, penalties: IntArray, rate: Fraction) -> int:
        """Draw one index with probability proportional to exp(-rate * penalty)."""
        ...


class Norm(Enum):
    """Norm of the difference between sums of neighbouring datasets, in units of the noise.

    A sensitivity is an L1 norm, or the square of an L2 norm.
    """

    L1 = "l1"
    L2 = "l2"

    def of(self, steps: FloatArray) -> float:
        """Return the L1 norm, or the square of the L2 norm, of differences in units of the noise."""
        return float(np.abs(steps).sum() if self is Norm.L1 else np.square(steps).sum())


class Law(ABC):
    """The law of a release: its name in files, and its privacy curves.

    Every curve follows from one number, the cost of the release: a pure epsilon if ``is_pure``, and rho
    (zCDP) otherwise.
    """

    name: ClassVar[str]
    is_pure: ClassVar[bool]
    degree: ClassVar[int]
    """The cost of a release grows with the degree-th power of its sensitivity."""
    likelihood_range: ClassVar[int]
    """By how many costs log-likelihood ratios of neighbours can differ, where the law is pure (Lemma 3)."""

    def rho(self, cost: Fraction) -> Fraction:
        """Return the zCDP cost: that of a mechanism of bounded range, range^2 / 8 (Lemma 3)."""
        return (self.likelihood_range * cost) ** 2 / 8

    def gaussian_rho(self, cost: float) -> float:
        """Return half the squared mu of a Gaussian mechanism that is no more private (Lemma 3)."""
        return accounting.bounded_range_mu(self.likelihood_range * cost) ** 2 / 2

    def pure_epsilon(self, cost: float) -> float:
        """Return the cost in pure differential privacy, infinite if there is none."""
        return cost if self.is_pure else math.inf

    def weighted_draws(self, n_draws: int, smallest_scale: int) -> float:
        """Bound the sum of scale^-4 over Gaussian draws, which discreteness costs (Lemma 2)."""
        return 0.0

    def cost_of_rows(self, cost: Fraction, rows: int) -> Fraction:
        """Return the cost for a unit of ``rows`` records, if that of one record is ``cost``.

        If one record moves a sum by v, m records move it by at most m v (Lemma 4 of docs/privacy.md).
        """
        total: Fraction = rows**self.degree * cost
        return total

    def cost_of_a_row(self, cost: float, rows: int) -> float:
        """Return the largest cost of one record if ``rows`` records together may cost ``cost``."""
        share: float = cost / rows**self.degree
        return share


class Noise(Law):
    """Discrete noise on sums; the cost is proportional to the sensitivity in ``norm``.

    Noise of s times the scale therefore costs s^-degree as much.
    """

    norm: ClassVar[Norm]
    unit_stddev: ClassVar[float]
    """Standard deviation of noise of scale 1; that of integer noise is next to it for the scales in use."""

    @abstractmethod
    def affordable(self, budget: Budget, calibration: Calibration, *, n_draws: int) -> float:
        """Return the cost that a budget buys when ``n_draws`` noise values will be drawn."""

    @abstractmethod
    def cost(self, sensitivity: Fraction) -> Fraction:
        """Return the cost of a release whose sums have this sensitivity, in units of the noise."""

    @abstractmethod
    def scale_for(self, cost_at_one: Fraction, cost: Fraction) -> int:
        """Return a scale, at most one step above the smallest, that costs no more than ``cost``.

        ``cost_at_one`` is the cost with noise of scale 1.
        """

    @abstractmethod
    def widening(self, ratio: float) -> float:
        """Return the factor of all scales that divides the cost by ``ratio``."""

    def best_parts(self, squared_norms: FloatArray) -> FloatArray:
        """Return parts of the cost, up to a factor, that minimise the total variance of the noise.

        ``squared_norms`` are, for each block, its squared norm times its number of entries. The variance
        of a block with part f is proportional to ``squared_norm f^(-2 / degree)``; setting derivatives
        equal gives ``f ~ squared_norm^(degree / (degree + 2))``.
        """
        parts: FloatArray = squared_norms ** (self.degree / (self.degree + 2))
        return parts

    def scales_of_parts(self, norms: FloatArray, parts: FloatArray) -> FloatArray:
        """Return the scale of each block that spends its part of the cost on its norm."""
        scales: FloatArray = norms / parts ** (1 / self.degree)
        return scales

    @abstractmethod
    def range_of_choice(self, cost: float) -> float:
        """Return (almost) the largest range of a random choice that ``cost``, of this noise, pays for."""

    @abstractmethod
    def log_density(self, steps: FloatArray) -> FloatArray:
        """Return the log-density, up to a constant, of noise divided by its scale."""

    @abstractmethod
    def draw(self, sampler: NoiseSampler, scales: IntArray) -> IntArray:
        """Draw one noise value for each scale."""


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Discrete Gaussian noise (Theorem 2): the cost is rho, half the squared L2 sensitivity."""

    name: ClassVar[str] = "gaussian"
    is_pure: ClassVar[bool] = False
    degree: ClassVar[int] = 2
    norm: ClassVar[Norm] = Norm.L2
    unit_stddev: ClassVar[float] = 1.0

    def rho(self, cost: Fraction) -> Fraction:
        """Return the cost itself."""
        return cost

    def gaussian_rho(self, cost: float) -> float:
        """Return the cost itself: this is a Gaussian mechanism."""
        return cost

    def weighted_draws(self, n_draws: int, smallest_scale: int) -> float:
        """Return n s^-4, s the smallest scale."""
        return n_draws / float(smallest_scale) ** 4

    def affordable(self, budget: Budget, calibration: Calibration, *, n_draws: int) -> float:
        """Return the rho that the calibration proves; a pure promise is refused."""
        refuse_pure(budget)
        weighted = self.weighted_draws(n_draws, SMALLEST_SCALE)
        return accounting.affordable_rho(budget.epsilon, budget.delta, calibration, weighted)

    def cost(self, sensitivity: Fraction) -> Fraction:
        """Return half the squared L2 sensitivity."""
        return sensitivity / 2

    def scale_for(self, cost_at_one: Fraction, cost: Fraction) -> int:
        """Return the root of the ratio, rounded up."""
        return math.isqrt(math.ceil(cost_at_one / cost)) + 1

    def widening(self, ratio: float) -> float:
        """Return the root: rho falls with the square of the scale."""
        return math.sqrt(ratio)

    def range_of_choice(self, cost: float) -> float:
        """Return the range whose rho is ``cost``, in the zCDP and in the Gaussian curve."""
        return accounting.largest_range(cost)

    def log_density(self, steps: FloatArray) -> FloatArray:
        """Return -x^2 / 2."""
        return -np.square(steps) / 2

    def draw(self, sampler: NoiseSampler, scales: IntArray) -> IntArray:
        """Draw N_Z(0, s^2) for each scale s."""
        return sampler.gaussian(scales)


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Discrete Laplace noise, for promises with delta = 0: the cost is epsilon, the L1 sensitivity."""

    name: ClassVar[str] = "laplace"
    is_pure: ClassVar[bool] = True
    degree: ClassVar[int] = 1
    likelihood_range: ClassVar[int] = 2  # of any pure mechanism: ratios are between -epsilon and epsilon
    norm: ClassVar[Norm] = Norm.L1
    unit_stddev: ClassVar[float] = math.sqrt(2)

    def affordable(self, budget: Budget, calibration: Calibration, *, n_draws: int) -> float:
        """Return epsilon, less a margin for the rounding of sums."""
        return budget.epsilon * (1 - accounting.SOLVE_MARGIN)

    def cost(self, sensitivity: Fraction) -> Fraction:
        """Return the L1 sensitivity."""
        return sensitivity

    def scale_for(self, cost_at_one: Fraction, cost: Fraction) -> int:
        """Return the ratio, rounded up."""
        return math.ceil(cost_at_one / cost)

    def widening(self, ratio: float) -> float:
        """Return the ratio: epsilon falls with the scale."""
        return ratio

    def range_of_choice(self, cost: float) -> float:
        """Return the cost: the range of a choice is its pure epsilon."""
        return cost

    def log_density(self, steps: FloatArray) -> FloatArray:
        """Return -|x|."""
        return -np.abs(steps)

    def draw(self, sampler: NoiseSampler, scales: IntArray) -> IntArray:
        """Draw mass proportional to exp(-|x| / s) for each scale s."""
        return sampler.laplace(scales)


@dataclass(frozen=True)
class RandomChoice(Law):
    """The exponential mechanism (Theorem 7): the cost is the range of the log-likelihood ratio."""

    name: ClassVar[str] = "choice"
    is_pure: ClassVar[bool] = True
    degree: ClassVar[int] = 1
    likelihood_range: ClassVar[int] = 1  # the cost is the range


GAUSSIAN, LAPLACE, CHOICE = GaussianNoise(), LaplaceNoise(), RandomChoice()

LAWS: dict[str, Law] = {law.name: law for law in (GAUSSIAN, LAPLACE, CHOICE)}
"""All laws, by their names in model and budget files."""


def law_named(name: object) -> Law:
    """Return the law that a file names."""
    return LAWS[_validate.choice(noise=name, among=LAWS)]


def noise_of_sums(budget: Budget) -> Noise:
    """Return the noise that a budget asks for: Laplace if the promise may never fail."""
    return LAPLACE if budget.is_pure else GAUSSIAN


def refuse_pure(budget: Budget) -> None:
    """Say that a method with Gaussian noise cannot promise delta = 0."""
    if budget.is_pure:
        raise InvalidParameterError(
            "delta must lie strictly between 0 and 1, got 0: Gaussian noise has no pure form. "
            "DPLloyd, DPCube and DPTree have one, with Laplace noise."
        )
