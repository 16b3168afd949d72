"""The bases that find centres first and measure the records around them afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from dpmorse import _validate
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.centres.covariances import release_covariances
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import (
    LARGEST_N_ITER,
    Settings,
    parameter,
    radius_parameter,
    true_or_false,
    whole,
)
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Neighboring
from dpmorse.typing import FloatArray

SIZE, CENTRES, COVARIANCES = "number of records", "centres", "covariances"
"""Names of the stages of a base that finds centres, in the order in which they are released."""

_SHARE_OF_SIZE = 0.02
"""Share of the budget for the number of records where that is not public. It is a single
count, which needs little; rounds, depths and thresholds follow from it (docs/bases.md)."""


def _share(name: str, value: Any, _: Mapping[str, Any]) -> float:
    """Check the share of the budget for covariances, which must leave a share for finding centres."""
    share = _validate.open_unit_interval(**{name: value})
    if share > 1 - 2 * _SHARE_OF_SIZE:
        raise InvalidParameterError(f"{name} must be at most {1 - 2 * _SHARE_OF_SIZE:g}, got {share:g}.")
    return share


@dataclass(frozen=True, kw_only=True)
class CentreSettings(Settings):
    """Checked parameters of a base that finds centres."""

    n_iter: int | None = parameter(
        whole(LARGEST_N_ITER, optional=True), refused=(0, -1, 2.5, "ten", LARGEST_N_ITER + 1, True)
    )
    radius: float | None = radius_parameter()
    capped: bool = parameter(true_or_false, refused=(1, "yes", None))
    covariance_share: float = parameter(_share, refused=(0, 1, 0.99, "half", None))


CentrePlan = Plan[CentreSettings]


@dataclass(eq=False, repr=False)
class CentreBase(PrivateFit):
    """Finds centres, then measures the mean and the covariance of the records around each.

    Subclasses say how centres are found (``find_centres``) and how many noise values that may take
    (``most_draws``).

    Parameters
    ----------
    n_components : int, default=10
        Number of centres and of Gaussian components around them, at least 1.
    radius : float or None, default=None
        Shrinks records to a ball of this radius around the centre of the box, in units of the box's
        half-width. In many columns this lowers the noise a great deal at the price of clipping.
    capped : bool, default=False
        Add up offsets from the last centres, shrunk to the distance to the next centre, instead of records:
        less noise, but far records pull less.
    covariance_share : float, default=0.6
        Part of the budget for the last step, which measures how many records are around each centre, their
        mean and their covariance.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_components, n_features)
        The means of the components.
    """

    settings_type: ClassVar[type[Settings]] = CentreSettings

    n_components: int = 10
    _: KW_ONLY
    n_iter: int | None = None
    radius: float | None = None
    capped: bool = False
    covariance_share: float = 0.6

    @property
    def cluster_centers_(self) -> FloatArray:
        """The released centres, in the units of X: the means of the components."""
        centres: FloatArray = self.mixture_.means
        return centres

    def most_draws(self, settings: Any) -> int:
        """Return the most noise values that finding centres may draw."""
        raise NotImplementedError

    def find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Spend the stage ``CENTRES`` on finding centres; return them in scaled units."""
        raise NotImplementedError

    def stages(self, settings: CentreSettings) -> Sequence[Stage]:
        """Return the stages: the number of records, centres, and the moments around the centres."""
        size = 0.0 if settings.budget.neighboring is Neighboring.REPLACE_ONE else _SHARE_OF_SIZE
        d, share = settings.n_features, settings.covariance_share
        n_values = settings.n_components * (1 + d + d * (d + 1) // 2)
        return [
            Stage(SIZE, size, 1),
            Stage(CENTRES, 1 - size - share, self.most_draws(settings)),
            Stage(COVARIANCES, share, n_values),
        ]

    def release(self, queries: Queries, plan: CentrePlan, rng: np.random.Generator) -> FitResult:
        """Release the number of records, the centres, and the moments of the records around each centre."""
        size = plan[SIZE] if SIZE in plan else Stage(SIZE, 0.0, 0)  # public under replace-one, and free
        n_records = queries.total(size.step(), size.cost)
        centres = self.find_centres(queries, plan, n_records, rng)
        estimates = release_covariances(queries, plan.domain, centres, plan[COVARIANCES])
        return FitResult(estimates.mixture(plan.domain), plan.domain, bool(estimates.supported.any()))
