"""Components of columns of numbers that may be missing: from histograms in one or two columns, else rounds.

What is found is a mixture of products without categories, which labels records by what they have.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.bases.plan import Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged import outskirts, product_profile, shares
from dpmorse.bases.staged.components import measurable_n_components, release_components, start_at
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.histogram_with_missing import largest_n_cells, release_histograms
from dpmorse.bases.staged.joint_histogram import HALVINGS
from dpmorse.bases.staged.levels import TableUnits
from dpmorse.bases.staged.of_tables import OfTables, TablePlan
from dpmorse.bases.staged.products import Products, RoundsOfProducts
from dpmorse.bases.staged.regime import (
    COMPONENTS,
    CORESET,
    HISTOGRAM,
    OUTSKIRTS,
    PROFILE,
    n_fitted,
    stages_of,
    stages_of_rounds,
)
from dpmorse.bases.staged.staged_settings import StagedSettings
from dpmorse.bases.staged.units import Gaps, Units


class InPlaneWithMissing(OfTables):
    """One or two columns: each record is counted once, in the plane or along the number that it has."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return units, a coarse grid for what lies far, a fine one, and the profile."""
        layout, k = settings.schema.layout, settings.n_components
        split = shares.PLANE_WITH_MISSING if settings.profile else shares.PLANE_WITH_MISSING_WITHOUT_PROFILE
        coarse, fine = largest_n_cells(layout, outskirts.HALVINGS[1]), largest_n_cells(layout, HALVINGS[1], k)
        others = [
            Stage(OUTSKIRTS, split.outskirts, coarse),
            Stage(HISTOGRAM, split.histogram, fine, SumsOf.CELLS),
            Stage(PROFILE, split.profile, product_profile.n_draws(k, layout)),
        ]
        return stages_of(split, layout.n_numbers, layout.n_holes, others)

    def _find(
        self, queries: Queries, table: TableUnits, plan: TablePlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        units, found = release_histograms(queries, _numbers(table), table.layout, plan, rng)
        return replace(table, numbers=units), Products.of_numbers(found)


class InRoundsWithMissing(OfTables):
    """Three columns or more: a start from a coreset, then rounds, in which what is missing adds nothing."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return units, coreset, components, and the profile."""
        layout, k = settings.schema.layout, settings.n_components
        d, n_holes = layout.n_numbers, layout.n_holes
        split = shares.ROUNDS_WITH_MISSING if settings.profile else shares.ROUNDS_WITH_MISSING_WITHOUT_PROFILE
        others = [
            *stages_of_rounds(split, k, d, n_holes, width=d + n_holes),
            Stage(PROFILE, split.profile, product_profile.n_draws(k, layout)),
        ]
        return stages_of(split, d, n_holes, others)

    def _find(
        self, queries: Queries, table: TableUnits, plan: TablePlan, rng: np.random.Generator
    ) -> tuple[TableUnits, Products]:
        settings = plan.settings
        units = replace(_numbers(table), gaps=Gaps(table.layout, table.observed))
        k = n_fitted(settings, measurable_n_components(queries, RoundsOfProducts(table), plan[COMPONENTS]))
        balls = release_coreset(queries, units, k, plan[CORESET], rng)
        start = spread_centres(balls, units, k, rng, most=settings.n_components)
        wide = replace(table, numbers=start.units)
        first = Products.of_numbers(start_at(start.means, start.variance))
        return wide, release_components(queries, RoundsOfProducts(wide), first, plan[COMPONENTS])


def _numbers(table: TableUnits) -> Units:
    if table.numbers is None:
        raise ValueError("the table must have numbers.")
    return table.numbers
