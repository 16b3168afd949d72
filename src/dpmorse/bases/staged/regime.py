"""Regimes: ways to find components. Each has its stages and its releases."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import components, coreset
from dpmorse.bases.staged.shares import Shares
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.privacy import PrivacyReport, ReleaseEvent
from dpmorse.statistics import N_BINS

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


class Regime(ABC):
    """A way to find components, for some kind of table."""

    @abstractmethod
    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages, whose costs are shares of the budget."""

    @abstractmethod
    def release(self, queries: Queries, plan: Plan[StagedSettings], rng: np.random.Generator) -> FitResult:
        """Make all releases."""

    @abstractmethod
    def check_restored(self, plan: Plan[StagedSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse parts of a model file that this regime does not release."""


def moments_of(n_columns: int) -> int:
    """Return the number of counts, sums and products of one cell."""
    return 1 + n_columns + n_columns * (n_columns + 1) // 2


def stages_of(split: Shares, d: int, n_counted: int, others: Sequence[Stage]) -> list[Stage]:
    """Return the stages that have a share: units of d numbers, and the others.

    ``n_counted`` is the number of levels, and of numbers that may be missing.
    """
    stages = [
        Stage(LEVELS, split.levels, 1 + n_counted),
        Stage(RANGES, split.ranges, N_BINS * d),
        Stage(MOMENTS, split.moments, 1 + 2 * d),
        *others,
    ]
    return [stage for stage in stages if stage.cost]


def stages_of_rounds(split: Shares, k: int, d: int, n_counted: int, width: int) -> list[Stage]:
    """Return coreset and components; the coreset is found in encoded records of this width."""
    in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + width)
    in_components = components.N_ROUNDS[1] * k * (moments_of(d) + n_counted)
    radius = components.radius_of_residuals(d)
    return [
        Stage(CORESET, split.coreset, in_coreset),
        Stage(COMPONENTS, split.components, in_components, SumsOf.RESIDUALS, radius),
    ]


def n_fitted(settings: StagedSettings, measurable: int) -> int:
    """Return the number of components that are fitted where this number can be measured."""
    return min(settings.n_components, max(measurable, settings.min_components))


def profile_events(report: PrivacyReport) -> list[ReleaseEvent]:
    """Return the releases of the profile."""
    return [event for event in report.events if event.step.stage == PROFILE]
