"""Private expectation-maximisation: the fit shared by DPMoG-hard and DPMoG."""

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from threadpoolctl import threadpool_limits

from dpmorse import _validate
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine, InMemoryEngine
from dpmorse.estimators._base import PrivateMixtureEstimator
from dpmorse.estimators._maximisation import Parameters, Prior, maximise, project, relocate
from dpmorse.estimators._randomness import Randomness
from dpmorse.estimators._records import check_records, open_table
from dpmorse.estimators._starts import packed_centres
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, ModelFormatError, PrivacyLeakWarning
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
from dpmorse.statistics.cells import LARGEST_N_CELLS
from dpmorse.statistics.moments import NoiseScales
from dpmorse.typing import FloatArray

_START_VARIANCE = 0.1
_ROUNDS_TO_SETTLE = 2  # after a component was relocated
_LARGEST_MODEL = 1 << 25  # components times squared columns
_LARGEST_N_ITER = 10_000


@dataclass(frozen=True)
class Plan:
    """All that is decided before data is touched."""

    budget: Budget
    calibration: Calibration
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
            The fitted estimator.
        """
        table = open_table(X)
        plan = self._plan(table)
        own_ledger = Ledger(plan.budget)
        randomness = Randomness.from_parameters(self.random_state, self.noise)
        mechanism = GaussianMechanism([own_ledger, *self._shared_ledgers()], randomness.sampler)
        mechanism.admit(plan.releases)
        records = check_records(self, table, reset=True)
        self._warn_of_large_delta(plan.budget, len(records))
        # Matrices here are small: BLAS threads only spin on the cores that the engine wants.
        with threadpool_limits(limits=1, user_api="blas"):
            parameters = self._run(records, plan, mechanism, randomness.init)
            self.mixture_ = _in_users_units(parameters, plan.statistic.domain)
        self.privacy_ = PrivacyReport(plan.budget, own_ledger.events, plan.calibration, mechanism.secure)
        return self

    def _plan(self, table: Any) -> Plan:
        """Validate every parameter and fix the noise of every round, before data is touched."""
        n_components = _validate.positive_int(n_components=self.n_components, at_most=LARGEST_N_CELLS)
        n_iter = _validate.positive_int(n_iter=self.n_iter, at_most=_LARGEST_N_ITER)
        _validate.positive_real(reg_covar=self.reg_covar)
        _validate.boolean(relocate=self.relocate)
        if self.shares is not None and not isinstance(self.shares, MomentShares):
            raise InvalidTypeError(
                f"shares must be a MomentShares or None, got {_validate.describe(self.shares)}."
            )
        budget = Budget(self.epsilon, self.delta, Neighboring.parse(self.neighboring))  # type: ignore[arg-type]
        calibration = Calibration(_validate.choice(calibration=self.calibration, among=Calibration))
        if len(table.shape) != 2 or 0 in table.shape:
            check_records(self, table, reset=True)  # raises scikit-learn's message for such shapes
        domain = Domain.from_bounds(self.bounds, table.shape[1], self.radius)
        _check_size(n_components, domain.n_features)
        statistic = CellMoments(domain, n_components, self._weight_bits)
        scales = self._noise_scales(statistic, budget, calibration, n_iter)
        releases = tuple(
            statistic.plan(f"round {i} of {n_iter}", scales, budget.neighboring) for i in range(1, n_iter + 1)
        )
        return Plan(budget, calibration, statistic, releases)

    def _noise_scales(
        self, statistic: CellMoments, budget: Budget, calibration: Calibration, n_iter: int
    ) -> NoiseScales:
        """Divide the budget equally among the rounds."""
        rho = affordable_rho(budget, calibration, n_draws=n_iter * statistic.n_values) / n_iter
        if calibration is not Calibration.PAPER:
            return statistic.calibrate(rho, budget.neighboring, self.shares)
        if self.shares is not None:
            raise InvalidParameterError("shares cannot be set with calibration='paper', which fixes them.")
        return self._paper_scales(statistic, rho, budget.neighboring)

    def _paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
        """Return the noise that the method's own paper prescribes for one round."""
        raise NotImplementedError

    def _run(
        self, records: FloatArray, plan: Plan, mechanism: GaussianMechanism, rng: np.random.Generator
    ) -> Parameters:
        """Alternate exact sums, one noisy release, and the M-step."""
        engine = InMemoryEngine() if self.engine is None else self.engine
        statistic = plan.statistic
        parameters = _start(statistic, rng)
        for rounds_left, planned in zip(range(len(plan.releases) - 1, -1, -1), plan.releases, strict=True):
            cells = GaussianCells.from_mixture(parameters.weights, parameters.means, parameters.covariances)
            exact = engine.reduce(records, statistic, cells)
            released = mechanism.release(statistic.to_units(exact), planned)
            noisy = statistic.from_units(released, planned)
            parameters = maximise(parameters, noisy, statistic.domain, self.reg_covar, self._prior)
            if self.relocate and rounds_left >= _ROUNDS_TO_SETTLE:
                parameters = relocate(parameters, noisy, statistic.domain)
        return parameters

    def _shared_ledgers(self) -> list[Ledger]:
        if self.ledger is None:
            return []
        if not isinstance(self.ledger, Ledger):
            raise InvalidTypeError(f"ledger must be a Ledger or None, got {_validate.describe(self.ledger)}.")
        return [self.ledger]

    def _warn_of_large_delta(self, budget: Budget, n_records: int) -> None:
        """Under replace-one the number of records is public, and delta should be below its inverse."""
        if budget.neighboring is Neighboring.REPLACE_ONE and budget.delta > 1 / n_records:
            warnings.warn(
                f"delta={budget.delta:g} is above 1/n = {1 / n_records:g}: choose it well below.",
                PrivacyLeakWarning,
                stacklevel=3,
            )

    def _public_parameters(self) -> dict[str, Any]:
        public = self.get_params(deep=False)
        for private in ("engine", "ledger", "random_state"):
            del public[private]
        lower, upper = self.bounds
        public["bounds"] = [np.asarray(lower).tolist(), np.asarray(upper).tolist()]
        public["shares"] = None if self.shares is None else asdict(self.shares)
        return {name: _plain(value) for name, value in public.items()}

    @classmethod
    def _from_parameters(cls, parameters: object) -> Self:
        expected = set(cls().get_params(deep=False)) - {"engine", "ledger", "random_state"}
        if not isinstance(parameters, dict) or set(parameters) != expected:
            raise ModelFormatError(f"parameters must have exactly the fields {', '.join(sorted(expected))}.")
        try:
            shares = None if parameters["shares"] is None else MomentShares(**parameters["shares"])
        except (TypeError, ValueError):
            raise ModelFormatError("parameters.shares is not valid.") from None
        return cls(**{**parameters, "shares": shares})


def _check_size(n_components: int, n_features: int) -> None:
    if n_components * n_features**2 > _LARGEST_MODEL:
        raise InvalidParameterError(
            f"n_components={n_components} with {n_features} columns needs {n_components * n_features**2} "
            f"covariance entries; at most {_LARGEST_MODEL} are supported. Lower n_components."
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


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into Python's, so that JSON can hold them."""
    return value.item() if isinstance(value, np.generic) else value


def uniform_stddev(squared_sensitivity: float, rho: float) -> float:
    """Return the noise of a Gaussian mechanism with this sensitivity and cost."""
    return math.sqrt(squared_sensitivity / (2 * rho))
