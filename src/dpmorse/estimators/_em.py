"""Private expectation-maximisation: the fit shared by DPMoG-hard and DPMoG."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from threadpoolctl import threadpool_limits

from dpmorse import _validate
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine, InMemoryEngine
from dpmorse.estimators._base import PrivateMixtureEstimator
from dpmorse.estimators._maximisation import Parameters, Prior, maximise, project, relocate
from dpmorse.estimators._randomness import Randomness
from dpmorse.estimators._records import Columns, open_table, read_numbers
from dpmorse.estimators._settings import Settings
from dpmorse.estimators._starts import packed_centres
from dpmorse.exceptions import InvalidTypeError, ModelFormatError, NoisyModelWarning, PrivacyLeakWarning
from dpmorse.privacy import (
    DEFAULT_DELTA,
    Budget,
    Calibration,
    GaussianMechanism,
    Ledger,
    Neighboring,
    PlannedRelease,
    PrivacyReport,
)
from dpmorse.privacy.calibration import affordable_rho
from dpmorse.statistics import CellMoments, Domain, GaussianCells, MomentShares
from dpmorse.statistics.noise import NoiseScales
from dpmorse.statistics.sums import NoisyMoments
from dpmorse.typing import FloatArray

_START_VARIANCE = 0.1
_ROUNDS_TO_SETTLE = 2  # after a component was relocated


@dataclass(frozen=True)
class Plan:
    """All that is decided before data is touched."""

    settings: Settings
    statistic: CellMoments
    releases: tuple[PlannedRelease, ...]


class PrivateEM(PrivateMixtureEstimator):
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

    def fit(self, X: Any, y: object = None) -> Self:
        """Spend the budget on X and release a mixture.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Records, one person each. Values outside ``bounds`` are clipped.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        self
            The fitted estimator. If anything fails, it is left as it was before.
        """
        table = open_table(X)
        if 0 in table.shape:
            read_numbers(self, table)  # raises scikit-learn's message
        columns = Columns(table)
        plan = self._plan(columns.n_features_in_)
        engine, randomness = (
            self._engine(),
            Randomness.from_parameters(self.random_state, plan.settings.noise),
        )
        own_ledger, settings = Ledger(plan.settings.budget), plan.settings
        ledgers, sampler = [own_ledger, *self._shared_ledgers()], randomness.sampler
        # Matrices here are small: BLAS threads would only spin on the cores that the engine wants.
        with (
            GaussianMechanism.reserve(ledgers, plan.releases, sampler) as mechanism,
            threadpool_limits(limits=1, user_api="blas"),
        ):
            records = read_numbers(self, table)
            _warn_of_weak_promise(settings.budget, len(records))
            parameters = _start(plan.statistic, randomness.init)
            parameters = self._run(records, plan, engine, mechanism, parameters)
            mixture = _in_users_units(parameters, settings.domain)
        _warn_of_pure_noise(parameters)
        report = PrivacyReport(settings.budget, own_ledger.events, settings.calibration, sampler.secure)
        self._set_fitted(mixture, report, settings, columns)
        return self

    def _plan(self, n_features: int) -> Plan:
        """Validate every parameter and fix the noise of every round, before data is touched."""
        settings = Settings.of(self, n_features)
        statistic = CellMoments(settings.domain, settings.n_components, self._weight_bits)
        scales = self._noise_scales(statistic, settings)
        names = [f"round {i} of {settings.n_iter}" for i in range(1, settings.n_iter + 1)]
        return Plan(settings, statistic, statistic.plan(names, scales, settings.budget.neighboring))

    def _noise_scales(self, statistic: CellMoments, settings: Settings) -> NoiseScales:
        """Divide the budget equally among the rounds."""
        n_draws = settings.n_iter * statistic.n_values
        rho = affordable_rho(settings.budget, settings.calibration, n_draws=n_draws) / settings.n_iter
        if settings.calibration is Calibration.PAPER:
            return self._paper_scales(statistic, rho, settings.budget.neighboring)
        return statistic.calibrate(rho, settings.budget.neighboring, settings.shares)

    def _paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
        """Return the noise that the method's own paper prescribes for one round."""
        raise NotImplementedError

    def _run(
        self,
        records: FloatArray,
        plan: Plan,
        engine: Engine,
        mechanism: GaussianMechanism,
        parameters: Parameters,
    ) -> Parameters:
        """Alternate exact sums, one noisy release, and the M-step on the average of the last releases."""
        statistic, settings = plan.statistic, plan.settings
        settling = max(_ROUNDS_TO_SETTLE, settings.n_averaged)
        recent: list[NoisyMoments] = []
        for rounds_left, planned in zip(range(settings.n_iter - 1, -1, -1), plan.releases, strict=True):
            cells = GaussianCells.from_mixture(parameters.weights, parameters.means, parameters.covariances)
            exact = engine.reduce(records, statistic, cells)
            released = mechanism.release(statistic.to_units(exact), planned)
            noisy = statistic.from_units(released, planned)
            recent = [*recent, noisy] if rounds_left < settings.n_averaged else [noisy]
            averaged = NoisyMoments.average(recent)
            parameters = maximise(parameters, averaged, statistic.domain, settings.reg_covar, self._prior)
            if settings.relocate and rounds_left >= settling:
                parameters = relocate(parameters, noisy, statistic.domain)
        return parameters

    def _engine(self) -> Engine:
        if self.engine is None:
            return InMemoryEngine()
        if isinstance(self.engine, type) or not callable(getattr(self.engine, "reduce", None)):
            raise InvalidTypeError(
                f"engine must be an Engine or None, got {_validate.describe(self.engine)}."
            )
        return self.engine

    def _shared_ledgers(self) -> list[Ledger]:
        if self.ledger is None:
            return []
        if not isinstance(self.ledger, Ledger):
            raise InvalidTypeError(f"ledger must be a Ledger or None, got {_validate.describe(self.ledger)}.")
        return [self.ledger]

    @classmethod
    def _from_parameters(cls, parameters: dict[str, Any], n_features: int) -> tuple[Self, Plan]:
        """Rebuild an unfitted estimator from a file's parameters, and the plan they imply."""
        expected = set(cls().get_params(deep=False)) - {"engine", "ledger", "random_state"}
        if set(parameters) != expected:
            raise ModelFormatError(f"parameters must have exactly the fields {', '.join(sorted(expected))}.")
        shares = None if parameters["shares"] is None else MomentShares(**parameters["shares"])
        estimator = cls(**{**parameters, "shares": shares})
        return estimator, estimator._plan(n_features)

    @classmethod
    def _restore(
        cls, parameters: dict[str, Any], mixture: GaussianMixture, report: PrivacyReport
    ) -> tuple[Self, Settings]:
        """Rebuild an estimator whose parameters, mixture and ledger agree with one another."""
        estimator, plan = cls._from_parameters(parameters, mixture.n_features)
        settings = plan.settings
        if mixture.n_components != settings.n_components:
            raise ModelFormatError("the mixture does not have n_components components.")
        if report.budget != settings.budget or report.calibration is not settings.calibration:
            raise ModelFormatError("privacy.budget does not agree with the parameters.")
        if not _same_releases(plan, report):
            raise ModelFormatError("privacy.events are not those of a fit with these parameters.")
        return estimator, settings


