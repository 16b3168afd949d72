"""Private expectation-maximisation: the fit shared by DPMoG-hard and DPMoG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpmorse import _validate
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.em.maximisation import Prior, maximise, relocate
from dpmorse.bases.estimates import Estimates, packed_centres, project
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import (
    LARGEST_N_ITER,
    Settings,
    calibration_parameter,
    parameter,
    positive,
    radius_parameter,
    true_or_false,
    whole,
)
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import GAUSSIAN, Calibration, Neighboring, ReleaseEvent, refuse_pure
from dpmorse.statistics import CellMoments, Domain, GaussianCells, MomentShares, NoiseScales, NoisyMoments

ROUNDS = "round"
"""The one stage of expectation-maximisation."""

_START_VARIANCE = 0.1
"""Of a component before the first round, in scaled units: wide enough to reach from one start to the next."""

_ROUNDS_TO_SETTLE = 2
"""Rounds that are left to a component after it was relocated, so that the release describes where it went."""


def _averaged(name: str, value: Any, given: Mapping[str, Any]) -> int:
    """Check how many of the last rounds are averaged: by default a third of them."""
    if value is None:
        return max(1, int(given["n_iter"]) // 3)
    return _validate.positive_int(**{name: value}, at_most=given["n_iter"])


_SHARES = ("count", "sum", "second_moment")
"""What is shared: these bases count no levels."""


def _shares(name: str, value: Any, given: Mapping[str, Any]) -> MomentShares | None:
    if value is None:
        return None
    if not isinstance(value, MomentShares):
        raise InvalidTypeError(f"{name} must be a MomentShares or None, got {_validate.describe(value)}.")
    if given["calibration"] is Calibration.PAPER:
        raise InvalidParameterError("shares cannot be set with calibration='paper', which fixes them.")
    return value


@dataclass(frozen=True, kw_only=True)
class EMSettings(Settings):
    """The parameters of private expectation-maximisation."""

    calibration: Calibration = calibration_parameter(Calibration)
    n_iter: int = parameter(whole(LARGEST_N_ITER), refused=(0, -1, 2.5, "ten", LARGEST_N_ITER + 1, True))
    n_averaged: int = parameter(_averaged, refused=(0, 1.5, "half", LARGEST_N_ITER))
    radius: float | None = radius_parameter()
    shares: MomentShares | None = parameter(
        _shares,
        refused=(0.5, {"count": 1.0}, "equal"),
        to_plain=lambda shares: None if shares is None else {name: getattr(shares, name) for name in _SHARES},
        from_plain=lambda content: None if content is None else MomentShares(**content),
    )
    reg_covar: float = parameter(positive, refused=(0, -1e-6, float("nan"), "small"))
    relocate: bool = parameter(true_or_false, refused=(1, "yes", None))


@dataclass(eq=False, repr=False)
class PrivateEM(PrivateFit):
    """Expectation-maximisation whose every M-step sees noisy moments only.

    Subclasses say how a record belongs to cells (``weight_bits``), with which prior the moments are
    read (``prior``), and what sensitivity their paper states (``paper_squared_sensitivity``).

    Parameters
    ----------
    n_components : int, default=10
        Number of Gaussian components, at least 1. It may exceed the number of records.
    n_iter : int, default=10
        Rounds. Each makes one release and gets an equal share of the budget.
    n_averaged : int or None, default=None
        How many of the last rounds are averaged to make the released model, at no cost; None is a third
        of them, 1 is the paper's.
    radius : float or None, default=None
        Shrinks records to a ball of this radius around the centre of the box, in units of the box's
        half-width. In many columns this lowers the noise a great deal at the price of clipping.
    shares : MomentShares or None, default=None
        Split of a round's budget among counts, sums and second moments; None minimises the total noise.
    reg_covar : float, default=1e-6
        Smallest eigenvalue of a covariance in scaled units (the box is [-1, 1]^D).
    relocate : bool, default=True
        Move components that the noise does not support onto halves of the heaviest ones, in all but the
        last rounds. Costs nothing; False keeps them where they started, as the paper does.
    """

    settings_type: ClassVar[type[Settings]] = EMSettings
    weight_bits: ClassVar[int]
    prior: ClassVar[Prior | None]

    n_components: int = 10
    _: KW_ONLY
    n_iter: int = 10
    n_averaged: int | None = None
    radius: float | None = None
    shares: MomentShares | None = None
    reg_covar: float = 1e-6
    relocate: bool = True

    def stages(self, settings: EMSettings) -> Sequence[Stage]:
        """Return the one stage, which is divided equally among rounds."""
        refuse_pure(settings.budget)
        n_draws = settings.n_iter * self._statistic(settings, settings.domain).n_values
        return [Stage(ROUNDS, 1.0, n_draws)]

    def plan_of(self, settings: EMSettings) -> Plan[EMSettings]:
        """Return a plan in which every round is known beforehand."""
        plan, budget = super().plan_of(settings), settings.budget
        statistic, stage = self._statistic(settings, plan.domain), plan[ROUNDS]
        steps = [stage.step(turn=i, turns=settings.n_iter) for i in range(1, settings.n_iter + 1)]
        planned = statistic.plan(steps, self._noise_scales(statistic, plan), budget.neighboring_rows)
        rounds = replace(stage, releases=tuple(release.for_groups(budget).event for release in planned))
        return replace(plan, stages=(*plan.stages[:-1], rounds))

    def _statistic(self, settings: EMSettings, domain: Domain) -> CellMoments:
        return CellMoments(domain, settings.n_components, self.weight_bits)

    def _noise_scales(self, statistic: CellMoments, plan: Plan[EMSettings]) -> NoiseScales:
        """Return the noise of one round."""
        settings, budget = plan.settings, plan.settings.budget
        of_a_row = GAUSSIAN.cost_of_a_row(plan[ROUNDS].cost / settings.n_iter, budget.rows)
        if settings.calibration is Calibration.PAPER:
            squared = self.paper_squared_sensitivity(statistic, budget.neighboring_rows)
            return statistic.uniform(math.sqrt(squared / (2 * of_a_row)))
        return statistic.calibrate(of_a_row, budget.neighboring_rows, settings.shares)

    def paper_squared_sensitivity(self, statistic: CellMoments, neighboring: Neighboring) -> float:
        """Return the squared sensitivity of a round by the method's own paper, for one size of noise."""
        raise NotImplementedError

    def noise_of_a_count(self, plan: Plan[EMSettings], events: Sequence[ReleaseEvent]) -> float:
        """Return the noise of a component's count in the released mixture: an average of the last ones."""
        return super().noise_of_a_count(plan, events) / math.sqrt(plan.settings.n_averaged)

    def release(self, queries: Queries, plan: Plan[EMSettings], rng: np.random.Generator) -> FitResult:
        """Alternate one noisy release and the M-step on the average of the last releases."""
        settings, statistic = plan.settings, self._statistic(plan.settings, plan.domain)
        scales, estimates = self._noise_scales(statistic, plan), _start(statistic, rng)
        settling = max(_ROUNDS_TO_SETTLE, settings.n_averaged)
        recent: list[NoisyMoments] = []
        for i, event in zip(queries.rounds(settings.n_iter), plan[ROUNDS].releases, strict=True):
            rounds_left = settings.n_iter - i
            cells = GaussianCells.from_mixture(estimates.weights, estimates.means, estimates.covariances)
            noisy = queries.moments(event.step, statistic, cells, scales, n_repeats=rounds_left)
            recent = [*recent, noisy] if rounds_left < settings.n_averaged - 1 else [noisy]
            averaged = NoisyMoments.average(recent)
            estimates = maximise(estimates, averaged, plan.domain, settings.reg_covar, self.prior)
            if settings.relocate and rounds_left >= settling:
                estimates = relocate(estimates, noisy, plan.domain)
        return FitResult(estimates.mixture(plan.domain), plan.domain, bool(estimates.supported.any()))


def _start(statistic: CellMoments, rng: np.random.Generator) -> Estimates:
    """Return equal, round components spread over the domain: data-independent."""
    k, domain = statistic.n_cells, statistic.domain
    return Estimates(
        weights=np.full(k, 1 / k),
        means=project(packed_centres(k, domain.n_features, rng), domain),
        covariances=np.tile(_START_VARIANCE * np.eye(domain.n_features), (k, 1, 1)),
        supported=np.zeros(k, dtype=bool),
    )
