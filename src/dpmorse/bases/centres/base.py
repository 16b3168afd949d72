"""The bases that find centres first and measure the records around them afterwards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.bases.base import FitResult, PrivateFit
from dpmorse.bases.centres.covariances import release_covariances
from dpmorse.bases.plan import Stage, Stages
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import LARGEST_N_ITER, Settings, common_values
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine
from dpmorse.exceptions import InvalidParameterError, ModelFormatError
from dpmorse.persistence.documents import domain_to_dict
from dpmorse.privacy import DEFAULT_DELTA, Ledger, Neighboring, PrivacyReport
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray

_SHARE_OF_SIZE = 0.02  # of the budget, for the number of records where that is not public


@dataclass(frozen=True, kw_only=True)
class CentreSettings(Settings):
    """Checked parameters of a base that finds centres."""

    n_iter: int | None
    capped: bool
    covariance_share: float

    @classmethod
    def of(cls, estimator: Any, n_features: int) -> "CentreSettings":
        """Read and check an estimator's parameters, for a table with ``n_features`` columns."""
        n_iter = estimator.n_iter
        common = common_values(
            estimator, n_features, n_components=estimator.n_components, radius=estimator.radius
        )
        return cls(
            **common,
            n_iter=None if n_iter is None else _validate.positive_int(n_iter=n_iter, at_most=LARGEST_N_ITER),
            capped=_validate.boolean(capped=estimator.capped),
            covariance_share=_check_share(estimator.covariance_share),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        return {
            **self.common_to_dict(),
            "n_iter": self.n_iter,
            "radius": self.domain.radius,
            "capped": self.capped,
            "covariance_share": self.covariance_share,
        }


CentrePlan = Stages[CentreSettings]


class CentreBase(PrivateFit):
    """Finds centres, then measures the mean and the covariance of the records around each.

    Subclasses say how centres are found (``_find_centres``) and how many noise values that may take
    (``_largest_n_draws``).
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        epsilon: float | None = None,
        delta: float = DEFAULT_DELTA,
        bounds: Any = None,
        neighboring: str = "add-remove",
        max_rows_per_group: int | None = None,
        n_iter: int | None = None,
        radius: float | None = None,
        capped: bool = False,
        covariance_share: float = 0.6,
        calibration: str = "gaussian",
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
        self.radius = radius
        self.capped = capped
        self.covariance_share = covariance_share
        self.calibration = calibration
        self.noise = noise
        self.engine = engine
        self.ledger = ledger
        self.random_state = random_state

    @property
    def cluster_centers_(self) -> FloatArray:
        """The released centres, in the units of X: the means of the components."""
        return self.mixture_.means

    def _largest_n_draws(self, settings: CentreSettings) -> int:
        """Return the most noise values that finding centres may draw."""
        raise NotImplementedError

    def _find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Spend the cost of the stage "centres" on them; return them in scaled units."""
        raise NotImplementedError

    def _plan(self, n_features: int) -> CentrePlan:
        settings = CentreSettings.of(self, n_features)
        size = 0.0 if settings.budget.neighboring is Neighboring.REPLACE_ONE else _SHARE_OF_SIZE
        n_values = settings.n_components * (1 + n_features + n_features * (n_features + 1) // 2)
        return Stages.of(
            settings,
            {
                "number of records": Stage(size, 1),
                "centres": Stage(1 - size - settings.covariance_share, self._largest_n_draws(settings)),
                "covariances": Stage(settings.covariance_share, n_values),
            },
        )

    def _release(self, queries: Queries, plan: CentrePlan, rng: np.random.Generator) -> FitResult:
        domain = plan.settings.domain
        n_records = queries.total("number of records", plan.cost_of("number of records"))
        centres = self._find_centres(queries, plan, n_records, rng)
        components = release_covariances(queries, domain, centres, plan.cost_of("covariances"))
        return FitResult(components.mixture(domain), domain, bool(components.supported.any()))

    def _check_restored(
        self, plan: CentrePlan, mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> None:
        if mixture.n_components != plan.settings.n_components:
            raise ModelFormatError("the mixture does not have n_components components.")
        if domain_to_dict(domain) != domain_to_dict(plan.settings.domain):
            raise ModelFormatError("the domain is not that of the bounds and the radius.")
        if not plan.cover(report):
            raise ModelFormatError("privacy.events are not those of a fit with these parameters.")


def _check_share(share: object) -> float:
    """Return the part of the budget for covariances: something must be left to find centres with."""
    value = _validate.open_unit_interval(covariance_share=share)
    if value > 1 - 2 * _SHARE_OF_SIZE:
        raise InvalidParameterError(
            f"covariance_share must be at most {1 - 2 * _SHARE_OF_SIZE:g}, got {value:g}."
        )
    return value
