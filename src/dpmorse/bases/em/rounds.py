"""Private expectation-maximisation: the fit shared by DPMoG-hard and DPMoG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpmorse.bases import private_bounds as _private_bounds
from dpmorse.bases.base import FitResult, PrivateFit
from dpmorse.bases.em.maximisation import Prior, maximise, relocate
from dpmorse.bases.estimates import Estimates, project
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import EMSettings
from dpmorse.bases.starts import packed_centres
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.documents import domain_to_dict
from dpmorse.privacy import (
    DEFAULT_DELTA,
    GAUSSIAN,
    Calibration,
    Ledger,
    Neighboring,
    PlannedRelease,
    PrivacyReport,
    ReleaseEvent,
    same_events,
)
from dpmorse.statistics import CellMoments, Domain, GaussianCells, MomentShares, NoiseScales, NoisyMoments

_START_VARIANCE = 0.1
_ROUNDS_TO_SETTLE = 2  # after a component was relocated


@dataclass(frozen=True)
class Rounds:
    """All that is decided before data is touched: here, every release."""

    settings: EMSettings
    statistic: CellMoments
    releases: tuple[PlannedRelease, ...]
    bounds_cost: float

    @property
    def events(self) -> Sequence[ReleaseEvent]:
        """What will be spent, but for bounds."""
        return [release.event for release in self.releases]

    def with_domain(self, domain: Domain) -> "Rounds":
        """Return this plan for bounds that were released."""
        settings, statistic = self.settings.with_domain(domain), replace(self.statistic, domain=domain)
        return replace(self, settings=settings, statistic=statistic)


class PrivateEM(PrivateFit):
    """Expectation-maximisation whose every M-step sees noisy moments only.

    Subclasses say how a record belongs to cells (``_weight_bits``), with which prior the moments are
    read (``_prior``), and what their paper's calibration is (``_paper_scales``).
    """

    _weight_bits: ClassVar[int]
    _prior: ClassVar[Prior | None]

    def __init__(
        self,
        n_components: int = 10,
        *,
        epsilon: float | None = None,
        delta: float = DEFAULT_DELTA,
        bounds: Any = None,
        neighboring: str = "add-remove",
        max_rows_per_group: int | None = None,
        n_iter: int = 10,
        n_averaged: int | None = None,
        radius: float | None = None,
        shares: MomentShares | None = None,
        calibration: str = "gaussian",
        reg_covar: float = 1e-6,
        relocate: bool = True,
        noise: str = "native",
        engine: Engine | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.neighboring = neighboring
        self.max_rows_per_group = max_rows_per_group
        self.n_iter = n_iter
        self.n_averaged = n_averaged
        self.radius = radius
        self.shares = shares
        self.calibration = calibration
        self.reg_covar = reg_covar
        self.relocate = relocate
        self.noise = noise
        self.engine = engine
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, n_features: int) -> Rounds:
        """Validate every parameter and fix the noise of every round, before data is touched."""
        settings = EMSettings.of(self, n_features)
        statistic = CellMoments(settings.domain, settings.n_components, self._weight_bits)
        rho, for_bounds = _affordable(settings, statistic)
        scales = self._noise_scales(statistic, settings, rho / settings.n_iter)
        names = [f"round {i} of {settings.n_iter}" for i in range(1, settings.n_iter + 1)]
        planned = statistic.plan(names, scales, settings.budget.neighboring_rows)
        releases = tuple(release.for_groups(settings.budget) for release in planned)
        return Rounds(settings, statistic, releases, for_bounds)

    def _noise_scales(self, statistic: CellMoments, settings: EMSettings, rho: float) -> NoiseScales:
        """Return the noise of one round, which may cost ``rho``."""
        budget = settings.budget
        of_a_row = GAUSSIAN.cost_of_a_row(rho, budget.rows)
        if settings.calibration is Calibration.PAPER:
            return self._paper_scales(statistic, of_a_row, budget.neighboring_rows)
        return statistic.calibrate(of_a_row, budget.neighboring_rows, settings.shares)

    def _paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
        """Return the noise that the method's own paper prescribes for one round."""
        raise NotImplementedError

    def _release(self, queries: Queries, plan: Rounds, rng: np.random.Generator) -> FitResult:
        parameters = self._run(queries, plan, _start(plan.statistic, rng))
        domain = plan.settings.domain
        return FitResult(parameters.mixture(domain), domain, bool(parameters.supported.any()))

    def _run(self, queries: Queries, plan: Rounds, parameters: Estimates) -> Estimates:
        """Alternate exact sums, one noisy release, and the M-step on the average of the last releases."""
        statistic, settings = plan.statistic, plan.settings
        settling = max(_ROUNDS_TO_SETTLE, settings.n_averaged)
        recent: list[NoisyMoments] = []
        for rounds_left, planned in zip(range(settings.n_iter - 1, -1, -1), plan.releases, strict=True):
            cells = GaussianCells.from_mixture(parameters.weights, parameters.means, parameters.covariances)
            exact = queries.sums(planned.event.name, statistic, cells, rounds_left)
            released = queries.mechanism.release(exact, planned)
            noisy = statistic.from_units(released, planned)
            recent = [*recent, noisy] if rounds_left < settings.n_averaged - 1 else [noisy]
            averaged = NoisyMoments.average(recent)
            parameters = maximise(parameters, averaged, statistic.domain, settings.reg_covar, self._prior)
            if settings.relocate and rounds_left >= settling:
                parameters = relocate(parameters, noisy, statistic.domain)
        return parameters

    def _check_restored(
        self, plan: Rounds, mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> None:
        if mixture.n_components != plan.settings.n_components:
            raise ModelFormatError("the mixture does not have n_components components.")
        if domain_to_dict(domain) != domain_to_dict(plan.settings.domain):
            raise ModelFormatError("the domain is not that of the bounds and the radius.")
        if not same_events(plan.events, report.events):
            raise ModelFormatError("privacy.events are not those of a fit with these parameters.")

    @classmethod
    def _from_values(cls, parameters: dict[str, Any]) -> Self:
        shares = None if parameters["shares"] is None else MomentShares(**parameters["shares"])
        return cls(**{**parameters, "shares": shares})


def _affordable(settings: EMSettings, statistic: CellMoments) -> tuple[float, float]:
    """Return what all rounds together may cost, and what bounds may cost."""
    n_draws = settings.n_iter * statistic.n_values + _private_bounds.n_draws(settings.domain)
    total = GAUSSIAN.affordable(settings.budget, settings.calibration, n_draws=n_draws)
    return _private_bounds.divide(total, private=settings.private_bounds)


def _start(statistic: CellMoments, rng: np.random.Generator) -> Estimates:
    """Return equal, round components spread over the domain: data-independent."""
    k, domain = statistic.n_cells, statistic.domain
    return Estimates(
        weights=np.full(k, 1 / k),
        means=project(packed_centres(k, domain.n_features, rng), domain),
        covariances=np.tile(_START_VARIANCE * np.eye(domain.n_features), (k, 1, 1)),
        supported=np.zeros(k, dtype=bool),
    )


def uniform_stddev(squared_sensitivity: float, rho: float) -> float:
    """Return the noise of a Gaussian mechanism with this sensitivity and cost."""
    return math.sqrt(squared_sensitivity / (2 * rho))
