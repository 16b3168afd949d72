"""Components of stated columns that are all numbers, none of which may be missing: as those of bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import profile
from dpmorse.bases.staged.of_tables import TablePlan, check_table, may_be_cut, stated_columns
from dpmorse.bases.staged.regime import Noises, Regime, profile_events
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport, ReleaseEvent
from dpmorse.profiles import LevelProfile, Profile, TableProfile
from dpmorse.schema import Layout


@dataclass(frozen=True)
class OfStatedNumbers(Regime):
    """The releases of a regime for bounds, in the form in which those of tables are."""

    numbers: Regime

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return those of the same columns with bounds."""
        return self.numbers.stages(settings)

    def hurdles(
        self, plan: TablePlan, events: Sequence[ReleaseEvent], noises: Noises, n_records: int
    ) -> list[Hurdle]:
        """Return those of the same columns with bounds."""
        return self.numbers.hurdles(plan, events, noises, n_records)

    def release(self, queries: Queries, plan: TablePlan, rng: np.random.Generator) -> FitResult:
        """Make the releases of the same columns with bounds; the partition is the mixture of the table."""
        columns, found = stated_columns(plan.settings), self.numbers.release(queries, plan, rng)
        mixture, measured = found.partition or found.mixture, found.profile
        result = FitResult(_without_levels(mixture, columns.layout), found.domain, found.supported)
        if not isinstance(measured, Profile):
            return result
        numbers = replace(measured, piled=measured.piled * may_be_cut(columns))
        return replace(result, profile=TableProfile(_no_levels(numbers, columns.layout), numbers))

    def check_restored(self, plan: TablePlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse a domain that is no ball, a mixture of other columns, and a profile of another fit."""
        check_table(plan, result)
        if result.domain.radius is None:
            raise ModelFormatError("the domain must have a radius.")
        if not isinstance(result.profile, TableProfile):
            return
        numbers, levels = result.profile.numbers, result.profile.levels
        stated = numbers is not None and (
            levels.count_stddev == numbers.count_stddev and np.array_equal(levels.counts, numbers.counts)
        )
        if numbers is None or not (stated and profile.has_noise_of(numbers, profile_events(report))):
            raise ModelFormatError("the profile does not state the noise of its releases.")


def _without_levels(mixture: GaussianMixture, layout: Layout) -> ProductMixture:
    no_levels = np.zeros((mixture.n_components, 0))
    return ProductMixture(mixture.weights, mixture.means, mixture.covariances, no_levels, layout)


def _no_levels(numbers: Profile, layout: Layout) -> LevelProfile:
    none = np.zeros((len(numbers.counts), 0))
    return LevelProfile(numbers.counts, none, none, numbers.count_stddev, numbers.count_stddev, layout)
