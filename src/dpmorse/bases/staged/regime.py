"""Regimes: ways to find components. Each has its stages and its releases."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import components, coreset, joint_histogram, outskirts
from dpmorse.bases.staged.profile import MOST_BINS
from dpmorse.bases.staged.shares import (
    COMPONENTS,
    CORESET,
    DIRECTIONS,
    HISTOGRAM,
    LEVELS,
    MOMENTS,
    OUTSKIRTS,
    PROFILE,
    RANGES,
    Shares,
)
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.privacy import PrivacyReport, ReleaseEvent
from dpmorse.schema import Layout
from dpmorse.statistics import ColumnHistograms

StagedPlan = Plan[StagedSettings]


class Regime(ABC):
    """A way to find components, for some kind of table."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages that have a share of the budget, and how many noise values each may draw."""
        split, layout, k = self._shares(settings), settings.schema.layout, settings.n_components
        d, n_counted = layout.n_numbers, layout.n_holes + layout.n_all_levels
        if split.histogram:
            n_coarse = joint_histogram.largest_n_cells(layout, outskirts.HALVINGS[1])
            n_fine = joint_histogram.largest_n_cells(layout, joint_histogram.HALVINGS[1], k)
            to_find = [
                Stage(OUTSKIRTS, split.outskirts, n_coarse),
                Stage(HISTOGRAM, split.histogram, n_fine, of_cells=True),
            ]
        else:
            in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + self._width_of_start(layout))
            in_components = components.N_ROUNDS[1] * k * (_n_moments(d) + n_counted)
            to_find = [
                Stage(DIRECTIONS, split.directions, _n_moments(d + layout.n_all_levels)),
                Stage(CORESET, split.coreset, in_coreset),
                Stage(COMPONENTS, split.components, in_components),
            ]
        n_entries = d * MOST_BINS + n_counted + len(settings.schema.with_gaps)
        stages = [
            Stage(LEVELS, split.levels, 1 + n_counted),
            Stage(RANGES, split.ranges, ColumnHistograms.n_bins * d),
            Stage(MOMENTS, split.moments, 1 + 2 * d),
            *to_find,
            Stage(PROFILE, split.profile, k * (1 + n_entries)),
        ]
        return [stage for stage in stages if stage.cost]

    @abstractmethod
    def _shares(self, settings: StagedSettings) -> Shares:
        """Return what each stage gets of the budget."""

    def _width_of_start(self, layout: Layout) -> int:
        """Return the width of the records in which the coreset is found: at most that of encoded ones."""
        return layout.width

    @abstractmethod
    def release(self, queries: Queries, plan: StagedPlan, rng: np.random.Generator) -> FitResult:
        """Make all releases."""

    @abstractmethod
    def check_restored(self, plan: StagedPlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse parts of a model file that this regime does not release."""


def _n_moments(n_columns: int) -> int:
    """Return the number of counts, sums and products of one cell."""
    return 1 + n_columns + n_columns * (n_columns + 1) // 2


def n_fitted(settings: StagedSettings, measurable: int) -> int:
    """Return the number of components that are fitted where this number can be measured."""
    return min(settings.n_components, max(measurable, settings.min_components))


def profile_events(report: PrivacyReport) -> list[ReleaseEvent]:
    """Return the releases of the profile."""
    return [event for event in report.events if event.step.stage == PROFILE]
