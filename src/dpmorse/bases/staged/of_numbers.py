"""Components of columns of numbers: from joint histograms in one or two columns, else from rounds."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.bases.staged import joint_histogram, outskirts, profile, shares
from dpmorse.bases.staged.binned_em import fit_cells
from dpmorse.bases.staged.components import (
    RoundsOfGaussians,
    in_units_of,
    measurable_n_components,
    release_components,
    start_at,
)
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.directions import Directions, release_directions
from dpmorse.bases.staged.joint_histogram import HALVINGS, count_cells
from dpmorse.bases.staged.outskirts import release_outskirts
from dpmorse.bases.staged.profile import Labelling
from dpmorse.bases.staged.regime import (
    COMPONENTS,
    CORESET,
    DIRECTIONS,
    HISTOGRAM,
    MOMENTS,
    OUTSKIRTS,
    PROFILE,
    RANGES,
    Regime,
    moments_of,
    n_fitted,
    profile_events,
    stages_of,
    stages_of_rounds,
)
from dpmorse.bases.staged.staged_settings import FEW_COLUMNS, StagedSettings
from dpmorse.bases.staged.units import OUTER, Units, release_units
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport

StagedPlan = Plan[StagedSettings]


@dataclass(frozen=True)
class Found:
    """Components, and what their parameters are in units of."""

    estimates: Estimates
    units: Units
    """Units of all columns, with the ball that records are clipped to."""

    directions: Directions | None = None
    """Where there are many columns, what the components were measured in."""

    def kept(self, at_least: int) -> tuple[GaussianMixture, Labelling]:
        """Return the components that noise does not hide, in the caller's units, and how they label."""
        kept = self.estimates.kept(at_least)
        if self.directions is not None:
            return self.directions.lift(kept), self.directions.labelling(kept, self.units)
        partition = in_units_of(self.units, kept)
        return partition, Labelling.of(partition, self.units.domain)


class _OfNumbers(Regime):
    """Units first, a profile last; how components are found in between is said by subclasses."""

    def release(self, queries: Queries, plan: StagedPlan, rng: np.random.Generator) -> FitResult:
        """Release the units, then estimate the mixture in them, then what its records look like."""
        box, piled = occupied_box(queries, plan.domain, plan[RANGES].step(), plan[RANGES].cost)
        piled &= plan.settings.schema.may_be_cut[:, None]
        units = release_units(queries, plan.domain, box, plan[MOMENTS])
        found = self._find(queries, units, plan, rng)
        partition, labelling = found.kept(at_least=plan.settings.least_components)
        ball, supported = found.units.domain, bool(found.estimates.supported.any())
        if PROFILE not in plan:
            return FitResult(partition, ball, supported)
        bounds = replace(plan.domain, radius=None)
        measured, mixture = profile.release_profile(
            queries, partition, labelling, plan[PROFILE], rng, ball=ball, box=bounds, piled=piled
        )
        return FitResult(mixture, ball, supported, partition, measured)

    @abstractmethod
    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        """Find components; their units have a larger ball where clusters lie far outside of the first."""

    def check_restored(self, plan: StagedPlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse a domain that is no ball, and a profile of another fit."""
        if result.domain.radius is None:
            raise ModelFormatError("the domain must have a radius.")
        if result.profile is None:
            return
        if not isinstance(result.mixture, GaussianMixture):
            raise ModelFormatError("the profile must be one of numbers.")
        bounds = (result.profile.lower, result.profile.upper)
        wanted = np.array([plan.domain.lower, plan.domain.upper])
        if not plan.settings.private_bounds and np.any(bounds != wanted):
            raise ModelFormatError("the profile is not one inside the bounds.")
        if not profile.has_noise_of(result.profile, profile_events(report)):
            raise ModelFormatError("the profile does not state the noise of its releases.")


class InPlane(_OfNumbers):
    """One or two columns: the counts of a grid, to which the mixture is fitted."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return units, a coarse grid for what lies far, a fine one, and the profile."""
        k, d = settings.n_components, settings.n_features
        split = shares.PLANE if settings.profile else shares.PLANE_WITHOUT_PROFILE
        others = [
            Stage(OUTSKIRTS, split.outskirts, outskirts.largest_n_cells(d)),
            Stage(HISTOGRAM, split.histogram, joint_histogram.largest_n_cells(d, k), SumsOf.CELLS),
            Stage(PROFILE, split.profile, profile.n_draws(k, d)),
        ]
        return stages_of(split, d, 0, others)

    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        far = None
        if OUTSKIRTS in plan:
            units, far = release_outskirts(queries, units, plan[OUTSKIRTS])
        k = plan.settings.n_components
        grid = count_cells(queries, units, plan[HISTOGRAM], HALVINGS, k)
        return Found(fit_cells(grid.cells(k, far), units, k, rng), units)


class InRounds(_OfNumbers):
    """More columns: a coreset for the start, then rounds; in many columns along directions only."""

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return units, directions where columns are many, coreset, components and the profile.

        Directions cost a part of the two after them, which they get back where none are needed.
        """
        k, d = settings.n_components, settings.n_features
        split = shares.ROUNDS if settings.profile else shares.ROUNDS_WITHOUT_PROFILE
        split = split.with_directions() if d > FEW_COLUMNS else split
        others = [
            Stage(DIRECTIONS, split.directions, moments_of(d)),
            *stages_of_rounds(split, k, d, n_counted=0, width=d),
            Stage(PROFILE, split.profile, profile.n_draws(k, d)),
        ]
        return stages_of(split, d, 0, others)

    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        settings, stages = plan.settings, _undivided(plan)
        measurable = measurable_n_components(queries, RoundsOfGaussians(units), stages[1])
        if DIRECTIONS in plan and measurable < settings.n_components:
            directions = release_directions(
                queries, units, settings.n_components, plan[DIRECTIONS], plan[COMPONENTS]
            )
            if directions.n_seen:
                return _along_directions(queries, directions, plan, rng)
            stages = plan[CORESET], plan[COMPONENTS]
        k = n_fitted(settings, measurable)
        balls = release_coreset(queries, units, k, stages[0], rng)
        start = spread_centres(balls, units, k, rng, most=settings.n_components)
        first = start_at(start.means, start.variance)
        return Found(
            release_components(queries, RoundsOfGaussians(start.units), first, stages[1]), start.units
        )


def _undivided(plan: StagedPlan) -> tuple[Stage, Stage]:
    """Return the stages of the rounds with what directions would have cost."""
    first, second = plan[CORESET], plan[COMPONENTS]
    if DIRECTIONS not in plan:
        return first, second
    return (
        replace(first, cost=shares.undivided(first.cost)),
        replace(second, cost=shares.undivided(second.cost)),
    )


def _along_directions(
    queries: Queries, directions: Directions, plan: StagedPlan, rng: np.random.Generator
) -> Found:
    """Find components along directions alone."""
    units, few, many = directions.whole, directions.units(directions.n_for_start), directions.units()
    measurable = measurable_n_components(queries, RoundsOfGaussians(many), plan[COMPONENTS])
    k = n_fitted(plan.settings, measurable)
    balls = release_coreset(queries, few, k, plan[CORESET], rng)
    start = spread_centres(balls, few, k, rng, most=plan.settings.n_components)
    if start.units is not few:  # clusters lie apart: the ball of all columns has to hold them too
        units, many = units.widened(OUTER), many.widened(OUTER)
    first, rounds = directions.start(start), RoundsOfGaussians(many)
    return Found(release_components(queries, rounds, first, plan[COMPONENTS]), units, directions)
