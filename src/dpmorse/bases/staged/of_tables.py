"""Components of tables with categories and missing values: a Gaussian of the numbers times each category."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import product_profile, shares
from dpmorse.bases.staged.associations import MOST_DIRECTIONS, release_table_directions
from dpmorse.bases.staged.components import measurable_n_components, release_components
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.levels import TableUnits, release_table_units
from dpmorse.bases.staged.products import Products, RoundsOfProducts, start_from
from dpmorse.bases.staged.regime import (
    COMPONENTS,
    CORESET,
    DIRECTIONS,
    PROFILE,
    Regime,
    moments_of,
    n_fitted,
    profile_events,
    stages_of,
    stages_of_rounds,
)
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.densities import ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport

TablePlan = Plan[StagedSettings]


class OfTables(Regime):
    """Levels and units first, a profile last; how components are found in between is said by subclasses."""

    def release(self, queries: Queries, plan: TablePlan, rng: np.random.Generator) -> FitResult:
        """Release the units, then estimate the mixture in them, then what its records look like."""
        settings, columns = plan.settings, plan.settings.schema
        units = release_table_units(queries, columns.layout, plan)
        table, found = self._find(queries, units, plan, rng)
        kept = found.kept(at_least=settings.least_components)
        result = FitResult(kept.mixture(table), table.domain, bool(found.gaussians.supported.any()))
        if PROFILE not in plan:
            return result
        piled = table.piled & columns.may_be_cut[:, None]
        measured = product_profile.release_table_profile(
            queries, kept, table, plan[PROFILE], rng, piled=piled
        )
        return replace(result, profile=measured)

    @abstractmethod
    def _find(
        self, queries: Queries, table: TableUnits, plan: TablePlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        """Find components; their units have a larger box where clusters lie far outside of the first."""

    def check_restored(self, plan: TablePlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse a mixture of other columns, and a profile of another fit."""
        layout, measured = plan.settings.schema.layout, result.profile
        if not isinstance(result.mixture, ProductMixture) or result.mixture.layout != layout:
            raise ModelFormatError("the mixture is not one of the columns.")
        if measured is None:
            return
        if np.any(np.array([layout.lower, layout.upper]) != (measured.lower, measured.upper)):
            raise ModelFormatError("the profile is not one inside the bounds.")
        if not product_profile.has_noise_of(measured, profile_events(report)):
            raise ModelFormatError("the profile does not state the noise of its releases.")


class OfProducts(OfTables):
    """Levels and units, directions in which columns go together, a start along them, then rounds."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages for the columns of a table."""
        layout, k = settings.schema.layout, settings.n_components
        d, n_counted = layout.n_numbers, layout.n_holes + layout.n_all_levels
        split = shares.PRODUCTS if d else shares.LEVELS_ONLY
        split = split.with_profile() if settings.profile else split
        others = [
            Stage(DIRECTIONS, split.directions, moments_of(d + layout.n_all_levels)),
            *stages_of_rounds(split, k, d, n_counted, width=MOST_DIRECTIONS),
            Stage(PROFILE, split.profile, product_profile.n_draws(k, layout)),
        ]
        return stages_of(split, d, n_counted, others)

    def _find(
        self, queries: Queries, table: TableUnits, plan: TablePlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        directions = release_table_directions(queries, table, plan[DIRECTIONS])
        rounds = RoundsOfProducts(table)
        k = n_fitted(plan.settings, measurable_n_components(queries, rounds, plan[COMPONENTS]))
        balls = release_coreset(queries, directions.units, k, plan[CORESET], rng)
        start = spread_centres(balls, directions.units, k, rng)
        products = start_from(directions.decode(start.means), table)
        return table, release_components(queries, rounds, products, plan[COMPONENTS])
