"""Components of encoded records: tables with categories, and columns of numbers that may be missing.

What is found is a mixture of products, which labels records by what they have: a Gaussian of the numbers
times each category, of which there may be none.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import shares
from dpmorse.bases.staged.associations import MOST_DIRECTIONS, release_table_directions
from dpmorse.bases.staged.components import measurable_n_components, release_components, start_at
from dpmorse.bases.staged.coreset import release_start
from dpmorse.bases.staged.histogram_with_missing import count_with_missing
from dpmorse.bases.staged.joint_histogram import Grid, Line
from dpmorse.bases.staged.levels import TableUnits, release_table_units
from dpmorse.bases.staged.outskirts import release_histograms
from dpmorse.bases.staged.products import Products, RoundsOfProducts, cells_of, start_from
from dpmorse.bases.staged.profile import Known, Labelling, has_noise_of, release_profile
from dpmorse.bases.staged.regime import Regime, StagedPlan, n_fitted, profile_events
from dpmorse.bases.staged.shares import COMPONENTS, CORESET, DIRECTIONS, PROFILE, Shares
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.bases.staged.units import Gaps, Units
from dpmorse.densities import ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport
from dpmorse.schema import Layout
from dpmorse.statistics import FINE_GRID_BITS


class OfTables(Regime):
    """Levels and units first, a profile last; how components are found in between is said by subclasses."""

    def release(self, queries: Queries, plan: StagedPlan, rng: np.random.Generator) -> FitResult:
        """Release the units, then estimate the mixture in them, then what its records look like."""
        schema = plan.settings.schema
        units = release_table_units(queries, schema.layout, plan)
        table, found = self._find(queries, units, plan, rng)
        kept = found.kept(at_least=plan.settings.min_components)
        mixture = kept.mixture(table)
        result = FitResult(mixture, table.domain, bool(found.gaussians.supported.any()))
        if PROFILE not in plan:
            return result
        fine = replace(table.domain, grid_bits=FINE_GRID_BITS)
        labelling = Labelling(cells_of(kept, table, FINE_GRID_BITS), fine)
        missing = 1 - np.concatenate([table.observed, table.present])
        known = Known(table.n_records, table.outside, missing)
        profile = release_profile(
            queries, mixture, labelling, plan[PROFILE], rng, ball=table.domain, schema=schema, known=known
        )
        return replace(result, profile=profile)

    @abstractmethod
    def _find(
        self, queries: Queries, table: TableUnits, plan: StagedPlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        """Find components; their units have a larger box where clusters lie far outside of the first."""

    def check_restored(self, plan: StagedPlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse a mixture of other columns, and a profile of another fit."""
        layout, measured = plan.settings.schema.layout, result.profile
        if not isinstance(result.mixture, ProductMixture) or result.mixture.layout != layout:
            raise ModelFormatError("the mixture is not one of the columns.")
        if measured is None:
            return
        if np.any(np.array([layout.lower, layout.upper]) != (measured.lower, measured.upper)):
            raise ModelFormatError("the profile is not one inside the bounds.")
        if not has_noise_of(measured, profile_events(report)):
            raise ModelFormatError("the profile does not state the noise of its releases.")


class InPlaneWithMissing(OfTables):
    """One or two columns: each record is counted once, in the plane or along the number that it has."""

    def _shares(self, settings: StagedSettings) -> Shares:
        return shares.PLANE_WITH_MISSING if settings.profile else shares.PLANE_WITH_MISSING_WITHOUT_PROFILE

    def _find(
        self, queries: Queries, table: TableUnits, plan: StagedPlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        def count(units: Units, stage: Stage, bits: int) -> tuple[Grid, Sequence[Line]]:
            return count_with_missing(queries, units, table.layout, stage, bits)

        units, found = release_histograms(queries, table.numbers, plan, rng, count)
        return replace(table, numbers=units), Products.of_numbers(found)


class InRoundsWithMissing(OfTables):
    """Three columns or more: a start from a coreset, then rounds, in which what is missing adds nothing."""

    def _shares(self, settings: StagedSettings) -> Shares:
        return shares.ROUNDS_WITH_MISSING if settings.profile else shares.ROUNDS_WITH_MISSING_WITHOUT_PROFILE

    def _find(
        self, queries: Queries, table: TableUnits, plan: StagedPlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        units = replace(table.numbers, gaps=Gaps(table.layout, table.observed))
        measurable = measurable_n_components(queries, RoundsOfProducts(table), plan[COMPONENTS])
        k = n_fitted(plan.settings, measurable)
        start = release_start(queries, units, k, plan[CORESET], rng, most=plan.settings.n_components)
        wide = replace(table, numbers=start.units)
        first = Products.of_numbers(start_at(start.means, start.variance))
        return wide, release_components(queries, RoundsOfProducts(wide), first, plan[COMPONENTS])


class OfProducts(OfTables):
    """Levels and units, directions in which columns go together, a start along them, then rounds."""

    def _shares(self, settings: StagedSettings) -> Shares:
        split = shares.PRODUCTS if settings.schema.layout.n_numbers else shares.LEVELS_ONLY
        return split.with_profile() if settings.profile else split

    def _width_of_start(self, layout: Layout) -> int:
        return MOST_DIRECTIONS

    def _find(
        self, queries: Queries, table: TableUnits, plan: StagedPlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        directions, rounds = (
            release_table_directions(queries, table, plan[DIRECTIONS]),
            RoundsOfProducts(table),
        )
        k = n_fitted(plan.settings, measurable_n_components(queries, rounds, plan[COMPONENTS]))
        start = release_start(queries, directions.units, k, plan[CORESET], rng, most=k)
        first = start_from(directions.decode(start.means), table)
        return table, release_components(queries, rounds, first, plan[COMPONENTS])