def _same_releases(plan: Plan, report: PrivacyReport) -> bool:
    """Compare what was released with what the parameters plan, up to rounding between platforms."""
    planned = [release.event for release in plan.releases]
    return len(planned) == len(report.events) and all(
        (a.n_draws, a.neighboring) == (b.n_draws, b.neighboring)
        and math.isclose(a.rho, b.rho, rel_tol=1e-6)
        and math.isclose(a.smallest_scale, b.smallest_scale, rel_tol=1e-6)
        for a, b in zip(planned, report.events, strict=True)
    )


def _warn_of_weak_promise(budget: Budget, n_records: int) -> None:
    """Warn of a large epsilon or delta; under replace-one n is public, and delta should be below 1/n."""
    budget.warn_if_weak(stacklevel=4)
    if budget.neighboring is Neighboring.REPLACE_ONE and budget.delta > 1 / n_records:
        warnings.warn(
            f"delta={budget.delta:g} is above 1/n = {1 / n_records:g}: choose it well below.",
            PrivacyLeakWarning,
            stacklevel=3,
        )


def _warn_of_pure_noise(parameters: Parameters) -> None:
    """Say that nothing was learnt. Which components are supported is released, so this costs nothing."""
    if not parameters.supported.any():
        warnings.warn(
            "The noise supports no component: the model is its data-free start. It takes more records, a "
            "larger epsilon, fewer components, rounds or columns, or (in many columns) a radius.",
            NoisyModelWarning,
            stacklevel=3,
        )


def _start(statistic: CellMoments, rng: np.random.Generator) -> Parameters:
    """Return equal, round components spread over the domain: data-independent."""
    k, domain = statistic.n_cells, statistic.domain
    return Parameters(
        weights=np.full(k, 1 / k),
        means=project(packed_centres(k, domain.n_features, rng), domain),
        covariances=np.tile(_START_VARIANCE * np.eye(domain.n_features), (k, 1, 1)),
        supported=np.zeros(k, dtype=bool),
    )


def _in_users_units(parameters: Parameters, domain: Domain) -> GaussianMixture:
    scaled = GaussianMixture(parameters.released_weights, parameters.means, parameters.covariances)
    return scaled.affine(domain.unit, domain.centre)


def uniform_stddev(squared_sensitivity: float, rho: float) -> float:
    """Return the noise of a Gaussian mechanism with this sensitivity and cost."""
    return math.sqrt(squared_sensitivity / (2 * rho))
