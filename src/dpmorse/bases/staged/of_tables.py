"""Components of tables with categories and missing values: a Gaussian of the numbers times each category."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import components, coreset, hurdles, product_profile, shares
from dpmorse.bases.staged.associations import MOST_DIRECTIONS, release_table_directions
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.levels import TableUnits, release_table_units
from dpmorse.bases.staged.products import measurable_n_components, release_products, start_from
from dpmorse.bases.staged.regime import (
    COMPONENTS,
    CORESET,
    DIRECTIONS,
    LEVELS,
    MOMENTS,
    PROFILE,
    RANGES,
    Noises,
    Regime,
    moments_of,
    n_fitted,
    profile_events,
)
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.densities import ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport, ReleaseEvent
from dpmorse.profiles import TableProfile
from dpmorse.schema import Ordinal, Schema
from dpmorse.statistics import N_BINS
from dpmorse.typing import BoolArray


class OfProducts(Regime):
    """Levels and units, directions in which columns go together, a start along them, then rounds."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages for the columns of a table."""
        layout, k = _columns(settings).layout, settings.n_components
        d, n_counted = layout.n_numbers, layout.n_holes + layout.n_all_levels
        split = shares.PRODUCTS if d else shares.LEVELS_ONLY
        split = split.with_profile() if settings.profile else split
        in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + MOST_DIRECTIONS)
        in_components = components.N_ROUNDS[1] * k * (moments_of(d) + n_counted)
        reach = components.radius_of_residuals(d)
        stages = [
            Stage(LEVELS, split.levels, 1 + n_counted),
            Stage(RANGES, split.ranges, N_BINS * d),
            Stage(MOMENTS, split.moments, 1 + 2 * d),
            Stage(DIRECTIONS, split.directions, moments_of(d + layout.n_all_levels)),
            Stage(CORESET, split.coreset, in_coreset),
            Stage(COMPONENTS, split.components, in_components, SumsOf.RESIDUALS, reach),
            Stage(PROFILE, split.profile, product_profile.n_draws(k, layout)),
        ]
        return [stage for stage in stages if stage.cost]

    def hurdles(
        self,
        plan: Plan[StagedSettings],
        events: Sequence[ReleaseEvent],
        noises: Noises,
        n_records: int,
    ) -> list[Hurdle]:
        """Return those of coreset and components."""
        return hurdles.of_rounds(noises, (CORESET, COMPONENTS), n_records, plan.settings.n_components)

    def release(self, queries: Queries, plan: Plan[StagedSettings], rng: np.random.Generator) -> FitResult:
        """Release units, directions and a start along them, then the components."""
        settings, columns = plan.settings, _columns(plan.settings)
        table = release_table_units(queries, columns.layout, plan)
        directions = release_table_directions(queries, table, plan[DIRECTIONS])
        k = n_fitted(settings, measurable_n_components(queries, table, plan[COMPONENTS]))
        balls = release_coreset(queries, directions.units, k, plan[CORESET], rng)
        start = spread_centres(balls, directions.units, k, rng)
        products = start_from(directions.decode(start.means), table)
        found = release_products(queries, table, products, plan[COMPONENTS])
        kept = found.kept(at_least=settings.least_components)
        result = FitResult(kept.mixture(table), table.domain, bool(found.gaussians.supported.any()))
        if PROFILE not in plan:
            return result
        piled = _cut_by_bounds(table, columns)
        measured = product_profile.release_table_profile(
            queries, kept, table, plan[PROFILE], rng, piled=piled
        )
        return replace(result, profile=measured)

    def check_restored(self, plan: Plan[StagedSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse a mixture of other columns, and a profile of another fit."""
        layout = _columns(plan.settings).layout
        if not isinstance(result.mixture, ProductMixture) or result.mixture.layout != layout:
            raise ModelFormatError("the mixture is not one of the columns.")
        measured = result.profile
        if measured is None:
            return
        if not isinstance(measured, TableProfile) or measured.levels.layout != layout:
            raise ModelFormatError("the profile is not one of the columns.")
        numbers, bounds = measured.numbers, np.array([layout.lower, layout.upper])
        if numbers is not None and np.any(bounds != (numbers.lower, numbers.upper)):
            raise ModelFormatError("the profile is not one inside the bounds.")
        if not product_profile.has_noise_of(measured, profile_events(report)):
            raise ModelFormatError("the profile does not state the noise of its releases.")


def _columns(settings: StagedSettings) -> Schema:
    columns = settings.columns
    if columns is None:
        raise ValueError("tables must have stated columns.")
    return columns


def _cut_by_bounds(table: TableUnits, columns: Schema) -> BoolArray:
    """Say which numbers pile up at bounds that may cut them: ranks have no values beyond theirs."""
    has_more = np.array([not isinstance(column, Ordinal) for _, column in columns.numbers], dtype=np.bool_)
    return np.asarray(table.piled & has_more[:, None])
