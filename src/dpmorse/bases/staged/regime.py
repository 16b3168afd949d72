"""Regimes: ways to find components. Each has its stages, its releases, and hurdles for small clusters."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.privacy import PrivacyReport, ReleaseEvent

LEVELS, RANGES, MOMENTS, OUTSKIRTS, HISTOGRAM, DIRECTIONS, CORESET, COMPONENTS, PROFILE = (
    "levels and holes",
    "ranges of the columns",
    "moments of the columns",
    "outskirts",
    "joint histogram",
    "directions",
    "coreset",
    "components",
    "profile",
)
"""Names of the stages, in the order in which they are released."""

Noises = Mapping[str, Sequence[float]]
"""The noise of a count in each release of each stage, by the names of the stages."""


class Regime(ABC):
    """A way to find components, for some kind of table."""

    @abstractmethod
    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages, whose costs are shares of the budget."""

    @abstractmethod
    def release(self, queries: Queries, plan: Plan[StagedSettings], rng: np.random.Generator) -> FitResult:
        """Make all releases."""

    @abstractmethod
    def hurdles(
        self, plan: Plan[StagedSettings], events: Sequence[ReleaseEvent], noises: Noises, n_records: int
    ) -> list[Hurdle]:
        """Return what a small cluster has to pass in the stages that find components."""

    @abstractmethod
    def check_restored(self, plan: Plan[StagedSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse parts of a model file that this regime does not release."""


def moments_of(n_columns: int) -> int:
    """Return the number of counts, sums and products of one cell."""
    return 1 + n_columns + n_columns * (n_columns + 1) // 2


def n_fitted(settings: StagedSettings, measurable: int) -> int:
    """Return the number of components that are fitted where this number can be measured."""
    return min(settings.n_components, max(measurable, settings.min_components))


def profile_events(report: PrivacyReport) -> list[ReleaseEvent]:
    """Return the releases of the profile."""
    return [event for event in report.events if event.step.stage == PROFILE]
